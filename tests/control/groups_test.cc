// Groups of agents: what is held or released in one changes nothing in the others.
#include <map>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "tests/control/world.h"

namespace edge::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class AgentGroups : public Parts {
 protected:
  Json json_of(const std::vector<std::string>& words) {
    const Finished finished = edgectl(words);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return Json::parse(finished.out, nullptr, false);
  }
  /// By name.
  std::map<std::string, Json> agents() {
    std::map<std::string, Json> all;
    const Json listed = json_of({"agents", "list", "-o", "json"});
    for (const Json& agent : listed["agents"]) all[agent["name"]] = agent;
    return all;
  }
  std::size_t programs_in_history(const std::string& group) {
    return json_of({"history", "--group", group, "-o", "json"}).size();
  }
};

const std::vector<std::string> kCanary = {"--label", "edgeproxy.io/group=canary", "--label", "tier=edge"};

Json node_in(const std::string& group) {
  Json labels = {{"kubernetes.io/hostname", "n1"}};
  if (!group.empty()) labels["edgeproxy.io/group"] = group;
  return {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "n1"}, {"labels", std::move(labels)}}}};
}

TEST_F(AgentGroups, AnAgentIsInTheGroupOfItsNodeUnlessItSaysItsOwn) {
  auto server = serve_api();
  auto control = controller();
  Api api(dir_ / "api/kubeconfig");
  api.apply(node_in("canary"));
  auto of_node = agent("of-node", "controller", {"--node", "n1"});
  auto own = agent("own", "controller", {"--node", "n1", "--label", "edgeproxy.io/group=lab"});
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  const int port = port_of(*of_node);
  EXPECT_TRUE(answers(port, "/a", "200")) << control->err_text();
  const auto is_in = [&](const std::string& name, const std::string& group) {
    return eventually([&] {
      const Json agent = agents()[name];
      return agent.is_object() && agent.value("connected", false) && agent.value("group", "") == group;
    });
  };
  EXPECT_TRUE(is_in("of-node", "canary"));
  EXPECT_TRUE(is_in("own", "lab"));

  api.apply(node_in("spare"));
  EXPECT_TRUE(is_in("of-node", "spare")) << control->err_text();
  EXPECT_TRUE(is_in("own", "lab"));
  EXPECT_THAT(curl(port, "/a"), testing::StartsWith("200"));
  api.apply(route("b", "/b"));
  EXPECT_TRUE(answers(port, "/b", "200"));

  // A controller that starts while the API is away gives it no other group's program.
  control->send_signal(SIGTERM);
  EXPECT_EQ(control->wait_exit(), 0) << control->err_text();
  server->send_signal(SIGKILL);
  server->wait_exit();
  control = controller();
  EXPECT_TRUE(is_in("of-node", "spare")) << control->err_text();
  server = serve_api();
  api.apply(node_in(""));
  EXPECT_TRUE(is_in("of-node", "default")) << control->err_text();
}

TEST_F(AgentGroups, ARollbackOfOneHoldsItsAgentsAlone) {
  auto server = serve_api();
  auto control = controller();
  auto all = agent("all");
  auto canary = agent("canary", "controller", kCanary);
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  const int all_port = port_of(*all);
  const int canary_port = port_of(*canary);
  ASSERT_TRUE(answers(all_port, "/a", "200"));
  ASSERT_TRUE(answers(canary_port, "/a", "200"));
  ASSERT_TRUE(api.says("ProxyRoute", "a", "Programmed", "True"));
  const std::string before = agents()["canary"]["program"];
  ASSERT_TRUE(eventually([&] {
    const Json history = json_of({"history", "--group", "canary", "-o", "json"});
    return !history.empty() && history[0]["program"] == before;
  }));

  const Finished held = edgectl({"rollback", "--group", "canary", before.substr(0, 12)});
  EXPECT_EQ(held.code, 0) << held.err;
  EXPECT_THAT(held.out, HasSubstr("the group canary serves " + before));
  api.apply(route("b", "/b"));
  EXPECT_TRUE(answers(all_port, "/b", "200"));
  EXPECT_THAT(curl(canary_port, "/b"), testing::StartsWith("404"));
  EXPECT_TRUE(
      eventually([&] { return api.condition("ProxyRoute", "b", "Programmed").value("reason", "") == "RolledBack"; }));
  EXPECT_THAT(api.condition("ProxyRoute", "b", "Programmed").value("message", ""),
              HasSubstr("a rollback holds agents of the group canary to the program " + before));
  // It says that it runs it after the first request that it serves by it.
  EXPECT_TRUE(eventually([&] {
    const Json agent = agents()["all"];
    return agent["program"] != before && agent["program"] == agent["published"];
  }));
  std::map<std::string, Json> now = agents();
  EXPECT_EQ(now["all"]["group"], "default");
  EXPECT_EQ(now["canary"]["group"], "canary");
  EXPECT_EQ(now["canary"]["labels"], Json({{"edgeproxy.io/group", "canary"}, {"tier", "edge"}}));
  EXPECT_EQ(now["canary"]["program"], before);
  EXPECT_EQ(now["canary"]["published"], before);
  EXPECT_THAT(edgectl({"agents", "list"}).out, Not(HasSubstr("Behind")));
  EXPECT_THAT(edgectl({"history", "--group", "canary"}).out, HasSubstr("pinned"));
  EXPECT_THAT(edgectl({"history"}).out, Not(HasSubstr("pinned")));

  // Over a restart of the controller, before it has read the cluster.
  control.reset();
  control = controller();
  EXPECT_TRUE(eventually([&] {
    const Json agent = agents()["canary"];
    return agent.is_object() && agent.value("connected", false);
  }));
  api.apply(route("c", "/c"));
  EXPECT_TRUE(answers(all_port, "/c", "200"));
  EXPECT_THAT(curl(canary_port, "/c"), testing::StartsWith("404"));
  EXPECT_EQ(agents()["canary"]["program"], before);

  EXPECT_EQ(edgectl({"rollback", "--group", "canary", "--release"}).code, 0);
  EXPECT_TRUE(answers(canary_port, "/c", "200"));
  EXPECT_TRUE(api.says("ProxyRoute", "c", "Programmed", "True"));
}

