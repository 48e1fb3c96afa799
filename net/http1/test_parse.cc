#include "net/http1/test_parse.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace edge::net::http1 {

namespace {

std::vector<const Parsers*> all_parsers() {
  std::vector<const Parsers*> all = {&scalar_parsers()};
#if defined(__x86_64__)
  all.push_back(&sse2_parsers());
  if (__builtin_cpu_supports("avx2")) all.push_back(&avx2_parsers());
#endif
  return all;
}

void expect_same(const HeadFields& a, const HeadFields& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].value, b[i].value);
    EXPECT_EQ(a.known(i), b.known(i));
    EXPECT_EQ(a.hop_by_hop(i), b.hop_by_hop(i));
  }
}

void expect_same(const RequestHead& a, const RequestHead& b) {
  EXPECT_EQ(a.method_text, b.method_text);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.path, b.path);
  EXPECT_EQ(a.query, b.query);
  EXPECT_EQ(a.host, b.host);
  EXPECT_EQ(a.minor, b.minor);
  EXPECT_EQ(a.keep_alive, b.keep_alive);
  EXPECT_EQ(a.body.kind, b.body.kind);
  EXPECT_EQ(a.body.length, b.body.length);
  expect_same(a.fields, b.fields);
}

void expect_same(const ResponseHead& a, const ResponseHead& b) {
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.minor, b.minor);
  EXPECT_EQ(a.keep_alive, b.keep_alive);
  EXPECT_EQ(a.body.kind, b.body.kind);
  EXPECT_EQ(a.body.length, b.body.length);
  expect_same(a.fields, b.fields);
}

template <typename Head, typename Parse>
Parsed<Head> parse_all_ways(std::string_view text, const HeadLimits& limits, const Parse& parse) {
  Parsed<Head> first;
  for (const Parsers* parsers : all_parsers()) {
    if (std::min(text.size(), limits.max_bytes) < parsers->width) continue;
    Parsed<Head> parsed{{}, std::make_unique<Head>(), std::make_unique<char[]>(text.size())};
    std::memcpy(parsed.bytes.get(), text.data(), text.size());
    parsed.result = parse(*parsers, std::string_view(parsed.bytes.get(), text.size()), *parsed.head);
    if (!first.head) {
      first = std::move(parsed);
      continue;
    }
    EXPECT_EQ(parsed.result.state, first.result.state) << text;
    EXPECT_EQ(parsed.result.fault, first.result.fault) << text;
    EXPECT_EQ(parsed.result.consumed, first.result.consumed) << text;
    if (first.result.state == ParseState::kComplete) expect_same(*parsed.head, *first.head);
  }
  return first;
}

}  // namespace

Parsed<RequestHead> parse_request_all_ways(std::string_view text, const HeadLimits& limits) {
  return parse_all_ways<RequestHead>(text, limits, [&](const Parsers& parsers, std::string_view bytes, auto& head) {
    return parsers.request(bytes, limits, head);
  });
}

Parsed<ResponseHead> parse_response_all_ways(std::string_view text, Method method, const HeadLimits& limits) {
  return parse_all_ways<ResponseHead>(text, limits, [&](const Parsers& parsers, std::string_view bytes, auto& head) {
    return parsers.response(bytes, method, limits, head);
  });
}

}  // namespace edge::net::http1
