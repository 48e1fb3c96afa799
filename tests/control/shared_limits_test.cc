// A rate limit of scope Cluster on three agents of one controller, as processes.
#include <array>
#include <memory>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "tests/cli/scraped.h"
#include "tests/control/world.h"

namespace edge::test {
namespace {

constexpr int kBurst = 300;
constexpr int kContacts = 40;  ///< routes by which it is found out who hears whom

class SharedLimits : public Parts {
 protected:
  /// Sends requests one by one over one connection. \returns how many passed; every one is answered 200 or 429.
  static int passed(int port, const std::string& path, int requests) {
    const std::string codes =
        run_command({"curl", "-s", "-m", "60", "-H", "Host: a", "-o", "/dev/null", "-w", "%{http_code}\n",
                     "http://127.0.0.1:" + std::to_string(port) + path + "?[1-" + std::to_string(requests) + "]"})
            .out;
    std::istringstream answers(codes);
    int passed = 0;
    int refused = 0;
    for (std::string code; std::getline(answers, code);) {
      passed += code == "200" ? 1 : 0;
      refused += code == "429" ? 1 : 0;
    }
    EXPECT_EQ(passed + refused, requests) << codes;
    return passed;
  }

  /// Sends single requests until one is refused. \returns how many passed.
  static int passed_until_refused(int port, const std::string& path) {
    int count = 0;
    EXPECT_TRUE(eventually([&] {
      const int one = passed(port, path, 1);
      count += one;
      return one == 0;
    }));
    return count;
  }

  /// Whether the agent's program comes to have the policy, or to have it no more.
  static bool becomes_limited(const ProxyProcess& agent, bool limited) {
    return eventually([&] {
      return (Scraped(agent.metrics_port).text().find("policy=\"default/together\"") != std::string::npos) == limited;
    });
  }
  /// Waits until each agent hears what passes on the others: the share of one that has not begun to talk is 1, too.
  static void await_contact(const std::array<int, 3>& ports) {
    static int turn = 0;
    for (const int from : ports) {
      EXPECT_TRUE(eventually([&] {
        // A key that has been used up tells nothing.
        if (turn == kContacts) return false;
        const std::string path = "/contact-" + std::to_string(turn++);
        bool heard = passed(from, path, kBurst + 50) == kBurst;
        for (const int port : ports) heard = heard && (port == from || passed_until_refused(port, path) < kBurst);
        return heard;
      }));
    }
  }
  static bool share_is(const ProxyProcess& agent, int share) {
    return eventually([&] { return Scraped(agent.metrics_port).number("edge_shared_limit_share") == share; });
  }
};

TEST_F(SharedLimits, HoldOnThreeAgentsTogetherAndWithoutTheControllerByShares) {
  auto server = serve_api();
  auto control = controller();
  std::array<std::unique_ptr<ProxyProcess>, 3> agents = {agent("one"), agent("two"), agent("three")};
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  for (const std::string name : {"a", "b", "c", "d", "e"}) api.apply(route(name, "/" + name));
  for (int i = 0; i < kContacts; ++i) {
    const std::string name = "contact-" + std::to_string(i);
    api.apply(route(name, "/" + name));
  }
  const Json policy =
      own("ProxyPolicy", "together",
          {{"type", "RateLimit"},
           {"targetRef", {{"kind", "ProxyGateway"}, {"name", "gw"}}},
           {"rateLimit",
            {{"scope", "Cluster"}, {"limits", {{{"requests", kBurst}, {"per", "Day"}, {"keys", {"path"}}}}}}}});
  api.apply(policy);
  ASSERT_TRUE(eventually([&] { return api.says("ProxyPolicy", "together", "Programmed", "True"); }))
      << api.get("ProxyPolicy", "together").dump();
  std::array<int, 3> ports{};
  for (std::size_t i = 0; i < 3; ++i) {
    agents[i]->wait_ready();
    ports[i] = agents[i]->port;
    ASSERT_NE(ports[i], 0);
    ASSERT_TRUE(answers(ports[i], "/c", "200"));
    ASSERT_TRUE(becomes_limited(*agents[i], true));
  }
  await_contact(ports);

  // Used up on one, it is on the others as soon as they have heard of it: each would let the whole burst pass by
  // itself.
  EXPECT_EQ(passed(ports[0], "/a", kBurst + 50), kBurst);
  EXPECT_LT(passed_until_refused(ports[1], "/a"), kBurst);
  EXPECT_LT(passed_until_refused(ports[2], "/a"), kBurst);

  // All at once: within the bound, (N - 1) x burst beyond what one may, and not less than that.
  int all = 0;
  for (int round = 0; round < 12; ++round) {
    for (const int port : ports) all += passed(port, "/b", 50);
  }
  EXPECT_GE(all, kBurst);
  EXPECT_LE(all, 3 * kBurst);
  for (const int port : ports) EXPECT_EQ(passed_until_refused(port, "/b"), 0);
  for (const auto& agent : agents) {
    EXPECT_EQ(Scraped(agent->metrics_port).number("edge_shared_limit_untold_total"), 0) << "two keys are few";
  }

  // The limit goes and comes again: agents stop to talk about it, and begin anew.
  api.remove("ProxyPolicy", "together");
  for (const auto& agent : agents) ASSERT_TRUE(becomes_limited(*agent, false));
  for (const int port : ports) EXPECT_EQ(passed(port, "/c", kBurst + 50), kBurst + 50);
  for (const auto& agent : agents) ASSERT_TRUE(share_is(*agent, 1)) << "no limit is shared";
  api.apply(policy);
  for (const auto& agent : agents) ASSERT_TRUE(becomes_limited(*agent, true));
  await_contact(ports);
  EXPECT_EQ(passed(ports[0], "/e", kBurst + 50), kBurst);
  EXPECT_LT(passed_until_refused(ports[1], "/e"), kBurst);
  EXPECT_LT(passed_until_refused(ports[2], "/e"), kBurst);

  // The controller is killed. Requests are answered all the same, and each agent has a third.
  control->send_signal(SIGKILL);
  control->wait_exit();
  EXPECT_EQ(passed(ports[0], "/b", 10), 0);
  for (const auto& agent : agents) ASSERT_TRUE(share_is(*agent, 3));
  for (const int port : ports) EXPECT_EQ(passed(port, "/d", 150), kBurst / 3);
}

}  // namespace
}  // namespace edge::test
