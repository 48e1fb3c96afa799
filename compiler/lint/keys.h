// Keys of resources for lints that compare several: kind, namespace and name.
#pragma once

#include <string>
#include <string_view>
#include <tuple>

#include "base/resource_id.h"
#include "compiler/model/metadata.h"
#include "compiler/model/policy.h"

namespace edge::compiler::lint {

inline std::string key_of(const model::Metadata& metadata) { return metadata.text(); }

/// The order by age and name, of doubles by content. Which of several resources a finding names goes by it, not by the
/// order in which they were read or edited.
inline bool is_before(const model::Metadata& a, const model::Metadata& b) {
  return std::tie(a.created, a.name_space, a.name, a.kind, a.digest) <
         std::tie(b.created, b.name_space, b.name, b.kind, b.digest);
}

/// Returns a reference's target, by default in the namespace of `from`.
inline std::string name_of(const model::Reference& reference, const model::Metadata& from) {
  return resource_path(reference.name_space.empty() ? from.name_space : reference.name_space, reference.name.value);
}
inline std::string key_of(std::string_view kind, const model::Reference& reference, const model::Metadata& from) {
  return std::string(kind) + " " + name_of(reference, from);
}

/// Returns the target of a policy for a route or a gateway.
inline std::string key_of_target(const model::ProxyPolicy& policy) {
  const bool route = policy.target_kind == model::PolicyTarget::kRoute;
  const std::string_view own = route ? "ProxyRoute" : "ProxyGateway";
  return key_of(policy.target_resource.empty() ? own : policy.target_resource, policy.target, policy.metadata);
}

}  // namespace edge::compiler::lint
