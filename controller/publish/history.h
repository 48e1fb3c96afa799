// The last programs with their causes, stored in a directory for `edgectl history` and `edgectl rollback`.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "controller/distribute/agents/agent_state.h"
#include "controller/publish/cause.h"
#include "program/values/endpoints.h"

namespace edge::controller {

/// What a rollback restores. Secrets are not stored: deleted or replaced ones stay so.
struct PastProgram {
  std::shared_ptr<const std::vector<std::byte>> program;
  program::EndpointSet endpoints;
};

/// Thread-safe.
class History {
 public:
  static constexpr std::size_t kKept = 20;

  /// Reads the directory. Omits entries whose files are missing. An unreadable index is set aside and rebuilt from the
  /// programs; `log` gets a warning.
  static Result<std::unique_ptr<History>> open(std::string directory, std::size_t kept = kKept,
                                               const Logger& log = Logger());

  /// Adds a program as the newest; one that is in the history moves to the front. Removes the oldest, unless it is
  /// pinned.
  Status add(const std::string& hash, const PastProgram& program, const Cause& cause, WallTime at);
  /// Adds an entry of another history as the newest of this one.
  Status add(HistoryEntry entry, const PastProgram& program);
  /// Newest first.
  std::vector<HistoryEntry> list() const;
  /// Finds a program. kNotFound. `hash`: or its beginning of at least eight digits, if unique.
  Result<PastProgram> find(const std::string& hash) const;

  /// Returns the entry of a program. kNotFound.
  Result<HistoryEntry> entry(const std::string& hash) const;

  /// Returns the pinned program; empty: none. Stored across restarts.
  std::string pinned() const;
  /// Pins a program. \returns its full hash. kNotFound.
  Result<std::string> pin(const std::string& hash);
  Status release();

 private:
  History(std::string directory, std::size_t kept) : directory_(std::move(directory)), kept_(kept) {}
  Status read(const Logger& log);
  /// Rebuilds a missing index from the stored programs, ordered by time.
  void recover();
  void sweep() const;
  Status write_index() const;
  Status write_pin(std::string pinned);
  void drop_old();
  Result<std::string> whole(const std::string& hash) const;
  std::string path(const std::string& hash, const char* suffix) const { return directory_ + "/" + hash + suffix; }

  std::string directory_;
  std::size_t kept_;
  mutable std::mutex mutex_;
  std::vector<HistoryEntry> entries_;  ///< newest first
  std::string pinned_;
};

}  // namespace edge::controller
