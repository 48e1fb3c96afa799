// What the files that make and use schemas share; the rest of the API includes schema.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "controller/resource_api/objects/schema.h"

namespace edge::resource_api::objects {

/// metadata of every object, as server-side apply and pruning need it. A node of its own, shared by all kinds.
const SchemaPtr& metadata_schema();

/// As validate, of a value below `path`. No transition rules.
void validate_at(const Schema& schema, const Json& value, std::string_view path, Causes& causes);

/// Whether `text` has a format that OpenAPI names (`ipv4`, `date-time`, ...); one that is not known takes every text.
bool has_format(std::string_view text, std::string_view format);

/// A schema that is not held to the rules of structural schemas: of built-in kinds, which come from our own tables.
SchemaPtr compile_trusted(const Json& open_api);

}  // namespace edge::resource_api::objects
