// Checks sections of a program that were not checked before. Part of `read`.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "program/read.h"

namespace edge::program {

struct SectionFault {
  const Section* section = nullptr;
  std::string what;
};

struct CheckedSections {
  std::optional<SectionFault> fault;  ///< the first one, in the sections' order
  Hash program{};                     ///< the hash of the manifest
};

/// Compares each section's bytes with its hash, and checks its records against the format; hashes the manifest.
///
/// Megabytes are divided with a second thread, which has ended when this returns: a first load waits only for this
/// (decision 0070).
CheckedSections check_sections(std::span<const Section* const> sections, Databases databases,
                               std::span<const std::byte> manifest);

}  // namespace edge::program
