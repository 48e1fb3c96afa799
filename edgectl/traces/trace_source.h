// A trace server: the embedded store and Jaeger by Jaeger's API, Tempo by its own. Detected by requests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "edgectl/traces/trace.h"

namespace edge::edgectl {

struct TraceSearch {
  std::string service{};
  std::string operation{};
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;
  std::string least{};  ///< durations in Go's format; empty: none
  std::string most{};
  std::vector<std::pair<std::string, std::string>> tags{};
  std::size_t limit = 20;
};

/// The response to GET `target`.
struct Fetched {
  int status = 0;
  std::string content_type;
  std::string body;
};
using Fetch = std::function<Result<Fetched>(const std::string& target, const std::string& accept)>;

class TraceSource {
 public:
  /// Detects the API. kUnavailable: unreachable, or neither of both.
  static Result<TraceSource> recognise(Fetch fetch);

  /// One that has Jaeger's API, as our own store has: without a request.
  static TraceSource with_jaegers_api(Fetch fetch) { return {std::move(fetch), Api::kJaeger}; }

  Result<std::vector<std::string>> services() const;
  /// The newest first.
  Result<std::vector<TraceSummary>> search(const TraceSearch& search) const;
  /// kNotFound: there is none.
  Result<Trace> get(const std::string& id) const;

 private:
  enum class Api : bool { kJaeger, kTempo };
  TraceSource(Fetch fetch, Api api) : fetch_(std::move(fetch)), api_(api) {}
  Result<std::vector<TraceSummary>> search_jaeger(const TraceSearch& search) const;
  Result<std::vector<TraceSummary>> search_tempo(const TraceSearch& search) const;

  Fetch fetch_;
  Api api_;
};

}  // namespace edge::edgectl
