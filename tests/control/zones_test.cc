// Zones on their way from the API by a controller to agents: of endpoints by EndpointSlices, of agents by their Node.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "tests/control/world.h"

namespace edge::test {
namespace {

using testing::HasSubstr;

Json node_of(const std::string& zone) {
  Json labels = {{"kubernetes.io/hostname", "n1"}};
  if (!zone.empty()) labels["topology.kubernetes.io/zone"] = zone;
  return {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "n1"}, {"labels", std::move(labels)}}}};
}

class Zones : public Parts {
 protected:
  /// Of the Service `be`, in a zone.
  static void put_endpoint(Api& api, const std::string& name, int port, const std::string& zone,
                           const std::string& hint = {}) {
    Json endpoint = {{"addresses", {"127.0.0.1"}}, {"zone", zone}};
    if (!hint.empty()) endpoint["hints"]["forZones"] = Json::array({{{"name", hint}}});
    api.apply({{"apiVersion", "discovery.k8s.io/v1"},
               {"kind", "EndpointSlice"},
               {"metadata", {{"name", name}, {"labels", {{"kubernetes.io/service-name", "be"}}}}},
               {"addressType", "IPv4"},
               {"ports", {{{"name", "http"}, {"port", port}}}},
               {"endpoints", Json::array({std::move(endpoint)})}});
  }
  static void put_service(Api& api, const std::string& distribution) {
    Json spec = {{"ports", {{{"name", "http"}, {"port", 80}}}}};
    if (!distribution.empty()) spec["trafficDistribution"] = distribution;
    api.apply({{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", {{"name", "be"}}}, {"spec", std::move(spec)}});
  }
  /// The name of the endpoint that answers twenty requests in a row; `both`: more than one.
  static std::string who(int port) {
    const std::string first = curl(port, "/all");
    for (int n = 1; n < 20; ++n) {
      if (curl(port, "/all") != first) return "both";
    }
    return first;
  }
  static bool becomes(int port, const std::string& name) {
    return eventually([&] { return who(port).find(name) != std::string::npos; });
  }

  Backend west_{"two"};
};

TEST_F(Zones, AnAgentPrefersEndpointsOfTheZoneOfItsNode) {
  auto server = serve_api();
  auto control = controller();
  Api api(dir_ / "api/kubeconfig");
  api.apply(node_of("east"));
  api.apply_world(backend_.port);
  put_service(api, "PreferClose");
  put_endpoint(api, "be-1", backend_.port, "east");
  put_endpoint(api, "be-2", west_.port, "west");
  api.apply(route("all", "/all"));
  auto of_node = agent("of-node", "controller", {"--node", "n1"});
  auto own = agent("own", "controller", {"--node", "n1", "--zone", "west"});
  auto none = agent("none", "controller", {"--node", "n2"});
  const int port = port_of(*of_node);
  EXPECT_TRUE(becomes(port, "one")) << who(port) << of_node->process.err_text();
  EXPECT_TRUE(becomes(port_of(*own), "two"));
  EXPECT_TRUE(becomes(port_of(*none), "both"));
  EXPECT_TRUE(eventually([&] {
    const Finished said = edgectl({"agent", "backends", "of-node"});
    return said.out.find("reserve") != std::string::npos && said.out.find("ZONE") != std::string::npos;
  })) << edgectl({"agent", "backends", "of-node"}).out;
  EXPECT_THAT(api.get("ProxyBackend", "be")["status"]["endpoints"].dump(), HasSubstr(R"("zone":"west")"));

  // The Node moves; then the controller and the agent start again, the agent without a controller.
  api.apply(node_of("west"));
  EXPECT_TRUE(becomes(port, "two")) << of_node->process.err_text();
  EXPECT_TRUE(of_node->process.wait_err("this agent is in zone west"));
  control->send_signal(SIGTERM);
  EXPECT_EQ(control->wait_exit(), 0) << control->err_text();
  of_node.reset();
  of_node = agent("of-node", "controller", {"--node", "n1"});
  const int again = port_of(*of_node);
  EXPECT_TRUE(becomes(again, "two")) << of_node->process.err_text();
  control = controller();

  // Hints go before zones, and neither counts when the Service does not ask for it.
  put_endpoint(api, "be-2", west_.port, "west", "east");
  put_endpoint(api, "be-1", backend_.port, "east", "west");
  EXPECT_TRUE(becomes(again, "one")) << of_node->process.err_text();
  put_endpoint(api, "be-1", backend_.port, "east");
  put_endpoint(api, "be-2", west_.port, "west");
  EXPECT_TRUE(becomes(again, "two"));
  put_service(api, "");
  EXPECT_TRUE(becomes(again, "both"));
  put_service(api, "PreferSameZone");
  EXPECT_TRUE(becomes(again, "two"));
  api.apply(node_of(""));
  EXPECT_TRUE(becomes(again, "both")) << of_node->process.err_text();
}

}  // namespace
}  // namespace edge::test
