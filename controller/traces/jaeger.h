// Stored traces as Jaeger shows them: what its UI, Grafana's data source and edgectl read. OTLP's fields become tags as
// Jaeger's own translation names them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/traces/trace_reader.h"

namespace edge::traces {

/// Whether a tag of the span, of its events or of its source has that text.
bool has_tag(const otlp::Span& span, const otlp::Source& source, std::string_view key, std::string_view value);

/// Jaeger's envelope around each: `data`, `total`, `limit`, `offset`, `errors`.
std::string services_json(const std::vector<std::string>& services);
std::string operation_names_json(const std::vector<Operation>& operations);
std::string operations_json(const std::vector<Operation>& operations);
std::string traces_json(std::span<const StoredTrace> traces);
/// `trace`: which one it is about; empty for none.
std::string fault_json(int code, std::string_view text, std::string_view trace = {});

}  // namespace edge::traces
