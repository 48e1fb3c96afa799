// Helpers for decoded fields, shared by all of linking.
#pragma once

#include <string>
#include <vector>

#include "base/text/ascii.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::link {

/// Returns the field's value, or `fallback` without one.
template <typename T>
T value_or(const model::Maybe<T>& field, T fallback) {
  return field ? field->value : fallback;
}

inline std::vector<std::string> lower_all(const std::vector<Located<std::string>>& names) {
  std::vector<std::string> out;
  out.reserve(names.size());
  for (const Located<std::string>& name : names) out.push_back(ascii_lower(name.value));
  return out;
}

inline std::vector<std::string> values_of(const std::vector<Located<std::string>>& list) {
  std::vector<std::string> out;
  out.reserve(list.size());
  for (const Located<std::string>& entry : list) out.push_back(entry.value);
  return out;
}

}  // namespace edge::compiler::link
