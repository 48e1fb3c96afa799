// Versions of components and of the API, and how far they may lie apart.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace edge::edgectl {

struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const Version&) const = default;
};

/// Parses `0.1.0`, `v1.33.1`, `v1.31.0+edge.0.1.0`, `0.2.0-rc.1`, `1.29`: what follows the numbers is not compared.
std::optional<Version> parse_version(std::string_view text);

enum class Skew : std::uint8_t {
  kSame,
  kUpgrade,
  kDowngrade,
  kTooFar,   ///< more than one minor version apart, or of another major one
  kUnknown,  ///< one of them is no version
};
/// Components of adjacent minor versions work together (docs/upgrades.md), so no step is longer than that.
Skew skew_of(std::string_view installed, std::string_view wanted);

/// An image's name, split: `registry.example.com/edge`, `edge-operator`, `0.1.0`.
struct ImageName {
  std::string repository;
  std::string component;
  std::string tag;  ///< empty where a digest or nothing stands
};
ImageName read_image(std::string_view image);

}  // namespace edge::edgectl
