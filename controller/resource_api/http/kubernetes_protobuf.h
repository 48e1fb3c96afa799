// Converts bodies in Kubernetes' protobuf form, which newer clients send for built-in kinds, to JSON. Responses are
// always JSON, which all clients accept.
#pragma once

#include <string>
#include <string_view>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::http {

inline constexpr std::string_view kKubernetesProtobuf = "application/vnd.kubernetes.protobuf";

/// Converts `body`, which is untrusted. 400 when it is malformed, 415 for a kind that is not supported in this form.
objects::Answer<std::string> json_of_protobuf(std::string_view body);

}  // namespace edge::resource_api::http
