// What one controller of a cluster revokes, at the others: by the object that all of them follow.
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "tests/control/world.h"

namespace edge::test {
namespace {

using testing::HasSubstr;

class SharedRevocations : public Parts {
 protected:
  /// One more controller, whose new directory begins with the identity of `first`.
  std::unique_ptr<Process> further(const std::string& name) {
    const std::filesystem::path identity(dir_ / "identity");
    std::filesystem::create_directories(identity);
    for (const char* file : {"signing.key", "agents/ca.pem", "agents/join"}) {
      const std::filesystem::path from(dir_ / ("first/" + std::string(file)));
      std::filesystem::copy_file(from, identity / from.filename(), std::filesystem::copy_options::skip_existing);
    }
    return controller(name, {"--leader-elect", "--lease-namespace", "default", "--identity-dir", identity.string()});
  }
  Finished of_object(const std::string& verb) {
    return run_command({"edgectl", verb, "configmap", "edge-revoked-agents", "-n", "default", "--kubeconfig",
                        dir_ / "api/kubeconfig", "-o", verb == "get" ? "json" : "name"});
  }
  /// Lines `name milliseconds`.
  std::string revoked() {
    const Json map = Json::parse(of_object("get").out, nullptr, false);
    return map.is_object() && map.contains("data") ? map["data"].value("revoked", "") : std::string();
  }
  bool is_told(const std::string& agent) {
    return eventually([&] { return revoked().find(agent + " ") != std::string::npos; });
  }
  /// As a controller lists it.
  bool is(const std::string& status, const std::string& agent, const std::string& of) {
    return eventually([&] {
      std::istringstream lines(edgectl({"agents", "list"}, of).out);
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(agent + " ") && line.find(" " + status + " ") != std::string::npos) return true;
      }
      return false;
    });
  }
};

TEST_F(SharedRevocations, AnAgentThatOneControllerRevokedIsRefusedByAll) {
  auto server = serve_api();
  auto first = controller("first", {"--leader-elect", "--lease-namespace", "default"});
  auto second = further("second");
  auto one = agent("one", "second");
  auto two = agent("two", "second");
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  ASSERT_TRUE(answers(port_of(*one), "/a", "200"));
  ASSERT_TRUE(answers(port_of(*two), "/a", "200"));

  // The controller that is asked has never seen the agent. Twice is once.
  for (int i = 0; i < 2; ++i) {
    const Finished revoke = edgectl({"agents", "revoke", "one"}, "first");
    EXPECT_EQ(revoke.code, 0) << revoke.err;
  }
  EXPECT_THAT(revoked(), HasSubstr("one "));
  const Finished relayed = edgectl({"agents", "revoke", "shop-17:till-1"}, "first");
  EXPECT_NE(relayed.code, 0);
  EXPECT_THAT(relayed.err, HasSubstr("the relay of shop-17 has issued the certificate of shop-17:till-1"));
  EXPECT_TRUE(is("Lost", "one", "second"));
  EXPECT_TRUE(is("Current", "two", "second"));

  // A controller that begins with an empty directory, and one that begins anew, refuse it too; another agent comes.
  auto third = further("third");
  second->send_signal(SIGKILL);
  second->wait_exit();
  second = further("second");
  one->process.send_signal(SIGKILL);
  one->process.wait_exit();
  two->process.send_signal(SIGKILL);
  two->process.wait_exit();
  for (const std::string of : {"second", "third"}) {
    auto again = agent("one", of);
    EXPECT_TRUE(again->process.wait_err("is revoked")) << of;
    auto other = agent("two", of);
    EXPECT_TRUE(is("Current", "two", of)) << of;
    again->process.send_signal(SIGKILL);
    again->process.wait_exit();
    other->process.send_signal(SIGKILL);
    other->process.wait_exit();
  }

  // Whoever removes the object changes nothing: controllers write what they know.
  const Finished removed = of_object("delete");
  EXPECT_EQ(removed.code, 0) << removed.err;
  EXPECT_TRUE(is_told("one"));
}

TEST_F(SharedRevocations, WhatIsRevokedWhileTheApiIsAwayIsToldWhenItIsBack) {
  auto server = serve_api();
  auto first = controller("first", {"--leader-elect", "--lease-namespace", "default"});
  auto one = agent("one", "first");
  {
    Api api(dir_ / "api/kubeconfig");
    api.apply_world(backend_.port);
    api.apply(route("a", "/a"));
    ASSERT_TRUE(answers(port_of(*one), "/a", "200"));
  }
  server->send_signal(SIGKILL);
  server->wait_exit();
  const Finished revoke = edgectl({"agents", "revoke", "one"}, "first");
  EXPECT_NE(revoke.code, 0);
  EXPECT_THAT(revoke.err, HasSubstr("is revoked at this controller; the others do not know it yet"));
  EXPECT_TRUE(one->process.wait_err("is revoked"));
  server = serve_api();
  EXPECT_TRUE(is_told("one"));
}

}  // namespace
}  // namespace edge::test
