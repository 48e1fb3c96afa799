#include "runtime/policy/rate_limit.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/policy/test_policy_request.h"

namespace edge::runtime {
namespace {

using program::RateKey;
using testing::TestRequest;
using testing::TestSection;

constexpr net::Time kStart{std::chrono::hours(1)};

RateLimit limit(RateKey key, std::string_view name = {}, std::uint64_t burst = 1, std::uint64_t id = 1) {
  TestSection section;
  const program::RateLimitRecord record{1, burst, key, 0, section.string(name)};
  const program::PolicyRecord policy{id, {}, {}, program::PolicyType::kRateLimit, 0};
  return {section.view(), policy, record};
}

class RateLimitPolicy : public ::testing::Test {
 protected:
  bool passes(const RateLimit& limit, std::string_view lines, std::string_view source = "192.0.2.1") {
    const TestRequest request(lines, source);
    EXPECT_TRUE(request.complete()) << lines;
    return !limit.pass(request.policy_request(kStart), table_);
  }

  RateLimitTable table_{1024};
};

TEST_F(RateLimitPolicy, CountsBySource) {
  const RateLimit by_source = limit(RateKey::kSourceIp);
  constexpr std::string_view kGet = "GET / HTTP/1.1\nHost: a";
  EXPECT_TRUE(passes(by_source, kGet, "192.0.2.1"));
  EXPECT_FALSE(passes(by_source, kGet, "192.0.2.1"));
  EXPECT_TRUE(passes(by_source, kGet, "192.0.2.2"));
  EXPECT_TRUE(passes(by_source, kGet, "2001:db8:0:1::1"));
  EXPECT_FALSE(passes(by_source, kGet, "2001:db8:0:1:ffff::2")) << "a /64 is one client";
  EXPECT_TRUE(passes(by_source, kGet, "2001:db8:0:2::1"));
}

TEST_F(RateLimitPolicy, CountsByHeader) {
  const RateLimit by_header = limit(RateKey::kHeader, "x-api-key");
  EXPECT_TRUE(passes(by_header, "GET / HTTP/1.1\nHost: a\nX-Api-Key: one"));
  EXPECT_FALSE(passes(by_header, "GET / HTTP/1.1\nHost: a\nx-api-KEY: one"));
  EXPECT_TRUE(passes(by_header, "GET / HTTP/1.1\nHost: a\nX-Api-Key: two"));
  EXPECT_TRUE(passes(by_header, "GET / HTTP/1.1\nHost: a\nX-Api-Key: one\nX-Api-Key: two"));
  EXPECT_TRUE(passes(by_header, "GET / HTTP/1.1\nHost: a"));
  EXPECT_FALSE(passes(by_header, "GET / HTTP/1.1\nHost: b", "192.0.2.9")) << "who has none shares a bucket";
}

TEST_F(RateLimitPolicy, CountsByCookieQueryHostAndPath) {
  const RateLimit by_cookie = limit(RateKey::kCookie, "sid", 1, 2);
  EXPECT_TRUE(passes(by_cookie, "GET / HTTP/1.1\nHost: a\nCookie: x=1; sid=a=b; sid=z"));
  EXPECT_FALSE(passes(by_cookie, "GET / HTTP/1.1\nHost: a\nCookie: sid=a=b"));
  EXPECT_TRUE(passes(by_cookie, "GET / HTTP/1.1\nHost: a\nCookie: sid=a"));
  EXPECT_TRUE(passes(by_cookie, "GET / HTTP/1.1\nHost: a\nCookie: xsid=a"));
  EXPECT_FALSE(passes(by_cookie, "GET / HTTP/1.1\nHost: a"));

  const RateLimit by_query = limit(RateKey::kQuery, "key", 1, 3);
  EXPECT_TRUE(passes(by_query, "GET /?a=1&key=x&key=y HTTP/1.1\nHost: a"));
  EXPECT_FALSE(passes(by_query, "GET /other?key=x HTTP/1.1\nHost: a"));
  EXPECT_TRUE(passes(by_query, "GET /?key HTTP/1.1\nHost: a"));
  EXPECT_TRUE(passes(by_query, "GET /?keys=x HTTP/1.1\nHost: a"));
  EXPECT_FALSE(passes(by_query, "GET / HTTP/1.1\nHost: a"));

  const RateLimit by_host = limit(RateKey::kHost, {}, 1, 4);
  EXPECT_TRUE(passes(by_host, "GET / HTTP/1.1\nHost: a"));
  EXPECT_FALSE(passes(by_host, "GET /x HTTP/1.1\nHost: a"));

  const RateLimit by_path = limit(RateKey::kPath, {}, 1, 5);
  EXPECT_TRUE(passes(by_path, "GET /a HTTP/1.1\nHost: a"));
  EXPECT_FALSE(passes(by_path, "GET /a?x HTTP/1.1\nHost: a"));
  EXPECT_TRUE(passes(by_path, "GET /b HTTP/1.1\nHost: a"));

  const RateLimit by_claim = limit(RateKey::kJwtClaim, "sub", 1, 6);
  EXPECT_TRUE(passes(by_claim, "GET /a HTTP/1.1\nHost: a"));
  EXPECT_FALSE(passes(by_claim, "GET /b HTTP/1.1\nHost: b", "192.0.2.9"));
}

TEST_F(RateLimitPolicy, KeepsItsBucketsWhereNothingChanged) {
  constexpr std::string_view kGet = "GET / HTTP/1.1\nHost: a";
  EXPECT_TRUE(passes(limit(RateKey::kHost), kGet));
  EXPECT_FALSE(passes(limit(RateKey::kHost), kGet)) << "the next program has the same policy";
  EXPECT_TRUE(passes(limit(RateKey::kHost, {}, 2), kGet)) << "another burst";
  EXPECT_TRUE(passes(limit(RateKey::kHost, {}, 1, 2), kGet)) << "another policy";
  EXPECT_TRUE(passes(limit(RateKey::kPath), kGet)) << "another key";
}

TEST_F(RateLimitPolicy, SaysWhenToComeBack) {
  const RateLimit by_host = limit(RateKey::kHost, {}, 3);
  const TestRequest request("GET / HTTP/1.1\nHost: a");
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(by_host.pass(request.policy_request(kStart), table_));
  const auto refused = by_host.pass(request.policy_request(kStart + std::chrono::milliseconds(1)), table_);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 429);
  EXPECT_EQ(refused->reason, "rate-limited");
  EXPECT_EQ(refused->fields,
            "Retry-After: 1\r\nRateLimit-Limit: 3\r\nRateLimit-Remaining: 0\r\nRateLimit-Reset: 3\r\n");
}

}  // namespace
}  // namespace edge::runtime
