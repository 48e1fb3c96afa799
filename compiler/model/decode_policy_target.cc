// The targets of a ProxyPolicy: `targetRef`, or the entries of `targetRefs`.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/model/decode_kinds.h"

namespace edge::compiler::model {
namespace {

constexpr std::string_view kNetworkingGroup = "networking.k8s.io";

struct TargetKind {
  std::string_view kind;
  std::string_view group;
  PolicyTarget target;
};
constexpr TargetKind kTargetKinds[] = {
    {"ProxyRoute", schemas::kApiGroup, PolicyTarget::kRoute},
    {"ProxyGateway", schemas::kApiGroup, PolicyTarget::kGateway},
    {"HTTPRoute", kGatewayApiGroup, PolicyTarget::kRoute},
    {"GRPCRoute", kGatewayApiGroup, PolicyTarget::kRoute},
    {"TLSRoute", kGatewayApiGroup, PolicyTarget::kRoute},
    {"TCPRoute", kGatewayApiGroup, PolicyTarget::kRoute},
    {"UDPRoute", kGatewayApiGroup, PolicyTarget::kRoute},
    {"Gateway", kGatewayApiGroup, PolicyTarget::kGateway},
    {"Ingress", kNetworkingGroup, PolicyTarget::kRoute},
};

const TargetKind* find_target_kind(std::string_view kind) {
  const auto* const found = std::ranges::find(kTargetKinds, kind, &TargetKind::kind);
  return found == std::end(kTargetKinds) ? nullptr : found;
}

/// Sets what a target is from its kind. One of unknown kind may be any of its name.
void set_kind(ProxyPolicy& policy, std::string_view kind) {
  const TargetKind* const known = find_target_kind(kind);
  policy.target_kind = known == nullptr ? PolicyTarget::kUnknown : known->target;
  if (known != nullptr && known->group != schemas::kApiGroup) policy.target_resource = kind;
}

std::string field_of(std::size_t number) { return "spec.targetRefs[" + std::to_string(number) + "]"; }

/// The copy of a policy for the next target.
ProxyPolicy& add_target(const ProxyPolicy& policy, std::vector<ProxyPolicy>& on_targets) {
  ProxyPolicy& made = on_targets.emplace_back(policy);
  made.target_number = static_cast<std::uint32_t>(on_targets.size() - 1);
  if (made.target_number > 0) made.metadata.name += ":" + std::to_string(made.target_number);
  return made;
}

void decode_target(const Fields& target, std::string field, Report& report, ProxyPolicy& policy) {
  const Located<std::string> kind = target.needed_text("kind");
  policy.target = target.reference();
  policy.section = target.text("sectionName");
  policy.target_field = std::move(field);
  set_kind(policy, kind.value);
  const TargetKind* const known = find_target_kind(kind.value);
  const auto group = target.text("group");
  if (known != nullptr && group && group->value != known->group) {
    report.fault(DiagnosticCode::kInvalidValue, group->span, policy.target_field + ".group",
                 "no " + kind.value + " is in the group " + in_quotes(group->value),
                 "write `" + std::string(known->group) + "`, or leave it out");
  }
  if (policy.section && kind.value == "Ingress") {
    report.fault(DiagnosticCode::kExclusiveFields, policy.section->span, policy.target_field + ".sectionName",
                 "rules of an Ingress have no names", "leave it out, and the policy applies to the whole Ingress");
  }
}

/// A name, if it is one: what is unreadable names nothing.
Maybe<std::string> name_in(yaml::Node map, std::string_view key) {
  const yaml::Node node = given(map, key);
  if (!node || !node.is_scalar()) return std::nullopt;
  return Located<std::string>{std::string(node.text()), node.span()};
}

void salvage_target(yaml::Node target, std::string field, const ProxyPolicy& policy,
                    std::vector<ProxyPolicy>& on_targets) {
  if (!target || !target.is_map()) return;
  const auto kind = name_in(target, "kind");
  const auto name = name_in(target, "name");
  if (!kind || !name) return;
  ProxyPolicy& made = add_target(policy, on_targets);
  set_kind(made, kind->value);
  made.target.name = *name;
  if (const auto name_space = name_in(target, "namespace")) made.target.name_space = name_space->value;
  made.section = name_in(target, "sectionName");
  made.target_field = std::move(field);
}

}  // namespace

std::string origin_text(const std::string& made) {
  const std::size_t name = made.find('/');  // a cluster may stand before
  return made.substr(0, made.find_first_of(":@", name == std::string::npos ? 0 : name));
}

std::string filter_policy_name(const std::string& policy, const Metadata& route, std::uint32_t rule) {
  return policy + "@" + route.kind + ":" + route.name + ":" + std::to_string(rule);
}

std::optional<std::string> route_of_filter_policy(const std::string& policy) {
  const std::size_t space = policy.find(' ');
  const std::size_t slash = policy.rfind('/');
  const std::size_t route = policy.find('@');
  if (space == std::string::npos || slash == std::string::npos || route == std::string::npos) return std::nullopt;
  // Host names, which stand there for Ingresses, have no colon.
  const std::size_t kind = policy.find(':', route);
  const std::size_t rule = policy.rfind(':');
  if (kind == std::string::npos || rule <= kind) return std::nullopt;
  return policy.substr(route + 1, kind - route - 1) + policy.substr(space, slash + 1 - space) +
         policy.substr(kind + 1, rule - kind - 1);
}

std::string ProxyPolicy::text() const { return origin_text(metadata.text()); }

std::vector<ProxyPolicy> on_targets(const Fields& spec, const ProxyPolicy& policy, Report& report) {
  std::vector<ProxyPolicy> made;
  const Fields one = spec.object("targetRef");
  const yaml::Node several = spec.node("targetRefs");
  if (one && several) {
    report.fault(DiagnosticCode::kExclusiveFields, several.key_span(), "spec.targetRefs",
                 "`targetRef` and `targetRefs` exclude each other", "write all targets in `targetRefs`");
  } else if (!one && !several) {
    add_target(policy, made).target_kind = PolicyTarget::kNone;
  }
  // Of both, each holds: the policy is at fault, and denies.
  if (one) decode_target(one, "spec.targetRef", report, add_target(policy, made));
  std::size_t number = 0;
  spec.entries("targetRefs", [&](const Fields& target) {
    decode_target(target, field_of(number++), report, add_target(policy, made));
  });
  return made;
}

std::vector<ProxyPolicy> salvaged_on_targets(yaml::Node spec, const ProxyPolicy& policy) {
  std::vector<ProxyPolicy> made;
  salvage_target(given(spec, "targetRef"), "spec.targetRef", policy, made);
  const yaml::Node several = given(spec, "targetRefs");
  // Rules whose filters name it are not to go without it.
  if (!several && !given(spec, "targetRef")) add_target(policy, made).target_kind = PolicyTarget::kNone;
  if (!several || several.is_scalar() || several.is_map()) return made;
  std::size_t number = 0;
  for (const yaml::Node target : several) {
    if (made.size() == kMostPolicyTargets) break;
    salvage_target(target, field_of(number++), policy, made);
  }
  return made;
}

}  // namespace edge::compiler::model
