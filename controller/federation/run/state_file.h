// The file that has a cluster's federation state: `DIRECTORY/state`, a line that says what it is, then records
// (changes.h), each with its length and a checksum. Changes are appended and synced; once they are more than what they
// change, the file is written anew beside it and takes its place.
//
// A crash at any byte leaves a file whose last record may be cut off: it is dropped, as nobody was told of it. A file
// that is lost or older than it was is found out by its lives (lineage.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "controller/federation/changes.h"
#include "net/socket.h"

namespace edge::federation {

/// Not thread-safe. Calls block for the disk.
class StateFile {
 public:
  /// Of one record.
  static constexpr std::size_t kMostRecord = std::size_t{64} << 20;

  struct Opened {
    std::unique_ptr<StateFile> file;
    ClusterState state;
    bool is_new = false;  ///< there was none, or one that cannot be read, which is set aside
  };
  /// Reads it, and locks it for this process. kUnavailable: another process has it; otherwise the disk's error.
  static Result<Opened> open(const std::string& directory, const std::string& cluster, Signatures signatures,
                             const Logger& log);

  /// Appends what changed, and syncs it. After an error the file is to be opened again: the state is ahead of it.
  Status save(ClusterState& state);
  std::uint64_t bytes() const { return bytes_; }

 private:
  explicit StateFile(std::string directory) : directory_(std::move(directory)) {}
  Status lock();
  Result<ClusterState> read(const std::string& cluster, const Signatures& signatures, const Logger& log, bool& is_new);
  Status rewrite(ClusterState& state);
  std::string path() const { return directory_ + "/state"; }

  std::string directory_;
  net::Fd lock_;
  net::Fd file_;
  ChangeRecords records_;
  std::uint64_t bytes_ = 0;
  std::uint64_t dumped_ = 0;  ///< bytes of it that were written at once
};

}  // namespace edge::federation
