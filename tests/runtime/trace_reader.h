// What served requests left for the exporter, read as a collector reads it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/traces/otlp/span.h"
#include "runtime/observe/trace/span_buffers.h"

namespace edge::test {

/// All that came since the last time, each span behind those that it waited for.
std::vector<otlp::Span> take_spans(runtime::trace::SpanBuffers& buffers);

std::string hex(std::span<const std::uint8_t> bytes);
/// `-`: it does not have the attribute.
std::string value_of(const otlp::Span& span, std::string_view name);

}  // namespace edge::test
