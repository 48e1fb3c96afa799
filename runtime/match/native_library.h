// An opened kNative section: the machine code of a shard of hosts.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "program/evaluate/abi.h"

namespace edge::runtime {

/// Executes the code in the bytes: only to be opened after the signature was verified.
class NativeLibrary {
 public:
  /// Opens a section. kDataLoss when the bytes are not a shared object with a valid index of this ABI.
  static Result<std::shared_ptr<const NativeLibrary>> open(std::span<const std::byte> shared_object);
  ~NativeLibrary();
  NativeLibrary(const NativeLibrary&) = delete;
  NativeLibrary& operator=(const NativeLibrary&) = delete;

  /// Returns the host's code; null when the shard does not have the host.
  const program::NativeHost* find(std::uint64_t host_id) const;

 private:
  NativeLibrary() = default;

  int descriptor_ = -1;
  void* handle_ = nullptr;
  std::span<const program::NativeHost> hosts_;
};

}  // namespace edge::runtime
