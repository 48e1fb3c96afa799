#include "controller/operator/version.h"

#include <charconv>

namespace edge::cluster_operator {

std::optional<Version> parse_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  int numbers[3] = {};
  std::size_t count = 0;
  for (; count < 3; ++count) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), numbers[count]);
    if (error != std::errc() || numbers[count] < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty() || text.front() != '.') break;
    if (count < 2) text.remove_prefix(1);
  }
  if (count == 0) return std::nullopt;
  if (!text.empty() && text.front() != '-' && text.front() != '+') return std::nullopt;
  return Version{numbers[0], numbers[1], numbers[2]};
}

}  // namespace edge::cluster_operator
