// Discovery: the lists of groups and resources, plain and aggregated. Pure functions of the registry.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "controller/resource_api/registry.h"

namespace edge::resource_api::http {

using Json = nlohmann::json;

/// Returns `/api`: versions of the core group.
Json core_versions(std::string_view server);
/// Returns `/apis`.
Json group_list(const Registry& registry);
/// Returns `/apis/<group>`; nullopt: there is none.
std::optional<Json> one_group(const Registry& registry, std::string_view group);
/// Returns `/api/v1`, `/apis/<group>/<version>`; nullopt: there is none.
std::optional<Json> resource_list(const Registry& registry, std::string_view group, std::string_view version);

/// Returns apidiscovery.k8s.io: all of `/api` or of `/apis` in one document. `version` is v2 or v2beta1.
Json aggregated(const Registry& registry, bool core, std::string_view version);

}  // namespace edge::resource_api::http
