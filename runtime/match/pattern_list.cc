#include "runtime/match/pattern_list.h"

#include <algorithm>

namespace edge::runtime {
namespace {

/// Strangers choose the subjects, and with them how many states searching keeps: each pattern is given the least
/// memory that it compiles in.
constexpr std::size_t kFewestBytes = std::size_t{64} << 10;

program::Pattern compiled(std::string_view text) {
  std::size_t most = kFewestBytes;
  program::Pattern pattern(text, most);
  while (!pattern.ok() && most < program::Pattern::kMostBytes) {
    most = std::min(most * 8, program::Pattern::kMostBytes);
    pattern = program::Pattern(text, most);
  }
  return pattern;
}

}  // namespace

void PatternList::compile() {
  patterns_.reserve(texts_.size());
  for (const std::string& text : texts_) patterns_.push_back(compiled(text));
}

bool PatternList::search(std::string_view subject, std::uint32_t first, std::uint32_t count, std::uint64_t* hits) {
  std::call_once(compiled_, [this] { compile(); });
  if (count > patterns_.size()) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const program::Pattern& pattern = patterns_[i];
    if (!pattern.ok()) return false;
    if (pattern.found_in(subject)) hits[(first + i) / 64] |= std::uint64_t{1} << ((first + i) % 64);
  }
  return true;
}

}  // namespace edge::runtime
