// Bodies in Kubernetes' protobuf form, which newer clients send of built-in kinds, as JSON. Answers are JSON always:
// clients take it everywhere.
#pragma once

#include <string>
#include <string_view>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::http {

inline constexpr std::string_view kKubernetesProtobuf = "application/vnd.kubernetes.protobuf";

/// `body`: from outside. 400 when it is malformed, 415 for a kind that is not known in this form.
objects::Answer<std::string> json_of_protobuf(std::string_view body);

}  // namespace edge::resource_api::http
