// What a viewer with few rights is shown: of the live copy, and of replies that are not made from it.
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/web/access/reply_filter.h"
#include "edgectl/web/access/reviews.h"
#include "edgectl/web/access/store_view.h"
#include "edgectl/web/access/visible.h"
#include "edgectl/web/api/object_reply.h"

namespace edge::edgectl::web {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const schemas::Kind& kind(std::string_view name) { return *schemas::find_kind(name); }

class Access : public testing::Test {
 protected:
  Access() {
    kube::Config config;
    config.cluster.server = *net::client::parse_url("http://127.0.0.1:9");
    auto client = kube::Client::make(loop_, std::move(config));
    client_ = std::move(*client);
    store_ = std::make_unique<ObjectStore>(*client_, [](std::string_view) {});
    for (const char* space : {"shop", "bank"}) {
      put("ProxyRoute", space, "api", R"("spec":{"parentRefs":[{"name":"gw","namespace":"bank"}]})");
      put("ProxyGateway", space, "gw", R"("spec":{})");
      put("ProxyBackend", space, "be", R"("spec":{})");
    }
    visible_.allow(kind("ProxyRoute"), "shop");
    visible_.allow(kind("ProxyBackend"), "shop");
  }

  void put(const std::string& kind_name, const std::string& space, const std::string& name, const std::string& more) {
    for (const auto& one : store_->kinds()) {
      if (one->kind.kind != kind_name) continue;
      kube::Object object;
      object.name_space = space;
      object.name = name;
      object.uid = space + name;
      object.text = R"({"kind":")" + kind_name + R"(","metadata":{"namespace":")" + space + R"(","name":")" + name +
                    R"("},)" + more + "}";
      store_->put(*one, std::move(object));
      one->synced = true;
    }
  }
  StoreView view() const { return {*store_, visible_}; }

  net::Loop loop_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<ObjectStore> store_;
  Visible visible_;
};

TEST_F(Access, RulesOfANamespaceAllowItsKinds) {
  Visible visible;
  const std::vector<const schemas::Kind*> kinds = {&kind("ProxyRoute"), &kind("Service"), &kind("HTTPRoute")};
  const Json whole = parse_json(R"({"incomplete":false,"resourceRules":[
    {"verbs":["get","list"],"apiGroups":["edgeproxy.io"],"resources":["*"]},
    {"verbs":["*"],"apiGroups":[""],"resources":["services"],"resourceNames":["one"]},
    {"verbs":["get"],"apiGroups":["gateway.networking.k8s.io"],"resources":["httproutes"]}]})");
  EXPECT_TRUE(add_rules(whole, kinds, "shop", visible));
  EXPECT_TRUE(visible.may_list(kind("ProxyRoute"), "shop"));
  EXPECT_FALSE(visible.may_list(kind("ProxyRoute"), "bank"));
  EXPECT_FALSE(visible.may_list(kind("ProxyRoute"), ""));
  EXPECT_FALSE(visible.may_list_some(kind("Service"))) << "names make no list";
  EXPECT_FALSE(visible.may_list_some(kind("HTTPRoute"))) << "get makes no list";
  EXPECT_FALSE(add_rules(parse_json(R"({"incomplete":true,"resourceRules":[]})"), kinds, "shop", visible));
}

TEST_F(Access, TheLiveCopyShowsWhatMayBeListed) {
  const StoreView some = view();
  EXPECT_EQ(some.find("proxygateways"), nullptr);
  const StoredKind* routes = some.find("proxyroutes");
  ASSERT_NE(routes, nullptr);
  EXPECT_NE(some.find_object(*routes, "shop/api"), nullptr);
  EXPECT_EQ(some.find_object(*routes, "bank/api"), nullptr);
  EXPECT_EQ(parse_json(objects_text(some, *routes))["rows"].size(), 1U);
  EXPECT_EQ(kind_json(some, *routes)["count"], 1);
  // Whether the gateway that it names exists is not told.
  const Json object = parse_json(json_line(object_json(some, *routes, *some.find_object(*routes, "shop/api"))));
  ASSERT_EQ(object["uses"].size(), 1U) << object.dump();
  EXPECT_EQ(object["uses"][0]["known"], nullptr);
  EXPECT_TRUE(some.referring_to({.kind = "ProxyGateway", .name_space = "bank", .name = "gw", .field = {}}).size() == 1);
  EXPECT_TRUE(some.names(route_kinds(), "shop/api"));
  EXPECT_FALSE(some.names(route_kinds(), "bank/api"));
  EXPECT_FALSE(some.names(gateway_kinds(), "shop/gw"));
}

