// A kNative section, opened: machine code of a shard of hosts.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "program/evaluate/abi.h"

namespace edge::runtime {

/// Runs the code of whoever made the bytes: open what a signature vouches for alone.
class NativeLibrary {
 public:
  /// kDataLoss when the bytes are no shared object with a sound index of this ABI.
  static Result<std::shared_ptr<const NativeLibrary>> open(std::span<const std::byte> shared_object);
  ~NativeLibrary();
  NativeLibrary(const NativeLibrary&) = delete;
  NativeLibrary& operator=(const NativeLibrary&) = delete;

  /// Null when the shard does not hold the host.
  const program::NativeHost* find(std::uint64_t host_id) const;

 private:
  NativeLibrary() = default;

  int descriptor_ = -1;
  void* handle_ = nullptr;
  std::span<const program::NativeHost> hosts_;
};

}  // namespace edge::runtime
