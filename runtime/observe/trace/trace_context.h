// The trace that a request belongs to, from its head: W3C Trace Context (traceparent, tracestate) and B3, in one field
// or in several. Read from clients, propagated to backends.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http1/head.h"
#include "net/http1/write.h"

namespace edge::runtime::trace {

struct TraceId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  /// All zeros are not a valid id.
  bool none() const { return high == 0 && low == 0; }
  friend bool operator==(const TraceId&, const TraceId&) = default;
};
/// 0: none.
using SpanId = std::uint64_t;

/// Lowercase hexadecimal digits.
using TraceText = std::array<char, 32>;
using SpanText = std::array<char, 16>;
TraceText text_of(const TraceId& id);
SpanText text_of(SpanId id);

struct TraceContext {
  /// none(): the trace begins here.
  TraceId trace{};
  /// The sender's span.
  SpanId parent = 0;
  /// The sender's sampling decision; nullopt: not decided.
  std::optional<bool> sampled{};
  /// B3's debug flag, which overrides the sampling rate.
  bool debug = false;
  /// Which B3 forms were present and valid besides traceparent: the context is propagated in them too, for backends
  /// that know only those.
  bool b3_single = false;
  bool b3_multi = false;
  /// B3: the trace id had 64 bits.
  bool short_id = false;
  /// tracestate, propagated unchanged; empty: none.
  std::string state{};

  /// Keeps the ids and drops the sender's sampling decision, and with it `tracestate`, where vendors encode theirs.
  void leave_decision() {
    sampled.reset();
    debug = false;
    state.clear();
  }
};

/// Lowercase, traceparent first.
inline constexpr std::array<std::string_view, 8> kTraceFieldNames = {"traceparent",  "tracestate",  "b3",
                                                                     "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid",
                                                                     "x-b3-sampled", "x-b3-flags"};

/// Parses the trace context. traceparent takes precedence over b3, and b3 over X-B3-*. Malformed or repeated fields
/// count as absent (W3C Trace Context §3.2.2, §3.3): they never make a request fail.
TraceContext read_trace_context(const net::http1::HeadFields& fields);
/// Returns whether a field is one of these, also with `_` for `-`: where the proxy takes part in a trace they are
/// removed and written anew.
bool tells_of_trace(std::string_view name);

/// A set of the fields, one bit each.
using TraceFields = std::uint8_t;
/// Returns the fields for which `named`, called with the lowercase name, is true. All of them where traceparent is
/// among them: the others would name another trace.
template <typename Named>
TraceFields trace_fields(Named named) {
  TraceFields fields = 0;
  for (std::size_t i = 0; i < kTraceFieldNames.size(); ++i) {
    if (named(kTraceFieldNames[i])) fields |= static_cast<TraceFields>(1U << i);
  }
  return (fields & 1) != 0 ? static_cast<TraceFields>(~0U) : fields;
}

/// The context propagated to a backend: `span` is the parent of the backend's span, `parent` the parent of `span`.
struct PropagatedContext {
  const TraceContext& context;
  SpanId parent;
  SpanId span;
  bool sampled;
  /// Fields not to write.
  TraceFields others = 0;
};
void write_trace_context(const PropagatedContext& propagated, net::http1::HeadWriter& out);

}  // namespace edge::runtime::trace
