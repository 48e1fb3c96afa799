// Texts of files as documents of a Workspace. A document is named by its file and what it says, so that one which only
// moved, as those above it grew, is the same document in another place.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/source.h"
#include "compiler/workspace.h"

namespace edge::controller {

/// By the name of the file.
using Texts = std::map<std::string, std::string>;

/// Not thread-safe.
class FollowedDocuments {
 public:
  /// What leads from the texts of the last call to these.
  std::vector<compiler::DocumentEdit> become(const Texts& texts);
  /// Where a span of a document stands in the texts of the last call, their numbers being those of a SourceMap to
  /// which they were added in order.
  Span position(const std::string& document, Span span) const;

 private:
  struct FileOffset {
    std::uint32_t file = 0;
    std::uint32_t begin = 0;
  };
  std::unordered_map<std::string, FileOffset> places_;
};

}  // namespace edge::controller
