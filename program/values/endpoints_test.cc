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

TEST(Endpoints, NamesAndWeightsAreReadAndWrittenBack) {
  const auto set = read_endpoints(R"({"backends":[{"namespace":"shop","name":"api","endpoints":[
      {"address":"127.0.0.2","port":8080,"weight":2},
      {"address":"127.0.0.2","port":8080,"weight":7}],
      "names":[{"host":"b.example.org","port":443},{"host":"_http._tcp.a.example.org.","port":0,"weight":256},
      {"host":"b.example.org","port":443,"weight":3},{"host":"my_container","port":80}]}]})");
  ASSERT_TRUE(set.ok()) << set.error().text;
  const BackendEndpoints& api = set->backends[0];
  ASSERT_EQ(api.endpoints.size(), 1u);
  EXPECT_EQ(api.endpoints[0].weight, 7) << "of doubles the heavier one stays";
  const std::vector<EndpointName> names = {
      {"_http._tcp.a.example.org.", 0, 256}, {"b.example.org", 443, 3}, {"my_container", 80, 1}};
  EXPECT_EQ(api.names, names);
  const auto again = read_endpoints(write_endpoints(*set));
  ASSERT_TRUE(again.ok()) << again.error().text;
  EXPECT_EQ(*again, *set);
}

TEST(Endpoints, ZonesAreReadAndWrittenBack) {
  const auto set = read_endpoints(R"({"backends":[{"namespace":"shop","name":"api","endpoints":[
      {"address":"127.0.0.2","port":80,"zones":["eu-1b"]},{"address":"127.0.0.1","port":80,"zones":["a","b_2.c"]},
      {"address":"127.0.0.3","port":80,"zones":[]}],"names":[{"host":"b.example.org","port":443,"zones":["z"]}]}]})");
  ASSERT_TRUE(set.ok()) << set.error().text;
  const BackendEndpoints& api = set->backends[0];
  EXPECT_EQ(zones_text(api.endpoints[0].zones), "a, b_2.c");
  EXPECT_EQ(zones_text(api.endpoints[1].zones), "eu-1b");
  EXPECT_EQ(zones_text(api.endpoints[2].zones), "");
  EXPECT_EQ(zones_text(api.names[0].zones), "z");
  const auto again = read_endpoints(write_endpoints(*set));
  ASSERT_TRUE(again.ok()) << again.error().text;
  EXPECT_EQ(*again, *set);
  const auto zones = [](const std::string& list) {
    return fault(R"({"backends":[{"namespace":"n","name":"a","endpoints":[{"address":"::1","port":1,"zones":)" + list +
                 "}]}]}");
  };
  EXPECT_EQ(zones(R"(["1","2","3","4","5","6","7","8"])"), "");
  EXPECT_THAT(zones(R"(["1","2","3","4","5","6","7","8","9"])"), HasSubstr("more than 8 zones"));
  EXPECT_THAT(zones(R"([""])"), HasSubstr("is no name of a zone"));
  EXPECT_THAT(zones("[\"" + std::string(64, 'a') + "\"]"), HasSubstr("is no name of a zone"));
  EXPECT_THAT(zones(R"("a")"), HasSubstr("unexpected a string"));
  EXPECT_THAT(zones(R"([["a"]])"), HasSubstr("unexpected a list"));
}

TEST(Endpoints, FaultsOfNamesAreNamed) {
  const auto name = [](const std::string& body) {
    return fault(R"({"backends":[{"namespace":"n","name":"a","names":[{)" + body + "}]}]}");
  };
  EXPECT_EQ(name(R"("host":"a","port":1)"), "");
  EXPECT_THAT(name(R"("port":1)"), HasSubstr("needs `host`"));
  EXPECT_THAT(name(R"("host":"a","port":65536)"), HasSubstr("1 to 65535"));
  EXPECT_THAT(name(R"("host":"a","port":1,"weight":0)"), HasSubstr("1 to 256"));
  EXPECT_THAT(name(R"("host":"a","port":1,"weight":257)"), HasSubstr("1 to 256"));
  EXPECT_THAT(name(R"("host":"a","address":"127.0.0.1")"), HasSubstr("unknown field `address`"));
  for (const std::string& wrong :
       {std::string("A.example"), std::string("a..b"), std::string("-a"), std::string("a b"), std::string("."),
        std::string("a/b"), std::string(64, 'a'), std::string(127, 'a') + "." + std::string(127, 'b')}) {
    EXPECT_THAT(name("\"host\":\"" + wrong + "\",\"port\":1"), HasSubstr("is no name of a host")) << wrong;
  }
  std::string many;
  for (int n = 0; n < 257; ++n) many += (n == 0 ? "" : ",") + std::string(R"({"host":"a","port":1})");
  EXPECT_THAT(fault(R"({"backends":[{"namespace":"n","name":"a","names":[)" + many + "]}]}"),
              HasSubstr("more than 256"));
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
