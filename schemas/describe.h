// A kind's fields in words: for `edgectl schema`, for the reference pages and for completion.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/schema.h"

namespace edge::schemas {

/// `list of strings`, `one of Exact, PathPrefix, RegularExpression`, `integer from 1 to 65535`.
std::string type_text(const Field& field);
/// `required`, `default 5s`, `or as spec.timeout.connect`, `with type OIDC`, joined by commas; empty: none.
std::string remarks_text(const Field& field);

/// The fields below a field, status included; nullptr when it has none.
const Object* object_of(const Kind& kind, const Field& field);

/// The field at `path` (`spec.rules.matches`, list indices left out or written). nullptr: there is none.
const Field* find_field(const Kind& kind, std::string_view path);

/// Paths that begin with `typed`, one step further than it: what completion offers.
std::vector<std::string> next_paths(const Kind& kind, std::string_view typed);

/// What `edgectl schema` prints for a kind, or for the field at `path` of it. nullopt: there is no such field.
std::optional<std::string> describe(const Kind& kind, std::string_view path);

}  // namespace edge::schemas
