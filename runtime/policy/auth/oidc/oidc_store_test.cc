#include "runtime/policy/auth/oidc/oidc_store.h"

#include <cstring>
#include <memory>

#include <gtest/gtest.h>

namespace edge::runtime::auth {
namespace {

// What was learnt of a provider, its keys too, was vouched for by those who were believed then.
TEST(OidcProviders, AProviderIsAskedAnewWhenOthersAreBelieved) {
  const auto removed = std::make_shared<const net::tls::Authorities>();
  const auto now = std::make_shared<const net::tls::Authorities>();
  OidcProviders providers;
  const auto before = providers.source("https://id.example", removed);
  EXPECT_EQ(providers.source("https://id.example", removed), before);
  const auto after = providers.source("https://id.example", now);
  EXPECT_NE(after, before);
  EXPECT_EQ(after->trusted(), now);
  EXPECT_EQ(providers.source("https://id.example", now), after);
}

Digest numbered(std::size_t number) {
  Digest digest{};
  std::memcpy(digest.data(), &number, sizeof number);
  return digest;
}

TEST(EndedSessions, AreKnownUntilTheirTime) {
  EndedSessions ended;
  EXPECT_TRUE(ended.none());
  ended.end(numbered(1), 100, 100);
  EXPECT_TRUE(ended.none()) << "over by itself";
  ended.end(numbered(1), 200, 100);
  ended.end(numbered(1), 200, 100);
  ended.end(numbered(2), 300, 100);
  EXPECT_FALSE(ended.none());
  EXPECT_TRUE(ended.contains(numbered(1)));
  EXPECT_TRUE(ended.contains(numbered(2)));
  EXPECT_FALSE(ended.contains(numbered(3)));
  ended.end(numbered(3), 400, 200);
  EXPECT_FALSE(ended.contains(numbered(1)));
  EXPECT_TRUE(ended.contains(numbered(2)));
}

TEST(EndedSessions, AreBounded) {
  EndedSessions ended;
  for (std::size_t i = 0; i < EndedSessions::kMax; ++i) ended.end(numbered(i), 1000 + static_cast<std::int64_t>(i), 0);
  ended.end(numbered(EndedSessions::kMax), 10'000'000, 0);
  EXPECT_FALSE(ended.contains(numbered(0))) << "that with the least time left";
  EXPECT_TRUE(ended.contains(numbered(1)));
  EXPECT_TRUE(ended.contains(numbered(EndedSessions::kMax)));
}

}  // namespace
}  // namespace edge::runtime::auth
