// Programs of many sections, of which one tells them apart.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "program/test_program.h"

namespace edge::test {

/// `changed` of `sections` is what tells one program from another; `size` of each section in bytes, at least four.
inline program::sample::Bytes sectioned_program(unsigned changed, unsigned sections = 3, std::size_t size = 1000) {
  std::vector<program::SectionInput> all;
  for (unsigned i = 0; i < sections; ++i) {
    std::vector<std::byte> content(size, std::byte(i));
    if (i == 0) std::memcpy(content.data(), &changed, sizeof changed);
    if (i != 0) std::memcpy(content.data(), &i, sizeof i);
    all.push_back({program::SectionKind::kRegex, i, program::make_blob(std::move(content))});
  }
  return std::make_shared<const std::vector<std::byte>>(program::sample::program_of(std::move(all)));
}

}  // namespace edge::test
