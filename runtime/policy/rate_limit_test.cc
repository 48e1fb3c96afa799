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

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr net::Time kStart{hours(24 * 30)};

struct Key {
  RateKey key;
  std::string_view name{};
};

RateLimit limit_by(std::initializer_list<Key> keys, std::uint64_t requests = 1, net::Duration period = seconds(1),
                   std::uint64_t burst = 1, std::uint64_t id = 1) {
  TestSection section;
  std::vector<program::RateKeyRecord> parts;
  for (const Key& key : keys) parts.push_back({key.key, section.string(key.name)});
  const program::RateRecord record{requests, static_cast<std::uint64_t>(period.count()), burst, section.array(parts)};
  const program::PolicyRecord policy{id, {}, {}, program::PolicyType::kRateLimit, 0};
  return {section.view(), policy, record};
}

RateLimit limit(RateKey key, std::string_view name = {}, std::uint64_t burst = 1, std::uint64_t id = 1) {
  return limit_by({{key, name}}, 1, seconds(1), burst, id);
}

class RateLimitPolicy : public ::testing::Test {
 protected:
  bool passes(const RateLimit& limit, std::string_view lines, std::string_view source = "192.0.2.1",
              const VerifiedClient* client = nullptr) {
    const TestRequest request(lines, source);
    EXPECT_TRUE(request.complete()) << lines;
    return !RateLimitGroup{{&limit}}.pass(request.policy_request(kStart), client, table_);
  }

  std::optional<PolicyAnswer> pass_all(std::initializer_list<const RateLimit*> limits, net::Duration after,
                                       std::string_view source = "192.0.2.1") {
    const TestRequest request("GET /a HTTP/1.1\nHost: a", source);
    return RateLimitGroup{limits}.pass(request.policy_request(kStart + after), nullptr, table_);
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
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(pass_all({&by_host}, net::Duration(0)));
  const auto refused = pass_all({&by_host}, std::chrono::milliseconds(1));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 429);
  EXPECT_EQ(refused->reason, "rate-limited");
  EXPECT_EQ(refused->fields,
            "Retry-After: 1\r\nRateLimit-Limit: 3\r\nRateLimit-Remaining: 0\r\nRateLimit-Reset: 3\r\n");
}

TEST_F(RateLimitPolicy, CountsByCombinations) {
  const RateLimit both = limit_by({{RateKey::kSourceIp}, {RateKey::kHeader, "x-key"}});
  constexpr std::string_view kOne = "GET / HTTP/1.1\nHost: a\nX-Key: one";
  constexpr std::string_view kTwo = "GET / HTTP/1.1\nHost: a\nX-Key: two";
  EXPECT_TRUE(passes(both, kOne));
  EXPECT_FALSE(passes(both, kOne));
  EXPECT_TRUE(passes(both, kTwo));
  EXPECT_TRUE(passes(both, kOne, "192.0.2.2"));
  EXPECT_FALSE(passes(both, kTwo));
  const RateLimit other_order = limit_by({{RateKey::kHeader, "x-key"}, {RateKey::kSourceIp}});
  EXPECT_TRUE(passes(other_order, kOne)) << "another limit";
}

TEST_F(RateLimitPolicy, CountsByWhoTheClientIs) {
  const RateLimit by_identity = limit(RateKey::kIdentity);
  constexpr std::string_view kGet = "GET / HTTP/1.1\nHost: a";
  const VerifiedClient alice{{}, "BasicAuth alice"};
  const VerifiedClient bob{{}, "BasicAuth bob"};
  const VerifiedClient nobody;
  EXPECT_TRUE(by_identity.key().by_identity());
  EXPECT_TRUE(passes(by_identity, kGet, "192.0.2.1", &alice));
  EXPECT_FALSE(passes(by_identity, kGet, "192.0.2.2", &alice));
  EXPECT_TRUE(passes(by_identity, kGet, "192.0.2.1", &bob));
  EXPECT_TRUE(passes(by_identity, kGet, "192.0.2.1", &nobody));
  EXPECT_FALSE(passes(by_identity, kGet)) << "who is not verified and who has no name share a bucket";
}

TEST_F(RateLimitPolicy, TheStrictestOfSeveralAnswersAndNoneIsChargedForARefusal) {
  const RateLimit a_second = limit_by({{RateKey::kHost}}, 2, seconds(1), 2);
  const RateLimit a_minute = limit_by({{RateKey::kHost}}, 3, minutes(1), 3);
  const RateLimit an_hour = limit_by({{RateKey::kHost}}, 100, hours(1), 100);
  const auto pass = [&](net::Duration after) { return pass_all({&a_second, &a_minute, &an_hour}, after); };
  EXPECT_FALSE(pass(seconds(0)));
  EXPECT_FALSE(pass(seconds(0)));
  auto refused = pass(seconds(0));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->fields,
            "Retry-After: 1\r\nRateLimit-Limit: 2\r\nRateLimit-Remaining: 0\r\nRateLimit-Reset: 1\r\n");
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(pass(seconds(0)));
  // None of the refused was charged to the minute: its third is there.
  EXPECT_FALSE(pass(seconds(1)));
  refused = pass(seconds(1));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->fields,
            "Retry-After: 19\r\nRateLimit-Limit: 3\r\nRateLimit-Remaining: 0\r\nRateLimit-Reset: 59\r\n");
  // Both refuse: the one that lasts longer answers.
  EXPECT_FALSE(pass(seconds(20)));
  refused = pass(seconds(20));
  ASSERT_TRUE(refused);
  EXPECT_THAT(refused->fields, ::testing::HasSubstr("RateLimit-Limit: 3"));
  std::uint64_t passed = 4;
  for (int second = 21; second < 3600; ++second) passed += pass(seconds(second)) ? 0 : 1;
  EXPECT_EQ(passed, 3U + 179U) << "three at once, and three a minute until the hour is over";
}

}  // namespace
}  // namespace edge::runtime
