#include "edgectl/install/version.h"

namespace edge::edgectl {

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