TEST_F(AgentGroups, AGatewayIsServedByTheGroupsThatItNames) {
  auto server = serve_api();
  auto control = controller();
  auto all = agent("all");
  auto canary = agent("canary", "controller", kCanary);
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  const int all_port = port_of(*all);
  const int canary_port = port_of(*canary);
  ASSERT_TRUE(answers(all_port, "/a", "200"));
  ASSERT_TRUE(answers(canary_port, "/a", "200"));

  // On the port of the other, under a name of its own.
  Json own_gateway = own("ProxyGateway", "of-canary", api.get("ProxyGateway", "gw")["spec"]);
  own_gateway["spec"]["agentGroups"] = {"canary"};
  own_gateway["spec"]["listeners"][0]["hostnames"] = {"canary.example"};
  own_gateway["spec"]["listeners"][0]["name"] = "canary";
  api.apply(own_gateway);
  Json own_route = route("of-canary", "/own");
  own_route["spec"]["parentRefs"] = {{{"name", "of-canary"}}};
  api.apply(own_route);
  const auto asks = [&](int port) {
    return run_command({"curl", "-s", "-o", dir_ / "body", "-w", "%{http_code}", "-H", "Host: canary.example",
                        "http://127.0.0.1:" + std::to_string(port) + "/own"})
        .out;
  };
  EXPECT_TRUE(eventually([&] { return asks(canary_port) == "200"; }));
  EXPECT_EQ(asks(all_port), "404");
  EXPECT_TRUE(api.says("ProxyGateway", "of-canary", "Programmed", "True"));
  EXPECT_TRUE(api.says("ProxyRoute", "of-canary", "Programmed", "True"));
  EXPECT_TRUE(eventually([&] {
    std::map<std::string, Json> now = agents();
    return now["all"]["program"] != now["canary"]["program"] && now["all"]["program"] == now["all"]["published"] &&
           now["canary"]["program"] == now["canary"]["published"];
  }));
  EXPECT_TRUE(answers(canary_port, "/a", "200"));
}

TEST_F(AgentGroups, AnAgentThatIsStartedWithAnotherLabelChangesItsGroup) {
  auto server = serve_api();
  auto control = controller();
  auto all = agent("all");
  auto moves = agent("moves", "controller", kCanary);
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  const int all_port = port_of(*all);
  ASSERT_TRUE(answers(port_of(*moves), "/a", "200"));
  ASSERT_TRUE(answers(all_port, "/a", "200"));
  ASSERT_TRUE(eventually([&] { return programs_in_history("canary") > 0 && agents()["all"]["program"] != ""; }));
  const std::string before = agents()["moves"]["program"];
  ASSERT_TRUE(eventually([&] { return edgectl({"rollback", "--group", "canary", before}).code == 0; }));
  api.apply(route("b", "/b"));
  ASSERT_TRUE(answers(all_port, "/b", "200"));
  EXPECT_EQ(agents()["moves"]["program"], before);

  moves.reset();
  moves = agent("moves");
  const int port = port_of(*moves);
  EXPECT_TRUE(answers(port, "/b", "200"));
  EXPECT_EQ(agents()["moves"]["group"], "default");
  moves.reset();
  moves = agent("moves", "controller", kCanary);
  EXPECT_TRUE(eventually([&] {
    const Json agent = agents()["moves"];
    return agent["group"] == "canary" && agent["program"] == before;
  }));
}

TEST_F(AgentGroups, ALabelThatIsNoneIsToldAtTheStart) {
  auto server = serve_api();
  auto control = controller();
  for (const char* label : {"group", "a b=c", "a=../b"}) {
    const Finished refused =
        run_command({"edge-agent", "--controller", "127.0.0.1:" + controller_ports_["controller"], "--name", "one",
                     "--token-file", dir_ / "controller/agents/join", "--data-dir", dir_ / "one", "--label", label});
    EXPECT_NE(refused.code, 0);
    EXPECT_THAT(refused.err, HasSubstr("is no label: KEY=VALUE"));
  }
}

}  // namespace
}  // namespace edge::test
