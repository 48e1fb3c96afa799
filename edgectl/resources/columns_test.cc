#include "edgectl/resources/columns.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

const std::int64_t kNow = parse_timestamp("2026-03-01T12:00:00Z").value_or(0);

std::string table(const char* type, const std::vector<Json>& objects, bool wide = false) {
  const schemas::Kind* kind = schemas::find_own_kind(type);
  const Columns columns = Columns::of_kind(*kind, wide);
  TextTable text(columns.heads());
  for (const Json& object : objects) text.add(columns.cells(object, kNow));
  return "\n" + text.take(/*with_heads=*/true);
}

Json object(const char* name, const char* rest) {
  Json json = Json::parse(rest);
  json["metadata"] = {{"name", name}, {"namespace", "shop"}, {"creationTimestamp", "2026-03-01T11:00:00Z"}};
  return json;
}

Json ready(const char* status) { return Json::array({{{"type", "Ready"}, {"status", status}}}); }

TEST(Columns, OfGateways) {
  Json one = object("edge", R"({"spec":{"vipRef":"public"},"status":{"listenerCount":2}})");
  one["status"]["conditions"] = ready("True");
  EXPECT_EQ(table("gw", {one, object("new", "{}")}), R"(
NAMESPACE   NAME   VIP      LISTENERS   READY    AGE
shop        edge   public   2           True     60m
shop        new    <none>   <none>      <none>   60m
)");
}

TEST(Columns, OfRoutes) {
  Json one = object("cart", R"({"spec":{"hostnames":["a.example","b.example"]},"status":{"ruleCount":3}})");
  one["status"]["conditions"] = ready("False");
  EXPECT_EQ(table("routes", {one}), R"(
NAMESPACE   NAME   HOSTNAMES             RULES   READY   AGE
shop        cart   a.example,b.example   3       False   60m
)");
}

TEST(Columns, ComeFromTheSpecWhereThereIsNoStatus) {
  EXPECT_EQ(table("gw", {object("edge", R"({"spec":{"listeners":[{"name":"a"},{"name":"b"}]}})")}), R"(
NAMESPACE   NAME   VIP      LISTENERS   READY    AGE
shop        edge   <none>   2           <none>   60m
)");
  EXPECT_EQ(table("routes", {object("cart", R"({"spec":{"hostnames":["a.example"],"rules":[{}]},"status":{}})")}), R"(
NAMESPACE   NAME   HOSTNAMES   RULES   READY    AGE
shop        cart   a.example   1       <none>   60m
)");
  EXPECT_EQ(table("pol", {object("limit", R"({"spec":{"type":"RateLimit",
    "targetRef":{"kind":"ProxyRoute","name":"cart"}}})")}),
            R"(
NAMESPACE   NAME    TYPE        TARGET            AGE
shop        limit   RateLimit   ProxyRoute/cart   60m
)");
}

TEST(Columns, OfBackends) {
  EXPECT_EQ(table("be", {object("api", R"({"spec":{"serviceRef":{"name":"api","port":80},"lbPolicy":"P2C"},
    "status":{"endpointSummary":"2/3","conditions":[{"type":"Healthy","status":"True"}]}})")}),
            R"(
NAMESPACE   NAME   SERVICE   LB POLICY   ENDPOINTS   READY   AGE
shop        api    api       P2C         2/3         True    60m
)");
}

TEST(Columns, OfVipsPoliciesAndClusters) {
  EXPECT_EQ(table("vip", {object("public", R"({"spec":{"address":"192.0.2.1/32","mode":"L2ARP"}})")}), R"(
NAMESPACE   NAME     VIP            MODE    READY    AGE
shop        public   192.0.2.1/32   L2ARP   <none>   60m
)");
  EXPECT_EQ(table("pol", {object("limit", R"({"spec":{"type":"RateLimit"},"status":{"target":"ProxyRoute/cart"}})")}),
            R"(
NAMESPACE   NAME    TYPE        TARGET            AGE
shop        limit   RateLimit   ProxyRoute/cart   60m
)");
  EXPECT_EQ(table("cl", {object("main", R"({"status":{"version":"0.1.0","phase":"Running",
    "controller":{"summary":"1/1"},"agents":{"summary":"3/3"}}})")}),
            R"(
NAMESPACE   NAME   VERSION   PHASE     CONTROLLER   AGENTS   AGE
shop        main   0.1.0     Running   1/1          3/3      60m
)");
}

TEST(Columns, WideAndCustom) {
  EXPECT_NE(table("wp", {}, /*wide=*/true).find("ACTIVE"), std::string::npos);
  EXPECT_EQ(table("wp", {}).find("ACTIVE"), std::string::npos);
  const auto held =
      object("public", R"({"spec":{"address":"192.0.2.1/32","mode":"L2ARP"},"status":{"currentNode":"b"}})");
  EXPECT_EQ(table("vip", {held}, /*wide=*/true), R"(
NAMESPACE   NAME     VIP            MODE    READY    NODE   AGE
shop        public   192.0.2.1/32   L2ARP   <none>   b      60m
)");
  const auto custom = Columns::custom("NAME:.metadata.name,HOSTS:.spec.hostnames[*],NO:.spec.none");
  ASSERT_TRUE(custom);
  EXPECT_EQ(custom->cells(object("a", R"({"spec":{"hostnames":["x","y"]}})"), kNow),
            (std::vector<std::string>{"a", "x,y", "<none>"}));
  for (const char* wrong : {"NAME", ":.a", "A:.b,C"}) EXPECT_FALSE(Columns::custom(wrong)) << wrong;
}

TEST(Columns, ATerminalIsNotSpokenTo) {
  TextTable text({"NAME"});
  text.add({"a\x1b[31mb\xc2\x9b"});
  EXPECT_EQ(text.take(false), "a?[31mb??\n");
}

TEST(Columns, RowsOfAWatchStandBelowEachOther) {
  TextTable text({"NAME", "AGE"});
  text.add({"a-long-name", "1s"});
  EXPECT_EQ(text.take(true), "NAME          AGE\na-long-name   1s\n");
  text.add({"b", "2s"});
  EXPECT_EQ(text.take(false), "b             2s\n");
}

std::string filled(const char* text) {
  const Json list = Json::parse(R"({"items":[{"n":"a","v":[1,2]},{"n":"b","v":[]}]})");
  const auto result = fill_template(text, list);
  return result ? *result : "fault: " + result.error().text;
}

TEST(Template, FillsPathsTextsAndRanges) {
  EXPECT_EQ(filled("{.items[*].n}"), "a b");
  EXPECT_EQ(filled(".items[0].n"), "a");
  EXPECT_EQ(filled("x{.items[0].v}y"), "x[1,2]y");
  EXPECT_EQ(filled(R"({range .items[*]}{.n}={.v[*]}{"\n"}{end}.)"), "a=1 2\nb=\n.");
  EXPECT_EQ(filled(R"({range .items[*]}{range .v[*]}<{end};{end})"), "<<;;");
  EXPECT_EQ(filled(R"({range .none[*]}x{end}y)"), "y");
  EXPECT_EQ(filled(R"({"}"}{'it'})"), "}it");
}

TEST(Template, SaysWhatCannotBeRead) {
  for (const char* wrong : {"{.a", "{range .items[*]}x", "{end}", "{[}", "{\"a}"}) {
    EXPECT_EQ(filled(wrong).substr(0, 6), "fault:") << wrong;
  }
}

}  // namespace
}  // namespace edge::edgectl
