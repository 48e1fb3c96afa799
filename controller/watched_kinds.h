// What is said of the kinds that the cluster is watched for, and of their objects by name alone.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/labels.h"
#include "base/resource_id.h"
#include "controller/kube/discovery.h"
#include "schemas/schema.h"

namespace edge::controller {

/// `key`: `namespace/name`, or `name` of an object without a namespace.
ResourceId key_of(const std::string& kind, const std::string& key);
/// A version of the embedded API as a number; 0: it is none.
std::uint64_t number_of(const std::string& version);
/// Those of metadata.labels, or the like; what is no label is left out.
Labels labels_in(const nlohmann::json& object);
/// Whether nothing sound can be made without it: the kinds that every configuration is made of, and those of a group
/// that is there but does not answer. Without its gateways, a cluster's program would close every listener.
bool is_needed(const schemas::Kind& kind, const kube::DiscoveryReply& reply);

}  // namespace edge::controller
