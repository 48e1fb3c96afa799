// Caches expensive results (Hyperscan databases, native objects) on disk by the hash of their inputs, so that a
// restarted compiler does not rebuild them. Part of `compile` (docs/decisions/0022).
//
// The directory must be accessible only to this user: its contents are executed. An entry is accepted when it is a
// regular file of this user, has the requested key, and its content has the hash it was written with; anything else is
// removed. Several processes may share a directory: entries are added by rename and never changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/read.h"

namespace edge::compiler {

/// Not thread-safe.
class DiskCache {
 public:
  static constexpr std::uint64_t kDefaultBytes = std::uint64_t{256} << 20;

  /// Creates the directory, and its parents, with mode 0700. kPermissionDenied when it belongs to another user, or
  /// others have access. `max_bytes` limits the sum of all entries; the least recently used are removed.
  static Result<DiskCache> open(const std::string& directory, std::uint64_t max_bytes = kDefaultBytes);
  DiskCache(DiskCache&& other) noexcept;
  DiskCache& operator=(DiskCache&& other) noexcept;
  ~DiskCache();

  std::optional<std::vector<std::byte>> find(const program::Hash& key);
  /// Failures are silent: the result is made again next time.
  void put(const program::Hash& key, std::span<const std::byte> value);

 private:
  DiskCache(int directory, std::uint64_t max_bytes);
  std::optional<std::vector<std::byte>> read(int file, const program::Hash& key) const;
  bool write(const std::string& name, const program::Hash& key, std::span<const std::byte> value) const;
  void make_room();

  int directory_ = -1;
  std::uint64_t max_bytes_ = 0;
  std::uint64_t used_ = 0;  ///< as far as this process knows
  std::uint64_t written_ = 0;
};

}  // namespace edge::compiler
