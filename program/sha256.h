// SHA-256 (FIPS 180-4): the hash of sections and programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "program/read.h"

namespace edge::program {

Hash sha256(std::span<const std::byte> bytes);

/// Hashes many pieces at once: several times faster on processors with wide registers.
class ManyHashes {
 public:
  /// `bytes`: the total size. The wide implementation takes half a millisecond to set up.
  explicit ManyHashes(std::uint64_t bytes);
  ~ManyHashes();
  ManyHashes(const ManyHashes&) = delete;
  ManyHashes& operator=(const ManyHashes&) = delete;

  /// One hash per piece, in order; both spans have the same size.
  void hash(std::span<const std::span<const std::byte>> pieces, std::span<Hash> hashes);

 private:
  struct Wide;
  std::unique_ptr<Wide> wide_;  ///< null: one after another
};

/// Returns the program's hash: over the domain prefix and the manifest (format.h, SignatureBlock).
Hash manifest_hash(std::span<const std::byte> manifest);

}  // namespace edge::program
