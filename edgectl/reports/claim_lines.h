// The text of a file of claims: one a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace edge::edgectl {

/// A file of claims; more than anyone writes.
inline constexpr std::size_t kMaxClaimFile = 1 << 20;

struct ClaimLine {
  std::string text;
  std::uint32_t begin = 0;  ///< of the claim in the text
};

/// Blank lines, and those that start with `#`, are none.
std::vector<ClaimLine> claim_lines(std::string_view text);

}  // namespace edge::edgectl
