// Versions of components and of the API, and how far they may lie apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "controller/operator/version.h"

namespace edge::edgectl {

using cluster_operator::parse_version;
using cluster_operator::Version;

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
