// SHA-256 (FIPS 180-4): the hash of sections and programs.
#pragma once

#include <cstddef>
#include <span>

#include "program/read.h"

namespace edge::program {

Hash sha256(std::span<const std::byte> bytes);

/// The program's hash: over the domain prefix and the manifest (format.h, SignatureBlock).
Hash manifest_hash(std::span<const std::byte> manifest);

/// The domain prefix of hash and signature, with its terminating zero.
inline constexpr char kManifestDomain[] = "edge program";

}  // namespace edge::program
