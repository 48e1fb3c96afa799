// Names of endpoints on their way from the API by a controller to an agent, which resolves them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/control/world.h"
#include "tests/support/name_server.h"

namespace edge::test {
namespace {

class Names : public Parts {
 protected:
  void point(const std::string& address) { names_.set("api.test", {.addresses = {address}, .lifetime = 1}); }
  Json by_name() const {
    return own("ProxyBackend", "be",
               {{"endpoints", {{{"address", "api.test:" + std::to_string(backend_.port)}, {"weight", 2}}}}});
  }

  NameServer names_;
};

TEST_F(Names, AreResolvedByTheAgentAndFollowedWhenTheirAnswersEnd) {
  point("127.0.0.1");
  auto server = serve_api();
  auto control = controller();
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(by_name());
  api.apply(route("all", "/all"));
  const std::vector<std::string> asks = {"--name-servers", names_.address(), "--deny-calls-to", "none"};
  auto proxy = agent("one", "controller", asks);
  const int port = port_of(*proxy);
  EXPECT_TRUE(answers(port, "/all", "200")) << proxy->process.err_text() << control->err_text();
  // The agent's health comes back to the API by the same way.
  EXPECT_TRUE(api.says("ProxyBackend", "be", "Healthy", "True")) << api.get("ProxyBackend", "be").dump();
  // Nobody listens there.
  const int asked = names_.asked("api.test");
  point("127.0.0.9");
  EXPECT_TRUE(answers(port, "/all", "50")) << "the answer lasts for a second";
  EXPECT_GT(names_.asked("api.test"), asked);
  point("127.0.0.1");
  EXPECT_TRUE(answers(port, "/all", "200")) << proxy->process.err_text();
  // Without the controller, too, and after a restart of the agent.
  control.reset();
  point("127.0.0.9");
  EXPECT_TRUE(answers(port, "/all", "50"));
  point("127.0.0.1");
  EXPECT_TRUE(answers(port, "/all", "200"));
  proxy.reset();
  proxy = agent("one", "controller", asks);
  EXPECT_TRUE(answers(port_of(*proxy), "/all", "200")) << proxy->process.err_text();
}

/// Whoever writes objects of a cluster reaches no admin port of a node by a name.
TEST_F(Names, ThatLeadToTheNodeItselfAreNotCalled) {
  point("127.0.0.1");
  auto server = serve_api();
  auto control = controller();
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(by_name());
  api.apply(route("all", "/all"));
  auto proxy = agent("one", "controller", {"--name-servers", names_.address()});
  const int port = port_of(*proxy);
  EXPECT_TRUE(answers(port, "/all", "503")) << proxy->process.err_text();
}

}  // namespace
}  // namespace edge::test
