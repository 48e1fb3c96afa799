#include "edgectl/install/version.h"

#include <charconv>
#include <cstdlib>

namespace edge::edgectl {

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

Skew skew_of(std::string_view installed, std::string_view wanted) {
  if (installed == wanted) return Skew::kSame;
  const auto from = parse_version(installed);
  const auto to = parse_version(wanted);
  if (!from || !to) return Skew::kUnknown;
  // The distance of int64 has no overflow.
  const std::int64_t minors = std::int64_t{to->minor} - from->minor;
  if (from->major != to->major || minors > 1 || minors < -1) return Skew::kTooFar;
  return *to < *from ? Skew::kDowngrade : Skew::kUpgrade;
}

ImageName read_image(std::string_view image) {
  ImageName name;
  const std::size_t digest = image.find('@');
  if (digest != std::string_view::npos) image = image.substr(0, digest);
  const std::size_t slash = image.rfind('/');
  std::string_view last = slash == std::string_view::npos ? image : image.substr(slash + 1);
  if (slash != std::string_view::npos) name.repository = image.substr(0, slash);
  const std::size_t colon = last.find(':');
  if (colon != std::string_view::npos && digest == std::string_view::npos) name.tag = last.substr(colon + 1);
  name.component = last.substr(0, colon);
  return name;
}

}  // namespace edge::edgectl
