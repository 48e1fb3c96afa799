#include "runtime/policy/auth/oidc_store.h"

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

}  // namespace
}  // namespace edge::runtime::auth
