// Checks the records of one section, so that accessors may index without looking back. Part of `read`.
#pragma once

#include <string>

#include "program/read.h"

namespace edge::program {

/// \returns what is wrong, naming the field; empty when the section is sound. Linear in the section's size. References
/// to other sections are the caller's to check.
std::string check_section(const Section& section);

}  // namespace edge::program
