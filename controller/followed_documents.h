// The texts of files as documents of a Workspace. A document is named by its file and content, so that one that only
// moved within the file stays the same document.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/source.h"
#include "compiler/workspace.h"

namespace edge::controller {

/// By file name.
using Texts = std::map<std::string, std::string>;

/// Not thread-safe.
class FollowedDocuments {
 public:
  /// Returns the edits that lead from the texts of the last call to these.
  std::vector<compiler::DocumentEdit> become(const Texts& texts);
  /// Returns the position of a document's span in the texts of the last call, numbered as in a SourceMap to which they
  /// were added in order.
  Span position(const std::string& document, Span span) const;

 private:
  struct FileOffset {
    std::uint32_t file = 0;
    std::uint32_t begin = 0;
  };
  std::unordered_map<std::string, FileOffset> places_;
};

}  // namespace edge::controller
