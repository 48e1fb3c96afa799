// Checks the sections of a program that were not checked before. Part of `read`.
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

/// Holds each section's bytes against its hash, and its records against the format. \returns the first that is at
/// fault, in their order.
///
/// Megabytes are shared with a second thread, which has ended when this returns: a first load waits for nothing but
/// this (decision 0070).
std::optional<SectionFault> check_sections(std::span<const Section* const> sections, Databases databases);

}  // namespace edge::program
