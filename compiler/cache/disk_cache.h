// What costs time to make (Hyperscan databases, native objects), kept on disk by the hash of what it is made from, so
// that a compiler that starts anew does not make it again. Part of `compile` (docs/decisions/0022).
//
// The directory has to be ours alone: what is found there becomes code that is run. An entry is believed when it is a
// plain file of ours, names the key it was asked for, and its content has the hash it was written with; anything else
// is removed. Several processes may share a directory: entries come by rename and are never changed.
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

  /// Makes the directory, and those above it, with mode 0700. kPermissionDenied when it belongs to another user, or
  /// others may enter it. `max_bytes` bounds the sum of all entries; those unused for longest go first.
  static Result<DiskCache> open(const std::string& directory, std::uint64_t max_bytes = kDefaultBytes);
  DiskCache(DiskCache&& other) noexcept;
  DiskCache& operator=(DiskCache&& other) noexcept;
  ~DiskCache();

  std::optional<std::vector<std::byte>> find(const program::Hash& key);
  /// Failures are silent: what was not kept is made again.
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