TEST_F(Access, ExplanationsNameNothingElse) {
  const std::string rule = R"({"verdict":"VERDICT","where":"any path","route":"SPACE/api","rule":0,"match":0,
    "condition":"","failed":"","actual":""})";
  const auto of = [&](const std::string& verdict, const std::string& space) {
    std::string text = rule;
    text.replace(text.find("VERDICT"), 7, verdict);
    return text.replace(text.find("SPACE"), 5, space);
  };
  const auto explanation = [&](const std::string& winner) {
    return R"({"gateway":"bank/gw","listener":"http","hosts":[{"pattern":"bank.example","rules":[)" +
           of("won", "bank") + R"(]},{"pattern":"shop.example","rules":[)" + of("failed", "bank") + "," +
           of("failed", "shop") + R"(]}],"matched":true,"winner":)" + of("won", winner) +
           R"(,"policies":["bank/limit"],"limits":["5s"],"filters":["x"],"backends":[{"name":"bank/be"},{"name":"shop/be"}],
           "redirect":null})";
  };
  const Json foreign = parse_json(visible_explanation(explanation("bank"), view()));
  EXPECT_THAT(foreign.dump(), Not(HasSubstr("bank")));
  EXPECT_EQ(foreign["matched"], true);
  EXPECT_EQ(foreign["backends"], Json::array());
  EXPECT_EQ(foreign["hidden"], 2);
  const Json own = parse_json(visible_explanation(explanation("shop"), view()));
  EXPECT_THAT(own.dump(), Not(HasSubstr("bank")));
  EXPECT_EQ(own["winner"]["route"], "shop/api");
  EXPECT_EQ(own["filters"][0], "x");
  EXPECT_EQ(own["backends"][1]["name"], "shop/be");
  visible_.allow_everything();
  EXPECT_EQ(visible_explanation(explanation("bank"), view()), explanation("bank"));
}

TEST_F(Access, TrafficAgentsAndHistoryNameNothingElse) {
  const Json traffic = parse_json(visible_traffic(
      R"({"agents":[{"agent":"a"}],"line":[null],"faults":["x"],"routes":[{"gateway":"bank/gw","route":"shop/api"},
      {"gateway":"bank/gw","route":"bank/api"}],"backends":[{"backend":"bank/be"},{"backend":"shop/be"}]})",
      view()));
  EXPECT_THAT(traffic.dump(), Not(HasSubstr("bank")));
  EXPECT_EQ(traffic["routes"].size(), 1U);
  EXPECT_EQ(traffic["backends"].size(), 1U);
  EXPECT_EQ(traffic["agents"], Json::array());
  const std::string agent = R"({"name":"a","refused":{"program":"p","reason":"bank/api"},"backends":[
      {"namespace":"bank","name":"be"},{"namespace":"shop","name":"be"}],"vips":[{"namespace":"bank","name":"v"}],
      "unboundListeners":[{"namespace":"bank","gateway":"gw"}]})";
  for (const std::string& json : {agent, R"({"agents":[)" + agent + "]}"}) {
    const std::string shown = visible_agents(json, view());
    EXPECT_THAT(shown, Not(HasSubstr("bank")));
    EXPECT_THAT(shown, HasSubstr("shop"));
  }
  const Json history = parse_json(visible_history(
      R"([{"cause":"ProxyRoute bank/api and 1 more","user":"ann","resources":["ProxyRoute bank/api","ProxyRoute shop/api"]},
      {"cause":"ProxyRoute shop/api","user":"ben","resources":["ProxyRoute shop/api"]}])",
      view()));
  EXPECT_THAT(history.dump(), Not(HasSubstr("bank")));
  EXPECT_EQ(history[0]["resources"].size(), 1U);
  EXPECT_EQ(history[1]["cause"], "ProxyRoute shop/api");
}

TEST_F(Access, DiagnosticsNameNothingElse) {
  const std::string checked = R"({"diagnostics":[
    {"message":"no request reaches this rule: ProxyRoute bank/api takes them.","notes":["a"],"fix":"b","from":1,"to":2},
    {"message":"there is no bank/none","notes":[],"fix":"","from":3,"to":4},
    {"message":"shop/api takes a part","notes":["also bank/api"],"fix":"","from":5,"to":6},
    {"message":"shop/api takes them","notes":[],"fix":"","from":7,"to":8}],"brought":[],"solved":[]})";
  const Json shown = parse_json(visible_difference(checked, view()));
  EXPECT_THAT(shown.dump(), Not(HasSubstr("bank/api")));
  ASSERT_EQ(shown["diagnostics"].size(), 4U);
  EXPECT_EQ(shown["diagnostics"][0]["from"], 1) << "places stay";
  EXPECT_EQ(shown["diagnostics"][1]["message"], "there is no bank/none");
  EXPECT_EQ(shown["diagnostics"][2]["notes"], Json::array());
  EXPECT_EQ(shown["diagnostics"][3]["message"], "shop/api takes them");
}

}  // namespace
}  // namespace edge::edgectl::web
