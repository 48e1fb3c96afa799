// Versions of components, as numbers.
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace edge::cluster_operator {

struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const Version&) const = default;
};

/// Parses `0.1.0`, `v1.33.1`, `v1.31.0+edge.0.1.0`, `0.2.0-rc.1`, `1.29`: what follows the numbers is not compared.
std::optional<Version> parse_version(std::string_view text);

}  // namespace edge::cluster_operator
