// Applies CustomResourceDefinitions: types in the registry, and their status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/resource_api/objects/status.h"
#include "controller/resource_api/registry.h"

namespace edge::resource_api {

/// On every CRD until its objects are deleted.
inline constexpr std::string_view kCrdFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/// `<group>/<plural>`.
std::string crd_collection(const objects::Json& crd);

/// Sets the status: acceptedNames, storedVersions, conditions NamesAccepted, Established and Terminating. Names may
/// conflict with those of other resources of the group. Precondition: a valid CRD.
void accept_crd_names(objects::Json& crd, const Registry& registry, const std::string& time);

/// Returns whether its names are accepted, so that its kind is served.
bool is_established(const objects::Json& crd);

/// Returns the served versions of a CRD whose names are accepted; none of another.
std::vector<ResourceTypePtr> crd_types(const objects::Json& crd);

}  // namespace edge::resource_api
