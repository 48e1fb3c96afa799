// OTLP's messages: what an encoder that is not ours has written, both its forms, limits on both sides of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/traces/otlp/export_request.h"
#include "tests/traces/sample.h"

namespace edge::test {
namespace {

using otlp::Span;
using otlp::Value;
using testing::ElementsAre;

struct Read {
  std::vector<Span> spans;
  std::vector<std::string> services;
  Result<otlp::Reading> reading = otlp::Reading{};
};

Read read(const std::string& bytes, const otlp::Limits& limits = {}) {
  Read out;
  out.reading = otlp::read_request(
      bytes,
      [&](const otlp::Taken& taken) {
        out.spans.push_back(taken.span);
        out.services.push_back(taken.source.service);
      },
      limits);
  return out;
}

const Value& value_of(const Span& span, const std::string& key) {
  const auto found = std::ranges::find(span.attributes, key, &otlp::Attribute::key);
  static const Value kNone;
  return found == span.attributes.end() ? kNone : found->value;
}

/// With one attribute whose value holds others, `depth` deep.
std::string nested_span(unsigned depth) {
  std::string value;
  {
    ProtobufWriter out;
    out.text(1, "leaf");
    value = out.take();
  }
  for (unsigned i = 0; i < depth; ++i) {
    ProtobufWriter list;
    list.text(1, value);
    ProtobufWriter out;
    out.text(5, list.take());
    value = out.take();
  }
  ProtobufWriter attribute;
  attribute.text(1, "key");
  attribute.text(2, value);
  ProtobufWriter span;
  span.text(9, attribute.take());
  return span_bytes(1, 1) + span.take();
}

TEST(Otlp, ReadsWhatOpenTelemetryWrites) {
  const Read got = read(sample("checkout.otlp"));
  ASSERT_TRUE(got.reading.ok());
  EXPECT_EQ(got.reading->taken, 5u);
  EXPECT_EQ(got.reading->refused, 0u);
  EXPECT_THAT(got.services, ElementsAre("edge", "edge", "edge", "edge", "cart"));
  const Span& first = got.spans[0];
  EXPECT_EQ(otlp::hex(first.trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(otlp::hex(first.id), "0000000000000001");
  EXPECT_FALSE(first.has_parent());
  EXPECT_EQ(first.name, "GET shop/cart");
  EXPECT_EQ(otlp::kind_word(first.kind), "server");
  EXPECT_EQ(first.start_ns, 1'760'000'000'000'000'000u);
  EXPECT_EQ(first.duration_ns(), 12'500'000u);
  EXPECT_EQ(first.state, "vendor=1");
  EXPECT_EQ(value_of(first, "http.status_code"), (Value{.kind = Value::Kind::kInteger, .integer = 200}));
  EXPECT_EQ(value_of(first, "share"), (Value{.kind = Value::Kind::kReal, .real = 0.25}));
  EXPECT_EQ(value_of(first, "retried"), (Value{.kind = Value::Kind::kBool, .truth = true}));
  EXPECT_EQ(value_of(first, "raw"), (Value{.kind = Value::Kind::kBytes, .text = std::string("\0\xff", 2)}));
  EXPECT_EQ(value_of(first, "list").text, R"(["a",1,{"deep":true}])");
  EXPECT_EQ(got.spans[2].status, otlp::StatusCode::kError);
  EXPECT_EQ(got.spans[2].status_message, "reset by the peer");
  EXPECT_EQ(got.spans[2].events.at(0).name, "exception");
  EXPECT_EQ(otlp::hex(got.spans[3].links.at(0).span), "0102030405060708");
  EXPECT_EQ(otlp::hex(got.spans[4].parent), "0000000000000004");
}

TEST(Otlp, ReadsTheSameFromJson) {
  const Read binary = read(sample("checkout.otlp"));
  for (const char* name : {"checkout.otlp.json", "checkout.tempo.json"}) {
    const auto bytes = otlp::request_from_json(sample(name));
    ASSERT_TRUE(bytes.ok()) << name;
    const Read json = read(*bytes);
    ASSERT_TRUE(json.reading.ok()) << name;
    EXPECT_EQ(json.services, binary.services) << name;
    ASSERT_EQ(json.spans.size(), binary.spans.size()) << name;
    for (std::size_t i = 0; i < json.spans.size(); ++i) {
      const Span& one = json.spans[i];
      const Span& other = binary.spans[i];
      EXPECT_EQ(otlp::hex(one.trace), otlp::hex(other.trace));
      EXPECT_EQ(one.id, other.id);
      EXPECT_EQ(one.parent, other.parent);
      EXPECT_EQ(one.name, other.name);
      EXPECT_EQ(one.kind, other.kind);
      EXPECT_EQ(one.start_ns, other.start_ns);
      EXPECT_EQ(one.end_ns, other.end_ns);
      EXPECT_EQ(one.status, other.status);
      EXPECT_EQ(one.events.size(), other.events.size());
      EXPECT_EQ(one.links.size(), other.links.size());
      ASSERT_EQ(one.attributes.size(), other.attributes.size());
      for (const otlp::Attribute& attribute : other.attributes) {
        EXPECT_EQ(value_of(one, attribute.key), attribute.value) << attribute.key;
      }
    }
  }
}

TEST(Otlp, RefusesWhatIsNoJsonOfIt) {
  for (const char* text : {"", "[]", "1", "{\"resourceSpans\":1}", "{\"resourceSpans\":[", "nul"}) {
    EXPECT_FALSE(otlp::request_from_json(text).ok()) << text;
  }
  const std::string deep(100'000, '[');
  EXPECT_FALSE(otlp::request_from_json("{\"resourceSpans\":" + deep).ok());
  // Of another shape inside: read as far as it is one.
  for (const char* text :
       {"{}", "{\"resourceSpans\":[1,null,{\"scopeSpans\":{}},{\"scopeSpans\":[{\"spans\":[3]}]}]}"}) {
    const auto bytes = otlp::request_from_json(text);
    ASSERT_TRUE(bytes.ok()) << text;
    EXPECT_TRUE(read(*bytes).spans.empty());
  }
}

TEST(Otlp, RefusesATornRequestAtEveryByte) {
  const std::string whole = sample("checkout.otlp");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // It may end between two resources, and then it is a whole one.
    const Read got = read(whole.substr(0, size));
    if (got.reading.ok()) EXPECT_LT(got.spans.size(), 5u) << size;
  }
}

TEST(Otlp, HoldsEachLimit) {
  otlp::Limits limits;
  limits.requests_spans = 3;
  limits.attributes = 2;
  limits.depth = 4;
  const auto spans = [](std::size_t count) {
    std::vector<std::string> list;
    for (std::size_t i = 1; i <= count; ++i) list.push_back(span_bytes(7, i));
    return request_bytes(list);
  };
  for (const auto& [count, refused] : {std::pair{2, 0u}, {3, 0u}, {4, 1u}}) {
    EXPECT_EQ(read(spans(static_cast<std::size_t>(count)), limits).reading->refused, refused) << count;
  }
  for (const auto& [depth, refused] : {std::pair{3u, 0u}, {4u, 0u}, {5u, 1u}}) {
    EXPECT_EQ(read(request_bytes({nested_span(depth)}), limits).reading->refused, refused) << depth;
  }
  EXPECT_EQ(read(request_bytes({nested_span(20'000)}), limits).reading->refused, 1u);
  const std::string plain = span_bytes(1, 1);
  ProtobufWriter attribute;
  attribute.text(9, "");
  const std::string one_more = attribute.take();
  for (const auto& [count, refused] : {std::pair{1, 0u}, {2, 0u}, {3, 1u}}) {
    std::string span = plain;
    for (int i = 0; i < count; ++i) span += one_more;
    EXPECT_EQ(read(request_bytes({span}), limits).reading->refused, refused) << count;
  }
  limits.span_bytes = plain.size();
  EXPECT_EQ(read(request_bytes({plain}), limits).reading->refused, 0u);
  limits.span_bytes = plain.size() - 1;
  EXPECT_EQ(read(request_bytes({plain}), limits).reading->refused, 1u);
}

/// With one attribute whose value is a map of `entries`.
std::string map_span(int entries) {
  ProtobufWriter out;
  {
    const auto attribute = out.message(9);
    out.text(1, "key");
    const auto value = out.message(2);
    const auto map = out.message(6);
    for (int i = 0; i < entries; ++i) {
      const auto entry = out.message(1);
      out.text(1, std::to_string(i));
    }
  }
  return span_bytes(1, 1) + out.take();
}

TEST(Otlp, BoundsTheEntriesOfAMap) {
  otlp::Limits limits;
  limits.attributes = 3;
  for (const auto& [count, refused] : {std::pair{2, 0u}, {3, 0u}, {4, 1u}}) {
    EXPECT_EQ(read(request_bytes({map_span(count)}), limits).reading->refused, refused) << count;
  }
}

/// Minutes, if the resource were read again for each scope.
TEST(Otlp, ReadsAResourceOnceForAllItsScopes) {
  ProtobufWriter out;
  {
    const auto resource_spans = out.message(1);
    {
      const auto resource = out.message(1);
      for (int i = 0; i < 250; ++i) {
        const auto attribute = out.message(1);
        out.text(1, i == 0 ? "service.name" : "key");
        const auto value = out.message(2);
        out.text(1, i == 0 ? "cart" : std::string(50, 'x'));
      }
    }
    for (int i = 0; i < 500'000; ++i) out.text(2, "");
    for (const char* name : {"one", "two"}) {
      const auto scope_spans = out.message(2);
      {
        const auto scope = out.message(1);
        out.text(1, name);
      }
      out.text(2, span_bytes(1, 1));
    }
  }
  std::vector<std::string> scopes;
  const std::string bytes = out.take();
  const auto reading = otlp::read_request(bytes, [&](const otlp::Taken& taken) {
    EXPECT_EQ(taken.source.service, "cart");
    scopes.push_back(taken.source.scope);
  });
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ(reading->taken, 2u);
  EXPECT_THAT(scopes, ElementsAre("one", "two"));
}

TEST(Otlp, RefusesSpansWithoutTheirIds) {
  for (const auto& [trace, span] : {std::pair{0u, 1u}, {1u, 0u}}) {
    const Read got = read(request_bytes({span_bytes(trace, span), span_bytes(1, 2)}));
    EXPECT_EQ(got.reading->refused, 1u);
    EXPECT_EQ(got.reading->taken, 1u);
  }
}

TEST(Otlp, TellsOfPartialSuccess) {
  EXPECT_EQ(otlp::response(0, "fine"), "");
  // partial_success { rejected_spans: 3 error_message: "no" }
  EXPECT_EQ(otlp::response(3, "no"), std::string("\x0a\x06\x08\x03\x12\x02no"));
  EXPECT_EQ(otlp::response_json(0, ""), "{}");
  EXPECT_EQ(otlp::response_json(3, "no"), R"({"partialSuccess":{"errorMessage":"no","rejectedSpans":"3"}})");
}

TEST(Otlp, ReadsIds) {
  EXPECT_EQ(otlp::hex(*otlp::parse_trace_id("aB1")), "00000000000000000000000000000ab1");
  EXPECT_EQ(otlp::hex(*otlp::parse_span_id("00000000000000ff")), "00000000000000ff");
  for (const char* text : {"", "0", "00000000000000000000000000000000", "g", "000000000000000000000000000000001"}) {
    EXPECT_FALSE(otlp::parse_trace_id(text)) << text;
  }
}

}  // namespace
}  // namespace edge::test
