// Parses the body of a write: JSON, or YAML where a client may send it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/resource_api/objects/status.h"
#include "controller/resource_api/requests/request.h"

namespace edge::resource_api {

/// Parses `text` of `content_type` (empty: JSON). 415 for anything but JSON and YAML (protobuf). Duplicate keys are
/// added to `duplicates`, worded for fieldValidation.
objects::Answer<objects::Json> read_body(std::string_view content_type, const std::string& text,
                                         std::vector<std::string>& duplicates);

/// Parses an object of the operation's kind: apiVersion and kind must match, or are filled in, metadata is an object,
/// name and namespace are those of the path. 400 else.
objects::Answer<objects::Json> read_object_body(const Operation& op, const ApiRequest& request,
                                                std::vector<std::string>& duplicates);
/// Checks the same for a parsed object, the result of a patch.
std::optional<objects::StatusError> check_object(const Operation& op, objects::Json& object);

/// Returns object.metadata.<field> as a string; empty when there is none.
std::string metadata_text(const objects::Json& object, const char* field);

}  // namespace edge::resource_api
