// The official report of Gateway API's conformance tests on this build: docs/conformance, embedded at build time.
// script/check-conformance writes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::edgectl {

struct ConformanceReport {
  /// Tests of a profile's core, or of its extended features.
  struct Tests {
    std::string result{};  ///< `success`, `partial` or `failure`; empty: there were none
    std::uint64_t passed = 0;
    std::uint64_t failed = 0;
    std::uint64_t skipped = 0;
  };
  struct Profile {
    std::string name{};  ///< `GATEWAY-HTTP`
    Tests core{};
    Tests extended{};
    std::vector<std::string> supported{};    ///< extended features
    std::vector<std::string> unsupported{};  ///< likewise
  };
  std::string version{};  ///< of Gateway API: `v1.6.3`
  std::string channel{};  ///< `experimental`
  std::string date{};
  std::vector<Profile> profiles{};  ///< by name
};

/// The embedded report, in YAML.
std::string_view conformance_report_text();
Result<ConformanceReport> read_conformance_report(std::string_view text);

}  // namespace edge::edgectl
