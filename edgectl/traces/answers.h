// Parses responses of both kinds of trace servers as untrusted text: invalid traces are dropped, counts limited.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edgectl/traces/trace.h"

namespace edge::edgectl {

/// Parses Jaeger's `data` as a list of names. nullopt: not a response of Jaeger.
std::optional<std::vector<std::string>> jaeger_names(std::string_view body);
/// Parses Jaeger's `data` as traces.
std::optional<std::vector<Trace>> jaeger_traces(std::string_view body);
/// Returns the first of Jaeger's `errors`; empty: none.
std::string jaeger_fault(std::string_view body);

/// Parses Tempo's `tagNames` or `tagValues`.
std::optional<std::vector<std::string>> tempo_names(std::string_view body, const char* member);
/// Parses Tempo's `traces` of a search.
std::optional<std::vector<TraceSummary>> tempo_summaries(std::string_view body);
/// Parses a trace in OTLP, protobuf or JSON.
std::optional<Trace> tempo_trace(std::string_view body, bool json, const std::string& id);

}  // namespace edge::edgectl
