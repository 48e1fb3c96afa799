// What every resource has: its name and age, and how decoded fields are held.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/resource_id.h"
#include "base/source.h"

namespace edge::compiler::model {

/// A field that may be left out.
template <typename T>
using Maybe = std::optional<Located<T>>;

struct Metadata {
  std::string kind;
  std::string name_space;  ///< with its cluster, where it is another's (base/resource_id.h)
  std::string name;
  /// Seconds since the epoch; 0 when not given.
  std::int64_t created = 0;
  /// metadata.generation; 0 when not given.
  std::int64_t generation = 0;
  /// Of the resource's whole content, less how and where it is written: tells apart what else is equal.
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

/// Whether both name the same resource, wherever they were written.
inline bool same(const Reference& a, const Reference& b) {
  return a.name.value == b.name.value && a.name_space == b.name_space;
}

struct NameValue {
  Located<std::string> name;
  Located<std::string> value;
};

}  // namespace edge::compiler::model
