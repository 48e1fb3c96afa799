#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

constexpr std::string_view kService = "Service";

bool older(const model::BackendTlsPolicy* a, const model::BackendTlsPolicy* b) {
  return std::tie(a->metadata.created, a->metadata.name, a->metadata.digest) <
         std::tie(b->metadata.created, b->metadata.name, b->metadata.digest);
}

/// nullopt: the authority is there. Else the reason of ResolvedRefs.
std::optional<std::string_view> fault_of(const model::ObjectRef& authority, std::string_view name_space,
                                         const model::ResourceSet& resources) {
  const auto names = [&](const model::Metadata& metadata) {
    return metadata.name_space == name_space && metadata.name == authority.to.name.value;
  };
  if (!authority.group.empty()) return reason::kInvalidKind;
  if (authority.kind == "ConfigMap") {
    const bool found =
        std::any_of(resources.config_maps.begin(), resources.config_maps.end(), [&](const model::ConfigMap& map) {
          return names(map.metadata) && map.authorities != nullptr && has_pem(*map.authorities, kAuthorityNeed.pem);
        });
    return found ? std::nullopt : std::optional(reason::kInvalidCaRef);
  }
  if (authority.kind == "Secret") {
    const bool found =
        std::any_of(resources.secrets.begin(), resources.secrets.end(), [&](const model::Secret& secret) {
          return names(secret.metadata) &&
                 std::any_of(secret.entries.begin(), secret.entries.end(),
                             [](const model::SecretEntry& entry) { return entry.key == kAuthorityKey; });
        });
    return found ? std::nullopt : std::optional(reason::kInvalidCaRef);
  }
  return reason::kInvalidKind;
}

void judge_authorities(const model::BackendTlsPolicy& policy, const model::ResourceSet& resources,
                       std::vector<Condition>& conditions) {
  std::size_t usable = policy.well_known ? 1 : 0;
  for (const model::ObjectRef& authority : policy.authorities) {
    const auto fault = fault_of(authority, policy.metadata.name_space, resources);
    if (!fault) {
      ++usable;
      continue;
    }
    fail(conditions, condition::kResolvedRefs, *fault,
         "the " + authority.kind + " `" + authority.to.name.value + "` cannot be used");
  }
  if (usable == 0) {
    fail(conditions, condition::kAccepted, reason::kNoValidAuthority, "no authority can be used");
  }
}

}  // namespace

void backend_tls_statuses(const model::ResourceSet& resources, std::vector<ResourceStatus>& statuses) {
  std::vector<const model::BackendTlsPolicy*> by_age;
  for (const model::BackendTlsPolicy& policy : resources.backend_tls_policies) by_age.push_back(&policy);
  std::sort(by_age.begin(), by_age.end(), older);
  // Namespace, Service and port (`sectionName`) -> who holds it.
  std::map<std::tuple<std::string, std::string, std::string>, const model::BackendTlsPolicy*> holders;
  for (const model::BackendTlsPolicy* policy : by_age) {
    ResourceStatus status{.kind = policy->metadata.kind,
                          .name_space = policy->metadata.name_space,
                          .name = policy->metadata.name,
                          .observed_generation = policy->metadata.generation};
    for (const model::BackendTlsTarget& target : policy->targets) {
      if (!target.ref.group.empty() || target.ref.kind != kService) continue;
      const auto [holder, first] = holders.try_emplace({policy->metadata.name_space, target.ref.to.name.value,
                                                        target.section_name ? target.section_name->value : ""},
                                                       policy);
      if (first || holder->second == policy) continue;
      fail(status.conditions, condition::kAccepted, reason::kConflicted,
           holder->second->metadata.text() + " holds the Service `" + target.ref.to.name.value + "`");
    }
    judge_authorities(*policy, resources, status.conditions);
    statuses.push_back(std::move(status));
  }
}

}  // namespace edge::compiler::link
