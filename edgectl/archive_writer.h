// Writes a .tar.gz of texts to a temporary file, and renames it when complete.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::edgectl {

class ArchiveWriter {
 public:
  /// Readable only by the owner. kUnavailable: it cannot be written.
  static Result<std::unique_ptr<ArchiveWriter>> create(const std::string& path);
  /// Removes an unfinished file.
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
