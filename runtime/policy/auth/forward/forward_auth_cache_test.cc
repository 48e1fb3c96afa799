#include "runtime/policy/auth/forward/forward_auth_cache.h"

#include <string>

#include <gtest/gtest.h>

namespace edge::runtime::auth {
namespace {

using std::chrono::seconds;

constexpr net::Time kNow{std::chrono::hours(1)};

AuthResult user(const std::string& name) {
  AuthResult auth_result = AuthResult::pass();
  auth_result.request.set("X-User", name);
  return auth_result;
}

std::string known(ForwardAuthCache& cache, const std::string& forwarded, net::Time now = kNow) {
  const auto auth_result = cache.find(cache.key("p", forwarded), now);
  return auth_result == nullptr ? "" : std::string(auth_result->request.value("x-user"));
}

TEST(ForwardAuthCache, KnowsForSoLong) {
  ForwardAuthCache cache;
  cache.put(cache.key("p", "a"), user("alice"), kNow + seconds(5));
  EXPECT_EQ(known(cache, "a", kNow + seconds(4)), "alice");
  EXPECT_EQ(known(cache, "a", kNow + seconds(5)), "");
  EXPECT_EQ(cache.entries(), 0u);
}

TEST(ForwardAuthCache, PoliciesAndWhatIsToldDoNotRunIntoEachOther) {
  ForwardAuthCache cache;
  EXPECT_NE(cache.key("p", "a"), cache.key("p", "b"));
  EXPECT_NE(cache.key("p", "a"), cache.key("pa", ""));
  EXPECT_NE(cache.key("1 p", "a"), cache.key("1", " pa"));
}

TEST(ForwardAuthCache, AKeyMeansNothingElsewhere) {
  EXPECT_NE(ForwardAuthCache().key("p", "a"), ForwardAuthCache().key("p", "a")) << "nor does it show what it is of";
}

TEST(ForwardAuthCache, WhatWasUsedLongestAgoGoesFirst) {
  ForwardAuthCache cache({.entries = 2});
  for (const char* name : {"a", "b"}) cache.put(cache.key("p", name), user(name), kNow + seconds(5));
  EXPECT_EQ(known(cache, "a"), "a");
  cache.put(cache.key("p", "c"), user("c"), kNow + seconds(5));
  EXPECT_EQ(known(cache, "a"), "a");
  EXPECT_EQ(known(cache, "b"), "");
  EXPECT_EQ(known(cache, "c"), "c");
}

TEST(ForwardAuthCache, IsBoundedInBytes) {
  ForwardAuthCache cache({.entries = 1000, .bytes = 64 << 10});
  for (int i = 0; i < 1000; ++i) {
    cache.put(cache.key("p", std::to_string(i)), user(std::string(1024, 'x')), kNow + seconds(5));
  }
  EXPECT_LE(cache.entries(), 64u);
  EXPECT_GE(cache.entries(), 16u);
  cache.put(cache.key("p", "huge"), user(std::string(32 << 10, 'x')), kNow + seconds(5));
  EXPECT_EQ(known(cache, "huge"), "") << "one does not drive out the rest";
}

TEST(ForwardAuthCache, TheNewerAnswerCounts) {
  ForwardAuthCache cache;
  cache.put(cache.key("p", "a"), user("alice"), kNow + seconds(5));
  cache.put(cache.key("p", "a"), user("bob"), kNow + seconds(5));
  EXPECT_EQ(known(cache, "a"), "bob");
  EXPECT_EQ(cache.entries(), 1u);
}

}  // namespace
}  // namespace edge::runtime::auth
