// What a running edge-standalone goes on doing while something else is edited.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/proxy_process.h"

namespace edge::test {
namespace {

using testing::StartsWith;

// Of "secret" and "other".
constexpr const char* kFirstHash = "{SHA256}K7gNU3sdo+OL0wNhqoVWhr3g6s1xYv72ol/pe/Unols=";
constexpr const char* kSecondHash = "{SHA256}2SmKENGwc1g33EvYXaxkGw887yekfl1TpU8vP1svz/o=";

std::string users(const std::string& hash) {
  return "apiVersion: v1\nkind: Secret\nmetadata: {name: users}\nstringData: {htpasswd: 'alice:" + hash + "'}\n";
}

constexpr const char* kBasicAuth =
    "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: closed}\n"
    "spec: {type: BasicAuth, targetRef: {kind: ProxyRoute, name: closed}, basicAuth: {secretRef: {name: users}}}\n";

TEST(LiveEdits, OfOtherThingsLeaveAPolicyItsPasswords) {
  TempDir dir;
  Backend backend("one");
  dir.put("config/base.yaml", base_config(backend.port));
  dir.put("config/closed.yaml", route_config("closed", "/closed") + "---\n" + kBasicAuth);
  dir.put("config/users.yaml", users(kFirstHash));
  dir.put("config/other.yaml", route_config("other", "/other"));
  ProxyProcess proxy({"edge-standalone", "--config", dir / "config", "--data-dir", dir / "data"});
  ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
  const auto expect_closed = [&](const std::string& after) {
    EXPECT_THAT(curl(proxy.port, "/closed", {"-u", "alice:secret"}), StartsWith("200 one got GET /closed")) << after;
    EXPECT_THAT(curl(proxy.port, "/closed", {"-u", "alice:other"}), StartsWith("401 ")) << after;
    EXPECT_THAT(curl(proxy.port, "/closed"), StartsWith("401 ")) << after;
  };
  expect_closed("the start");
  dir.put("config/other.yaml", route_config("other", "/elsewhere"));
  ASSERT_NE(proxy.wait_programmed(), "") << proxy.process.err_text();
  EXPECT_EQ(curl(proxy.port, "/elsewhere"), "200 one got GET /elsewhere");
  // Secrets travel beside the program: by the second edit those of the first have come.
  dir.put("config/more.yaml", route_config("more", "/more"));
  ASSERT_NE(proxy.wait_programmed(), "") << proxy.process.err_text();
  expect_closed("edits of other routes");

  dir.put("config/users.yaml", users(kSecondHash));
  dir.put("config/more.yaml", route_config("more", "/more/yet"));
  ASSERT_NE(proxy.wait_programmed(), "") << proxy.process.err_text();
  EXPECT_THAT(curl(proxy.port, "/closed",
                   {"-u", "alice:other", "--retry", "20", "--retry-delay", "1", "--retry-all-errors", "--fail"}),
              StartsWith("200 one got GET /closed"));
}

}  // namespace
}  // namespace edge::test
