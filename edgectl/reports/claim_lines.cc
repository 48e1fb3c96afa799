#include "edgectl/reports/claim_lines.h"

#include <algorithm>

namespace edge::edgectl {

std::vector<ClaimLine> claim_lines(std::string_view text) {
  std::vector<ClaimLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos && line[first] != '#') {
      line.remove_prefix(first);
      lines.push_back({std::string(line), static_cast<std::uint32_t>(begin + first)});
    }
    begin = end + 1;
  }
  return lines;
}

}  // namespace edge::edgectl
