#include "controller/status/agents_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/ip.h"
#include "controller/status/vip_status.h"

namespace edge::controller {
namespace {

using testing::HasSubstr;
using StatusJson = nlohmann::json;

AgentState connected_agent(const std::string& name, const Labels& labels) {
  AgentState state;
  state.name = name;
  state.node = "node-" + name;
  state.labels = labels;
  state.connected = true;
  return state;
}

VirtualAddress vip_address(const std::string& name, const char* ip, const Labels& selector) {
  VirtualAddress made;
  made.name_space = "shop";
  made.name = name;
  if (*ip != '\0') made.address = *parse_ip(ip);
  made.node_selector = selector;
  made.site = *ip == '\0';
  return made;
}

AgentVip said_by_own(const std::string& name, bool held, const std::string& unfit) {
  AgentVip vip{.agent = "edge-1", .node = "node-edge-1", .state = {}};
  vip.state.name_space = "shop";
  vip.state.name = name;
  vip.state.held = held;
  vip.state.unfit = unfit;
  vip.state.reason = unfit.empty() ? "" : "other labels";
  return vip;
}

/// `reason: message` of a condition of a ProxyVIP.
std::string condition_of_vip(const AgentsView& view, const std::string& name, const std::string& type) {
  StatusJson status = {{"conditions", StatusJson::array()}};
  overlay_vip(view, name, status);
  for (const StatusJson& one : status["conditions"]) {
    if (one["type"] == type) {
      return one["status"].get<std::string>() + " " + one["reason"].get<std::string>() + ": " +
             one["message"].get<std::string>();
    }
  }
  return {};
}

class BehindRelays : public testing::Test {
 protected:
  BehindRelays() {
    addresses_.addresses = {
        vip_address("any", "198.51.100.1", {}), vip_address("tills", "198.51.100.2", {{"at", "till"}}),
        vip_address("desks", "198.51.100.3", {{"at", "desk"}}), vip_address("north", "", {{"at", "till"}})};
  }
  AgentsView look(bool own_agent) const {
    std::vector<AgentState> agents = {connected_agent("shop-17:till-1", {{"at", "till"}})};
    AgentsView view;
    if (own_agent) {
      agents.push_back(connected_agent("edge-1", {}));
      view.vips["shop/any"] = {said_by_own("any", true, "")};
      view.vips["shop/tills"] = {said_by_own("tills", false, "NotSelected"),
                                 said_by_own("tills", false, "NotSelected")};
    }
    add_behind_relays(agents, addresses_, view);
    return view;
  }
  VirtualAddresses addresses_;
};

TEST_F(BehindRelays, WhoeverWouldHaveAnAddressAndIsGivenNoneIsNamed) {
  for (const bool own_agent : {false, true}) {
    const AgentsView view = look(own_agent);
    for (const char* type : {"Ready", "Announced"}) {
      EXPECT_EQ(condition_of_vip(view, "shop/tills", type),
                "False BehindRelay: agent shop-17:till-1: its relay passes on no virtual addresses");
    }
    EXPECT_THAT(condition_of_vip(view, "shop/tills", "Degraded"), HasSubstr("True BehindRelay"));
    EXPECT_FALSE(view.vips.contains("shop/desks")) << "nobody has its labels";
    ASSERT_TRUE(view.wan.sites.contains("shop/north"));
    EXPECT_EQ(view.wan.sites.at("shop/north").agent, "shop-17:till-1");
  }
}

TEST_F(BehindRelays, AnAddressForWhoeverThereIsMissesNothingWhereSomebodyHoldsIt) {
  EXPECT_THAT(condition_of_vip(look(false), "shop/any", "Ready"), HasSubstr("BehindRelay"));
  EXPECT_THAT(condition_of_vip(look(true), "shop/any", "Ready"), HasSubstr("True Held"));
  EXPECT_THAT(condition_of_vip(look(true), "shop/any", "Degraded"), HasSubstr("False"));
}

}  // namespace
}  // namespace edge::controller
