// The patterns of a set without a database: each is searched for separately, by the portable engine.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/evaluate/pattern.h"

namespace edge::runtime {

/// Thread-safe.
class PatternList {
 public:
  explicit PatternList(std::vector<std::string> texts) : texts_(std::move(texts)) {}

  /// Sets bit (first + i) of `hits` for each of the first `count` patterns that is found in `subject`. The first call
  /// compiles them. \returns false when a pattern does not compile.
  bool search(std::string_view subject, std::uint32_t first, std::uint32_t count, std::uint64_t* hits);

 private:
  void compile();

  const std::vector<std::string> texts_;
  std::once_flag compiled_;
  std::vector<program::Pattern> patterns_;
};

}  // namespace edge::runtime
