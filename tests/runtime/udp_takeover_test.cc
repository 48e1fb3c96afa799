// UDP listeners whose process another one succeeds, or whose port another one has.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/udp_proxy.h"

namespace edge::test {
namespace {

TEST_F(Udp, AProcessThatTakesOverHasThePortAndLosesNothing) {
  start();
  Echo a("a");
  const std::string config = gateway() + backend("be", {a.port()}) + route("backendRefs: [{name: be}]");
  serve(config);
  const std::uint16_t served = port();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(clients.emplace_back(std::make_unique<Client>(served))->ask("q"), "a:q");
  }
  std::unique_ptr<runtime::Server> before = std::move(server);
  std::vector<runtime::ListeningSockets> sockets = before->share_listeners();
  ASSERT_EQ(sockets.size(), 1U);
  EXPECT_TRUE(sockets[0].udp);
  start(3);
  server->adopt(std::move(sockets));
  serve(config);
  EXPECT_EQ(port(), served);
  EXPECT_TRUE(before->drain(std::chrono::seconds(20)));
  // One of an older version gives no flows.
  server->take_flows({});
  for (const auto& client : clients) EXPECT_EQ(client->ask("again"), "a:again");
  before.reset();
  for (const auto& client : clients) EXPECT_EQ(client->ask("more"), "a:more");
}

// Flows go on by the sockets that they have to their endpoints, which see no other client; those whose endpoint the new
// process does not have begin anew.
TEST_F(Udp, AProcessThatTakesOverGoesOnWithFlows) {
  start();
  Echo a("a");
  Echo b("b");
  Echo c("c");
  const std::string listener = gateway();
  const std::string to_be = route("backendRefs: [{name: be}]");
  serve(listener + backend("be", {a.port(), b.port(), c.port()}) + to_be);
  const std::uint16_t served = port();
  std::vector<std::pair<std::unique_ptr<Client>, std::string>> flows;
  for (int i = 0; i < 30; ++i) {
    auto client = std::make_unique<Client>(served);
    std::string answer = client->ask("port");
    flows.emplace_back(std::move(client), std::move(answer));
  }
  std::unique_ptr<runtime::Server> before = std::move(server);
  std::vector<runtime::ListeningSockets> sockets = before->share_listeners();
  start(3);
  server->adopt(std::move(sockets));
  serve(listener + backend("be", {a.port(), b.port()}) + to_be);
  EXPECT_EQ(port(), served);
  // Both have the sockets, and one receives.
  for (const auto& [client, answer] : flows) EXPECT_EQ(client->ask("port"), answer);
  EXPECT_EQ(server->stats().udp_sessions_active, 0U);
  // An answer that is due comes, whoever has the socket meanwhile.
  const auto& waiting = *std::ranges::find_if(flows, [](const auto& flow) { return flow.second.starts_with("a:"); });
  ASSERT_TRUE(waiting.first->send("many 3"));
  EXPECT_EQ(waiting.first->receive(), "a:many 3");
  server->take_flows(before->give_flows());
  EXPECT_EQ(before->stats().udp_sessions_active, 0U);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(waiting.first->receive(), "a:many 3");
  EXPECT_TRUE(before->drain(std::chrono::seconds(20)));
  before.reset();
  for (const auto& [client, answer] : flows) {
    const std::string now = client->ask("port");
    if (answer.starts_with("c:")) {
      EXPECT_FALSE(now.starts_with("c:") || now == "?") << now;
    } else {
      EXPECT_EQ(now, answer);
    }
  }
  EXPECT_EQ(server->stats().udp_sessions_active, flows.size());
  // New flows have all of it, too.
  EXPECT_NE(Client(served).ask("new"), "?");
}

TEST_F(Udp, APortThatAnotherProcessHasIsReportedAndTriedAgain) {
  Fd other = socket_of(net::listen_udp(std::nullopt, 0));
  const std::uint16_t taken = net::local_address(other.get()).port;
  start(2, 100, false);
  Echo a("a");
  const std::string config =
      "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: g}\nspec: {listeners: [{name: dns, "
      "port: " +
      std::to_string(taken) + ", protocol: UDP}]}\n";
  serve(config + backend("be", {a.port()}) + route("backendRefs: [{name: be}]"));
  const auto unbound = server->unbound();
  ASSERT_EQ(unbound.size(), 1U);
  EXPECT_EQ(unbound[0].listener, "dns");
  EXPECT_EQ(unbound[0].fault, runtime::ListenFault::kPort);
  EXPECT_NE(unbound[0].reason.find("UDP port"), std::string::npos) << unbound[0].reason;
  other.reset();
  EXPECT_TRUE(server->recheck_listeners());
  EXPECT_TRUE(server->unbound().empty());
  EXPECT_EQ(Client(taken).ask("q"), "a:q");
}

TEST_F(Udp, OneNumberIsAPortOfUdpAndOneOfTcp) {
  start();
  Echo a("a");
  serve(
      "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: g}\nspec: {listeners: [{name: dns, "
      "port: "
      "53, protocol: UDP}, {name: zone, port: 53, protocol: TCP}]}\n" +
      backend("be", {a.port()}) + route("backendRefs: [{name: be}]"));
  ASSERT_EQ(server->addresses().size(), 2U);
  for (const runtime::BoundAddress& one : server->addresses()) {
    if (one.listener == "dns") EXPECT_EQ(Client(one.port).ask("q"), "a:q");
  }
}

}  // namespace
}  // namespace edge::test
