// Internal to the files that compile and use schemas; the rest of the API includes schema.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "controller/resource_api/objects/schema.h"

namespace edge::resource_api::objects {

/// Returns the schema of metadata, for server-side apply and pruning; one node shared by all kinds.
const SchemaPtr& metadata_schema();

/// As `validate`, for a value below `path`, without transition rules.
void validate_at(const Schema& schema, const Json& value, std::string_view path, Causes& causes);

/// Returns whether `text` has a format of OpenAPI (`ipv4`, `date-time`, ...); an unknown format accepts every text.
bool has_format(std::string_view text, std::string_view format);

/// Compiles a schema without checking the rules for structural schemas: for built-in kinds.
SchemaPtr compile_trusted(const Json& open_api);

}  // namespace edge::resource_api::objects
