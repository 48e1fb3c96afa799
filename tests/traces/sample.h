// What the tests of traces read and send.
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/text/protobuf_writer.h"
#include "controller/traces/incoming_span.h"

namespace edge::test {

inline std::string sample_path(const std::string& name) {
  return std::string(EDGE_SOURCE_DIR) + "/tests/traces/data/" + name;
}

inline std::string sample(const std::string& name) {
  std::ifstream file(sample_path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string id_bytes(std::uint64_t number, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[size - 1 - i] = static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

/// OTLP's message Span with an attribute of `filler` bytes.
inline std::string span_bytes(std::uint64_t trace, std::uint64_t id, std::size_t filler = 0,
                              std::uint64_t start_us = 1) {
  ProtobufWriter out;
  out.text(1, id_bytes(trace, 16));
  out.text(2, id_bytes(id, 8));
  out.text(5, "work");
  out.number(6, 2);
  out.fixed(7, start_us * 1000);
  out.fixed(8, (start_us + 5) * 1000);
  if (filler != 0) {
    const auto attribute = out.message(9);
    out.text(1, "filler");
    const auto value = out.message(2);
    out.text(1, std::string(filler, 'x'));
  }
  return out.take();
}

inline std::string request_bytes(const std::vector<std::string>& spans) {
  ProtobufWriter out;
  {
    const auto resource_spans = out.message(1);
    const auto scope_spans = out.message(2);
    for (const std::string& span : spans) out.text(2, span);
  }
  return out.take();
}

inline traces::IncomingSpan incoming(std::uint64_t trace, std::uint64_t id, std::size_t filler = 0,
                                     const std::string& service = "edge") {
  ProtobufWriter resource;
  {
    const auto attribute = resource.message(1);
    resource.text(1, "service.name");
    const auto value = resource.message(2);
    resource.text(1, service);
  }
  traces::IncomingSpan span;
  const std::string trace_bytes = id_bytes(trace, 16);
  std::copy(trace_bytes.begin(), trace_bytes.end(), span.trace.begin());
  const std::string bytes = id_bytes(id, 8);
  std::copy(bytes.begin(), bytes.end(), span.id.begin());
  span.kind = 2;
  span.start_us = static_cast<std::int64_t>(trace);
  span.duration_us = 5;
  span.name = "work";
  span.bytes = span_bytes(trace, id, filler, trace);
  span.source = std::make_shared<const traces::IncomingSource>(traces::IncomingSource{service, resource.take(), ""});
  return span;
}

}  // namespace edge::test
