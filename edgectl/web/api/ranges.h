// Longer ranges than the agents' own hour, from the Prometheus server of `--metrics-url`: few ranges and queries, all
// of them chosen here, so that no viewer can ask that server for anything else.
//
// Blocks. For one thread at a time.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "edgectl/agents/prometheus.h"

namespace edge::edgectl::web {

class Ranges {
 public:
  /// Of a range; fewer where the server has none for a time.
  static constexpr int kPoints = 240;

  /// `url`: empty: there is no such server.
  explicit Ranges(const std::string& url);

  /// Returns requests, errors and latencies of all agents over `6h`, `24h`, `7d` or `30d`, as one line of JSON; at most
  /// some seconds old. kNotFound: another range, or no server; kUnavailable: the server does not answer.
  Result<std::string> read(const std::string& range);

 private:
  struct Kept {
    std::string json;
    std::chrono::steady_clock::time_point until;
  };
  std::optional<Prometheus> server_;
  std::map<std::string, Kept, std::less<>> kept_;  ///< by range
};

}  // namespace edge::edgectl::web
