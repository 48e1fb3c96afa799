#include "program/values/endpoints.h"

#include <gmock/gmock.h>

#include "base/hash.h"

namespace edge::program {
namespace {

using ::testing::HasSubstr;

std::string fault(std::string_view json) {
  const auto set = read_endpoints(json);
  return set ? "" : set.error().text;
}

TEST(Endpoints, AreReadSortedAndWrittenBack) {
  const auto set = read_endpoints(R"({"backends":[{"namespace":"shop","name":"api","endpoints":[
      {"address":"127.0.0.2","port":8080},
      {"address":"127.0.0.1","port":8081,"ready":false},
      {"address":"127.0.0.2","port":8080,"ready":false},
      {"address":"::1","port":80,"ready":true}]},
      {"namespace":"shop","name":"web","endpoints":[]}]})");
  ASSERT_TRUE(set.ok()) << set.error().text;
  ASSERT_EQ(set->backends.size(), 2u);
  const BackendEndpoints& api = set->backends[set->backends[0].name == "api" ? 0 : 1];
  EXPECT_EQ(api.backend_id, stable_id("ProxyBackend", "shop", "api"));
  ASSERT_EQ(api.endpoints.size(), 3u);
  EXPECT_EQ(to_string(api.endpoints[0].address), "::1");
  EXPECT_FALSE(api.endpoints[1].ready);
  EXPECT_TRUE(api.endpoints[2].ready) << "of doubles the ready one stays";
  const auto again = read_endpoints(write_endpoints(*set));
  ASSERT_TRUE(again.ok()) << again.error().text;
  EXPECT_EQ(*again, *set);
}

TEST(Endpoints, FaultsAreNamed) {
  EXPECT_THAT(fault(""), HasSubstr("not JSON"));
  EXPECT_THAT(fault("{\"backends\":[}"), HasSubstr("not JSON at byte"));
  EXPECT_THAT(fault("[]"), HasSubstr("unexpected a list"));
  EXPECT_THAT(fault(R"({"backend":[]})"), HasSubstr("unknown field `backend`"));
  EXPECT_THAT(fault(R"({"backends":[{"name":"a"}]})"), HasSubstr("needs `namespace` and `name`"));
  const auto endpoint = [](const std::string& body) {
    return fault(R"({"backends":[{"namespace":"n","name":"a","endpoints":[{)" + body + "}]}]}");
  };
  EXPECT_THAT(endpoint(R"("address":"127.0.0.1")"), HasSubstr("needs `address` and `port`"));
  EXPECT_THAT(endpoint(R"("address":"localhost","port":1)"), HasSubstr("`localhost` is no IP address"));
  EXPECT_THAT(endpoint(R"("address":"127.0.0.1","port":0)"), HasSubstr("1 to 65535"));
  EXPECT_THAT(endpoint(R"("address":"127.0.0.1","port":65536)"), HasSubstr("1 to 65535"));
  EXPECT_THAT(endpoint(R"("address":"127.0.0.1","port":-1)"), HasSubstr("negative"));
  EXPECT_THAT(endpoint(R"("address":"127.0.0.1","port":1,"ready":1)"), HasSubstr("at `ready`"));
  EXPECT_THAT(fault(R"({"backends":[{"namespace":"n","name":"a"},{"namespace":"n","name":"a"}]})"),
              HasSubstr("n/a stands twice"));
}

TEST(Endpoints, HostileNestingEndsAtOnce) {
  EXPECT_NE(fault(std::string(1 << 20, '[')), "");
  EXPECT_NE(fault(R"({"backends":)" + std::string(1 << 20, '[')), "");
  EXPECT_THAT(fault(std::string((64u << 20) + 1, ' ')), HasSubstr("larger than 64 MiB"));
}

}  // namespace
}  // namespace edge::program
