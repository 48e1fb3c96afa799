#include "tests/cli/expected_lines.h"

#include <regex>
#include <sstream>
#include <string_view>

namespace edge::test {
namespace {

constexpr std::string_view kAnyText = "…";

/// `…` within a line stands for any text.
bool line_fits(std::string_view wanted, std::string_view got) {
  const std::size_t gap = wanted.find(kAnyText);
  if (gap == std::string_view::npos) return wanted == got;
  if (!got.starts_with(wanted.substr(0, gap))) return false;
  got.remove_prefix(gap);
  wanted.remove_prefix(gap + kAnyText.size());
  for (;; got.remove_prefix(1)) {
    if (line_fits(wanted, got)) return true;
    if (got.empty()) return false;
  }
}

bool fits_from(const std::vector<std::string>& wanted, std::size_t w, const std::vector<std::string>& got,
               std::size_t g) {
  if (w == wanted.size()) return g == got.size();
  if (wanted[w] == "...") {
    for (std::size_t skip = g; skip <= got.size(); ++skip) {
      if (fits_from(wanted, w + 1, got, skip)) return true;
    }
    return false;
  }
  if (g == got.size()) return false;
  const bool equal = wanted[w].starts_with("~ ") ? std::regex_match(got[g], std::regex(wanted[w].substr(2)))
                                                 : line_fits(wanted[w], got[g]);
  return equal && fits_from(wanted, w + 1, got, g + 1);
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool fits(const std::vector<std::string>& wanted, const std::vector<std::string>& got) {
  return fits_from(wanted, 0, got, 0);
}

}  // namespace edge::test
