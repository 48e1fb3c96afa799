// CustomResourceDefinitions as what they bring about: types in the registry, and the status that says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/resource_api/objects/status.h"
#include "controller/resource_api/registry.h"

namespace edge::resource_api {

/// Held by every CRD until its objects are gone.
inline constexpr std::string_view kCrdFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/// `<group>/<plural>`.
std::string crd_collection(const objects::Json& crd);

/// Sets status: acceptedNames, storedVersions, conditions NamesAccepted, Established and Terminating. Names conflict
/// with those of other resources of the group. Precondition: a CRD without faults.
void accept_crd_names(objects::Json& crd, const Registry& registry, const std::string& time);

/// Its names are accepted: its kind is there.
bool is_established(const objects::Json& crd);

/// The served versions of a CRD whose names are accepted; none of another.
std::vector<ResourceTypePtr> crd_types(const objects::Json& crd);

}  // namespace edge::resource_api
