// Compares the requests of a canary, the first agent of a new configuration, with those of the other agents and with
// its own before it was replaced. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace edge::cluster_operator {

/// What an agent counted in some time: the `total` of its page /debug/traffic.
struct Traffic {
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;   ///< not answered, or 5xx
  std::uint64_t refused = 0;  ///< 4xx
  /// Counts by duration: one more than `bounds`, which are ascending, in seconds.
  std::vector<std::uint64_t> durations{};
  std::vector<double> bounds{};

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// nullopt for what is no such page. What write_traffic made is read, too.
std::optional<Traffic> read_traffic(std::string_view page);
std::string write_traffic(const Traffic& traffic);
/// Adds durations only where both have the same bounds; without any, `to` has those of `more`.
void add(Traffic& to, const Traffic& more);

struct Comparison {
  enum class Result : std::uint8_t {
    kNone,    ///< not asked yet, or there was no answer
    kTooFew,  ///< requests of the canary, or of everything that it could be compared with
    kSound,
    kWorse,
  };
  Result result = Result::kNone;
  std::string text{};  ///< for users; of kNone: why there is none
};

/// Requests of the canary, and of what it is compared with, below which nothing is compared.
inline constexpr std::uint64_t kLeastRequests = 100;

/// A canary is worse when it is worse than each reference with enough requests: its share of failed, refused or slow
/// requests is larger beyond what chance explains. `slow`: slower than twice the time of 95% of the reference's.
Comparison compare(const Traffic& canary, const Traffic& others, const Traffic& before);

}  // namespace edge::cluster_operator
