// Checks strings against formats.
#pragma once

#include <string_view>

#include "schemas/schema.h"

namespace edge::compiler::model {

bool has_format(std::string_view text, schemas::Format format);

/// RFC 9110 §5.6.2.
bool is_token(std::string_view text);

/// The type of a plain scalar (YAML 1.2 core schema §10.3.2).
enum class PlainType { kString, kInteger, kFloat, kBoolean };
PlainType plain_type(std::string_view text);

}  // namespace edge::compiler::model
