// Assembles a program from sections (section_builder.h makes them). The same sections give the same bytes, in whatever
// order they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "program/format/format.h"
#include "program/read.h"

namespace edge::program {

/// A section's bytes with their hash, made once and shared between the programs that hold it.
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

/// Lays the sections out, unsigned (sign.h). Precondition: no two inputs share (kind, id).
std::vector<std::byte> assemble(Target target, std::vector<SectionInput> sections);

/// A section that somebody else keeps.
struct SectionRef {
  SectionKind kind;
  std::uint64_t id;
  const Blob* blob;
};
/// The same of sections that ascend by (kind, id), as they stand in the file.
std::vector<std::byte> assemble_in_order(Target target, std::span<const SectionRef> sections);

}  // namespace edge::program
