#include "edgectl/web/server/guard.h"

#include <gtest/gtest.h>

namespace edge::edgectl::web {
namespace {

net::server::Request request(net::server::FieldList fields, bool tls = false) {
  net::server::Peer peer{.address = {}, .tls = tls};
  return {.method = "POST",
          .path = "/api/explain",
          .query = {},
          .host = "127.0.0.1:9080",
          .fields = std::move(fields),
          .body = {},
          .peer = std::make_shared<const net::server::Peer>(peer)};
}

TEST(Guard, OwnHostsAreAddressesLocalhostAndTheNamesGiven) {
  for (const char* own : {"127.0.0.1", "10.0.0.1:9080", "[::1]:9080", "[fd00::1]", "localhost", "LOCALHOST:9080",
                          "edge.localhost:1", "dash.example", "Dash.Example:443"}) {
    EXPECT_TRUE(is_own_host(own, {"dash.example"})) << own;
  }
  for (const char* other : {"", ":9080", "evil.example", "localhost.evil.example", "notlocalhost",
                            "127.0.0.1.evil.example", "dash.example.evil", "[", "[]", "[evil]", "a.dash.example"}) {
    EXPECT_FALSE(is_own_host(other, {"dash.example"})) << other;
  }
}

TEST(Guard, ThePublicOriginIsOwnBehindAProxyThatEndsTls) {
  const std::string own = "https://dash.example";
  EXPECT_FALSE(foreign_call(request({{"origin", "https://dash.example"}}), own));
  EXPECT_FALSE(foreign_call(request({{"origin", "HTTPS://Dash.Example"}}), own));
  EXPECT_FALSE(foreign_call(request({{"origin", "http://127.0.0.1:9080"}}), own));
  for (const char* origin : {"null", "http://dash.example", "https://dash.example:444", "https://dash.example.evil"}) {
    EXPECT_TRUE(foreign_call(request({{"origin", origin}}), own)) << origin;
  }
  EXPECT_TRUE(foreign_call(request({{"origin", own}, {"sec-fetch-site", "cross-site"}}), own));
  EXPECT_TRUE(foreign_call(request({{"origin", own}})));
}

TEST(Guard, CallsOfOtherOriginsAreForeign) {
  EXPECT_FALSE(foreign_call(request({})));
  EXPECT_FALSE(foreign_call(request({{"sec-fetch-site", "same-origin"}, {"origin", "http://127.0.0.1:9080"}})));
  EXPECT_FALSE(foreign_call(request({{"origin", "https://127.0.0.1:9080"}}, /*tls=*/true)));
  for (const char* origin :
       {"null", "https://127.0.0.1:9080", "http://127.0.0.1", "http://127.0.0.1:90801", "http://evil.example"}) {
    EXPECT_TRUE(foreign_call(request({{"origin", origin}}))) << origin;
  }
  for (const char* site : {"cross-site", "same-site", "other"}) {
    EXPECT_TRUE(foreign_call(request({{"sec-fetch-site", site}}))) << site;
  }
}

}  // namespace
}  // namespace edge::edgectl::web
