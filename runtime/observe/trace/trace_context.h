// Whose trace a request belongs to, as its head says: W3C Trace Context (traceparent, tracestate) and B3, in one field
// or in several. Read from clients, told to backends.
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
  /// All zeros are no id.
  bool none() const { return high == 0 && low == 0; }
  friend bool operator==(const TraceId&, const TraceId&) = default;
};
/// 0: none.
using SpanId = std::uint64_t;

/// Digits of base 16, lower case.
using TraceText = std::array<char, 32>;
using SpanText = std::array<char, 16>;
TraceText text_of(const TraceId& id);
SpanText text_of(SpanId id);

struct TraceContext {
  /// none(): it begins with us.
  TraceId trace{};
  /// The sender's span.
  SpanId parent = 0;
  /// The sender's decision; nullopt: it is left to us.
  std::optional<bool> sampled{};
  /// B3's word for "whatever the rate is".
  bool debug = false;
  /// Forms that were there and well formed beside traceparent: backends that know no other are told in them, too.
  bool b3_single = false;
  bool b3_multi = false;
  /// B3: the id came with half of its digits.
  bool short_id = false;
  /// tracestate, to be handed on as it is; empty: none.
  std::string state{};

  /// The ids stay, the sender's decision goes: also that of `tracestate`, where vendors write theirs.
  void leave_decision() {
    sampled.reset();
    debug = false;
    state.clear();
  }
};

/// In lower case, traceparent first.
inline constexpr std::array<std::string_view, 8> kTraceFieldNames = {"traceparent",  "tracestate",  "b3",
                                                                     "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid",
                                                                     "x-b3-sampled", "x-b3-flags"};

/// traceparent goes before b3, and that before X-B3-*. What is malformed, or there twice, counts as not there (W3C
/// Trace Context §3.2.2, §3.3): a request is never at fault for it.
TraceContext read_trace_context(const net::http1::HeadFields& fields);
/// Whether a field is one of these, `_` written for `-` included: where we take part in a trace they are dropped, and
/// written anew.
bool tells_of_trace(std::string_view name);

/// Some of the fields, a bit each.
using TraceFields = std::uint8_t;
/// Those of which `named`, asked with a name in lower case, is true. All of them with traceparent: the others would
/// speak of another trace.
template <typename Named>
TraceFields trace_fields(Named named) {
  TraceFields fields = 0;
  for (std::size_t i = 0; i < kTraceFieldNames.size(); ++i) {
    if (named(kTraceFieldNames[i])) fields |= static_cast<TraceFields>(1U << i);
  }
  return (fields & 1) != 0 ? static_cast<TraceFields>(~0U) : fields;
}

/// What is told to a backend: `span` is what the backend's own hangs below, `parent` what that hangs below.
struct PropagatedContext {
  const TraceContext& context;
  SpanId parent;
  SpanId span;
  bool sampled;
  /// Not told.
  TraceFields others = 0;
};
void write_trace_context(const PropagatedContext& propagated, net::http1::HeadWriter& out);

}  // namespace edge::runtime::trace
