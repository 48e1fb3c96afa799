// Reports possible changes of files: by editors that write in place or rename, and in ConfigMap volumes, where the
// symbolic link `..data` is swapped.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace edge {

/// One thread waits; `stop` and `touch` may be called from any other.
class FileWatch {
 public:
  static Result<std::unique_ptr<FileWatch>> create();
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  /// Watches files (through their directories, links resolved) and directories with everything below, as they are now;
  /// of links below only those to files are followed.
  /// To be called before each reading, so that later changes are not missed. At most 10,000 directories. The Error
  /// names the first path that cannot be watched; the others are. Unreadable directories below a watched one are
  /// skipped.
  Status watch(const std::vector<std::string>& paths);

  enum class Event { kChanged, kStopped };
  /// Blocks until something watched changed and nothing more did for `quiet`, but for ten times that at most. A change
  /// before `stop` is reported first, and the stop by the next call.
  Event wait(std::chrono::milliseconds quiet);
  void stop();
  /// Reports a change although no file changed. Any thread.
  void touch();

 private:
  struct Impl;
  explicit FileWatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge
