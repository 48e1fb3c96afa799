// Assembles a program from sections (made by section_builder.h). The same sections in any order give the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "program/format/format.h"
#include "program/read.h"

namespace edge::program {

/// A section's bytes with their hash, made once and shared between programs.
struct Blob {
  std::vector<std::byte> bytes;
  Hash hash;
};
using BlobPtr = std::shared_ptr<const Blob>;

/// Hashes and wraps.
BlobPtr make_blob(std::vector<std::byte> bytes);

struct SectionInput {
  SectionKind kind;
  std::uint64_t id;
  BlobPtr blob;
};

/// Assembles the sections, unsigned (sign.h). Precondition: no two inputs share (kind, id).
std::vector<std::byte> assemble(Target target, std::vector<SectionInput> sections);

/// A section owned elsewhere.
struct SectionRef {
  SectionKind kind;
  std::uint64_t id;
  const Blob* blob;
};
/// The same for sections that ascend by (kind, id).
std::vector<std::byte> assemble_in_order(Target target, std::span<const SectionRef> sections);

}  // namespace edge::program
