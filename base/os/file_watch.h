// Tells when files may have changed: editors that write in place, editors that rename, and ConfigMap volumes, where the
// symbolic link `..data` is swapped.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace edge {

/// One waiting thread; `stop` and `touch` from any other.
class FileWatch {
 public:
  static Result<std::unique_ptr<FileWatch>> create();
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  /// Watches files (through the directories that hold them, links followed) and directories with everything below, as
  /// they are now. Call it before each reading, so that a change after it is never missed. At most 10,000 directories.
  /// The Error names the first path that cannot be watched; the others are. Below a directory, one that may not be
  /// read is passed over.
  Status watch(const std::vector<std::string>& paths);

  enum class Event { kChanged, kStopped };
  /// Blocks until something watched changed and nothing more did for `quiet`, but no longer than ten times that.
  /// A change that came before `stop` is told first; the next call then tells the stop.
  Event wait(std::chrono::milliseconds quiet);
  void stop();
  /// Tells a change though no file changed. From any thread.
  void touch();

 private:
  struct Impl;
  explicit FileWatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge
