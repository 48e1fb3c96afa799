// status.ancestors of ProxyPolicies: what became of each target (GEP-713).
#include <algorithm>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "compiler/link/dump/conditions_text.h"
#include "controller/status/condition_json.h"
#include "controller/status/desired_status.h"
#include "schemas/schema.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;

ResourceId target_of(const ClusterObject& policy, const Json& target) {
  const std::string asked = text_in(target, "namespace");
  const std::string space = with_cluster(policy.key.cluster, asked.empty() ? policy.key.name_space : asked);
  return ResourceId::of(text_in(target, "kind"), space, text_in(target, "name"));
}

std::string group_of(std::string_view kind) {
  const schemas::Kind* known = schemas::find_kind(kind);
  if (known == nullptr) return {};
  const std::string_view version = known->api_version;
  return std::string(version.substr(0, version.find('/')));
}

/// The target as a reference that needs no policy beside it to be understood.
Json reference_to(const ResourceId& target, const Json& written) {
  Json reference = {
      {"group", group_of(target.kind)}, {"kind", target.kind}, {"namespace", target.name_space}, {"name", target.name}};
  const std::string section = text_in(written, "sectionName");
  if (!section.empty()) reference["sectionName"] = section;
  return reference;
}

}  // namespace

std::vector<ResourceId> targets_of(const ClusterObject& policy) {
  std::vector<ResourceId> targets;
  if (policy.target_refs.empty()) return targets;
  for (const Json& target : parse_json(policy.target_refs)) {
    if (target.is_object()) targets.push_back(target_of(policy, target));
  }
  return targets;
}

bool StatusBuilder::is_target_of_others(const ResourceId& target) {
  const ClusterObject* object = find_(target);
  if (object == nullptr) return false;
  if (target.kind == "Gateway" || target.kind == "ProxyGateway") {
    // Of every one of ours there is a status.
    return compiler::find_status(statuses_, target.kind, target.qualified_namespace(), target.name) == nullptr;
  }
  if (target.kind == "Ingress") return gateways_of(*object) == nullptr;
  return !has_parent_of_ours(*object);
}

std::string StatusBuilder::policy_ancestors(const ClusterObject& policy, const compiler::ResourceStatus* stored) {
  Json ancestors = Json::array();
  const Json targets = policy.target_refs.empty() ? Json::array() : parse_json(policy.target_refs);
  for (std::size_t i = 0; i < targets.size() && ancestors.size() < kMaxAncestors; ++i) {
    if (!targets[i].is_object()) continue;
    const ResourceId target = target_of(policy, targets[i]);
    if (target.kind.empty() || target.name.empty() || is_target_of_others(target)) continue;
    const compiler::ParentStatus* own = nullptr;
    if (stored != nullptr) {
      const auto found = std::ranges::find(stored->parents, i, &compiler::ParentStatus::parent_ref);
      if (found != stored->parents.end()) own = &*found;
    }
    ancestors.push_back(
        {{"ancestorRef", reference_to(target, targets[i])},
         {"controllerName", options_.controller_class},
         {"conditions", conditions_json(compiler::link::parent_conditions(stored, own), policy.generation)}});
  }
  return json_line(ancestors);
}

}  // namespace edge::controller
