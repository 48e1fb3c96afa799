// Common to all resources: name and age, and the form of decoded fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/resource_id.h"
#include "base/source.h"

namespace edge::compiler::model {

/// An optional field.
template <typename T>
using Maybe = std::optional<Located<T>>;
/// A list of texts.
using Strings = std::vector<Located<std::string>>;

struct Metadata {
  std::string kind;
  std::string name_space;  ///< with its cluster, if it is another's (base/resource_id.h)
  std::string name;
  /// Seconds since the epoch; 0 when absent.
  std::int64_t created = 0;
  /// metadata.generation; 0 when absent.
  std::int64_t generation = 0;
  /// Of the resource's content, independent of its formatting and position: distinguishes otherwise equal resources.
  std::uint64_t digest = 0;
  /// Of metadata.name.
  Span span{};

  std::string text() const { return resource_text(kind, name_space, name); }
};

/// A reference to another resource, as written.
struct Reference {
  Located<std::string> name;
  /// Empty: the referrer's own.
  std::string name_space{};
};

/// Returns whether both refer to the same resource, wherever they were written.
inline bool same(const Reference& a, const Reference& b) {
  return a.name.value == b.name.value && a.name_space == b.name_space;
}

struct NameValue {
  Located<std::string> name;
  Located<std::string> value;
};

}  // namespace edge::compiler::model
