// A .tar.gz of texts, written beside its place and put there whole.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::edgectl {

class ArchiveWriter {
 public:
  /// The file is its owner's alone. kUnavailable: it cannot be written.
  static Result<std::unique_ptr<ArchiveWriter>> create(const std::string& path);
  /// Removes what was not finished.
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  Status add(const std::string& name, std::string_view bytes);
  Status finish();

 private:
  struct Impl;
  explicit ArchiveWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::edgectl
