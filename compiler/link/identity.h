// The identity of a resource in a LinkedConfig, and its order (rule D1's last keys).
#pragma once

#include <cstdint>
#include <string>

#include "base/resource_id.h"
#include "base/source.h"

namespace edge::compiler {

struct Identity {
  std::string kind;
  std::string name_space;
  std::string name;
  /// metadata.creationTimestamp in seconds since the epoch; 0 when absent.
  std::int64_t created = 0;
  Span span;  ///< of metadata.name

  std::string text() const { return resource_text(kind, name_space, name); }
};

}  // namespace edge::compiler
