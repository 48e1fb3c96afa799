// Describes a kind's fields: for `edgectl schema`, the reference pages and completion.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/schema.h"

namespace edge::schemas {

/// `list of strings`, `one of Exact, PathPrefix, RegularExpression`, `integer from 1 to 65535`.
std::string type_text(const Field& field);
/// Returns `required`, `default 5s`, `or as spec.timeout.connect`, `with type OIDC`, joined by commas; empty: none.
std::string remarks_text(const Field& field);

/// Returns the fields below a field, including the status; nullptr when it has none.
const Object* object_of(const Kind& kind, const Field& field);

/// Finds the field at `path` (`spec.rules.matches`, with or without list indices). nullptr: there is none.
const Field* find_field(const Kind& kind, std::string_view path);

/// Returns paths that begin with `typed`, one step longer: completions.
std::vector<std::string> next_paths(const Kind& kind, std::string_view typed);

/// Returns the output of `edgectl schema` for a kind, or for its field at `path`. nullopt: there is no such field.
std::optional<std::string> describe(const Kind& kind, std::string_view path);

}  // namespace edge::schemas
