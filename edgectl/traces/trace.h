// A trace in the commands' form, independent of the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl {

struct TraceSpan {
  std::string id{};
  std::string parent{};  ///< empty: none
  std::string service{};
  std::string operation{};
  std::string kind{};  ///< `server`, `client`, …; may be empty
  std::int64_t start_us = 0;
  std::int64_t duration_us = 0;
  bool failed = false;
  std::string message{};  ///< of a failure
  std::vector<std::pair<std::string, std::string>> tags{};
};

struct Trace {
  std::string id{};
  std::vector<TraceSpan> spans{};
  bool cut = false;  ///< the server, or edgectl, omitted spans
};

/// A line of a list.
struct TraceSummary {
  std::string id{};
  std::string service{};    ///< of the first span
  std::string operation{};  ///< of the first span
  std::int64_t start_us = 0;
  std::int64_t duration_us = 0;
  std::int64_t spans = -1;  ///< -1: not stated by the server
  std::int64_t errors = -1;
};

/// Limit of spans, since a trace is held in memory; further ones are omitted.
inline constexpr std::size_t kMostSpans = 50'000;

/// Clamps an untrusted time or duration so that it can be added to another.
std::int64_t bounded_micros(std::int64_t micros);

/// Adds the spans of another store that are not there yet. Those that are too many are left out, and `cut` says so.
void join(Trace& trace, Trace other);

TraceSummary summary_of(const Trace& trace);
/// Returns the value of the first of these tags that the span has; empty: none.
std::string tag_of(const TraceSpan& span, std::initializer_list<std::string_view> names);

nlohmann::ordered_json trace_json(const Trace& trace);
nlohmann::ordered_json summary_json(const TraceSummary& summary);

/// `2026-01-02T03:04:05.678Z`
std::string time_text(std::int64_t micros);
/// `850us`, `12.5ms`, `1.25s`
std::string span_duration(std::int64_t micros);

}  // namespace edge::edgectl
