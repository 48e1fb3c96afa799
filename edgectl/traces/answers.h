// What the two kinds of trace servers answer, read as hostile text: what is no trace is left out, counts are bounded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edgectl/traces/trace.h"

namespace edge::edgectl {

/// Jaeger's `data` as a list of names. nullopt: it is no answer of Jaeger's.
std::optional<std::vector<std::string>> jaeger_names(std::string_view body);
/// Jaeger's `data` as traces.
std::optional<std::vector<Trace>> jaeger_traces(std::string_view body);
/// The first of Jaeger's `errors`; empty: none.
std::string jaeger_fault(std::string_view body);

/// Tempo's `tagNames` or `tagValues`.
std::optional<std::vector<std::string>> tempo_names(std::string_view body, const char* member);
/// Tempo's `traces` of a search.
std::optional<std::vector<TraceSummary>> tempo_summaries(std::string_view body);
/// A trace as OTLP has it, protobuf or JSON.
std::optional<Trace> tempo_trace(std::string_view body, bool json, const std::string& id);

}  // namespace edge::edgectl
