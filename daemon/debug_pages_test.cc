#include "daemon/debug_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::daemon {
namespace {

AdminRequest request(std::string method, std::string path, std::string host = "127.0.0.1:9091",
                     net::server::FieldList fields = {}) {
  AdminRequest made;
  made.method = std::move(method);
  made.path = std::move(path);
  made.host = std::move(host);
  made.fields = std::move(fields);
  return made;
}

DebugPages two_pages() {
  DebugPages pages;
  pages.add({"/debug/level", "GET", "the level", [](const AdminRequest&) { return text_reply(200, "got"); }});
  pages.add({"/debug/level", "PUT", "sets it", [](const AdminRequest&) { return text_reply(200, "put"); }});
  return pages;
}

TEST(DebugPages, FindsAPageByPathAndVerb) {
  const DebugPages pages = two_pages();
  EXPECT_EQ(pages.answer(request("GET", "/debug/level"))->body, "got");
  EXPECT_EQ(pages.answer(request("HEAD", "/debug/level"))->body, "got");
  EXPECT_EQ(pages.answer(request("PUT", "/debug/level"))->body, "put");
  EXPECT_FALSE(pages.answer(request("GET", "/debugger")));
  EXPECT_EQ(pages.answer(request("GET", "/debug/nope"))->status, 404);
  const auto refused = pages.answer(request("DELETE", "/debug/level"));
  EXPECT_EQ(refused->status, 405);
  EXPECT_EQ(refused->fields.at(0), (std::pair<std::string, std::string>("Allow", "GET, HEAD, PUT")));
}

TEST(DebugPages, ListsWhatThereIs) {
  const DebugPages pages = two_pages();
  for (const char* path : {"/debug", "/debug/"}) {
    EXPECT_EQ(pages.answer(request("GET", path))->body, "GET  /debug/level  the level\nPUT  /debug/level  sets it\n");
    EXPECT_EQ(pages.answer(request("POST", path))->status, 405);
  }
}

TEST(Foreign, LetsAddressesAndLocalhostIn) {
  for (const char* host : {"127.0.0.1", "127.0.0.1:9091", "[::1]", "[::1]:9091", "localhost:1", "localhost"}) {
    EXPECT_FALSE(foreign(request("GET", "/debug/", host))) << host;
  }
}

TEST(Foreign, RefusesNamesThatOthersMayGiveThisMachine) {
  for (const char* host : {"", "evil.example", "evil.example:9091", "127.0.0.1.evil.example", "localhost.evil.example",
                           "[::1", "[evil]:1", "127.0.0.1:1:2"}) {
    EXPECT_TRUE(foreign(request("GET", "/debug/", host))) << host;
  }
}

TEST(Foreign, RefusesWhatABrowserSendsForAPage) {
  EXPECT_EQ(foreign(request("POST", "/debug/", "localhost", {{"Origin", "https://evil.example"}}))->status, 403);
  EXPECT_EQ(foreign(request("POST", "/debug/", "localhost", {{"Origin", "null"}}))->status, 403);
  EXPECT_TRUE(foreign(request("GET", "/debug/", "localhost", {{"Sec-Fetch-Site", "cross-site"}})));
  EXPECT_TRUE(foreign(request("GET", "/debug/", "localhost", {{"Sec-Fetch-Site", "same-site"}})));
  EXPECT_FALSE(foreign(request("GET", "/debug/", "localhost", {{"Sec-Fetch-Site", "none"}})));
}

TEST(Parameter, IsTheFirstOfItsName) {
  EXPECT_EQ(parameter("a=1&b=2&a=3", "a"), "1");
  EXPECT_EQ(parameter("a=1&b", "b"), "");
  EXPECT_EQ(parameter("%61=x%20y+z%2", "a"), "x y z%2");
  EXPECT_FALSE(parameter("a=1", "b"));
  EXPECT_FALSE(parameter("", ""));
  EXPECT_EQ(number_parameter("n=7", "n", 1, 10), 7U);
  EXPECT_EQ(number_parameter("", "n", 1, 10), 1U);
  for (const char* bad : {"n=11", "n=", "n=-1", "n=1x", "n=99999999999999999999"}) {
    EXPECT_FALSE(number_parameter(bad, "n", 1, 10)) << bad;
  }
}

}  // namespace
}  // namespace edge::daemon
