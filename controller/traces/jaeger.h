// Stored traces in Jaeger's format, read by its UI, Grafana's data source and edgectl. OTLP's fields become tags with
// the names of Jaeger's own translation.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/traces/trace_reader.h"

namespace edge::traces {

/// Returns whether the span, its events or its source have a tag with that text.
bool has_tag(const otlp::Span& span, const otlp::Source& source, std::string_view key, std::string_view value);

/// Wrap results in Jaeger's envelope: `data`, `total`, `limit`, `offset`, `errors`.
std::string services_json(const std::vector<std::string>& services);
std::string operation_names_json(const std::vector<Operation>& operations);
std::string operations_json(const std::vector<Operation>& operations);
std::string traces_json(std::span<const StoredTrace> traces);
/// `trace`: the one that the error is about; empty for none.
std::string fault_json(int code, std::string_view text, std::string_view trace = {});

}  // namespace edge::traces
