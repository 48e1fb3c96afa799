#include "tests/runtime/trace_reader.h"

#include <gtest/gtest.h>

#include "controller/traces/otlp/export_request.h"
#include "runtime/observe/trace/otlp.h"

namespace edge::test {

std::vector<otlp::Span> take_spans(runtime::trace::SpanBuffers& buffers) {
  std::vector<otlp::Span> all;
  std::vector<runtime::trace::SpanBuffer::Taken> each;
  buffers.take(each);
  for (const runtime::trace::SpanBuffer::Taken& taken : each) {
    const std::string message =
        runtime::trace::MessageFrame({{"service.name", "s"}}).head(taken.bytes.size()) + std::string(taken.bytes);
    const std::size_t before = all.size();
    const auto reading = otlp::read_request(message, [&](const otlp::Taken& one) { all.push_back(one.span); });
    EXPECT_TRUE(reading) << reading.error().text;
    if (!reading) continue;
    EXPECT_EQ(reading->refused, 0U);
    EXPECT_EQ(all.size() - before, taken.count);
  }
  return all;
}

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string value_of(const otlp::Span& span, std::string_view name) {
  for (const otlp::Attribute& attribute : span.attributes) {
    if (attribute.key != name) continue;
    return attribute.value.kind == otlp::Value::Kind::kInteger ? std::to_string(attribute.value.integer)
                                                               : attribute.value.text;
  }
  return "-";
}

}  // namespace edge::test
