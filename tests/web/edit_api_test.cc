// Editing, differences, claims and time through the API of `edgectl web`, in front of a running edge-standalone.
#include <chrono>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "tests/web/world.h"

namespace edge::test {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Json until(const std::function<Json()>& ask, const std::function<bool(const Json&)>& good) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  Json reply = ask();
  while (!good(reply) && std::chrono::steady_clock::now() < end) reply = ask();
  return reply;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " is not in " << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class WebEdit : public testing::Test {
 protected:
  void serve(const std::vector<std::string>& flags = {}) {
    ASSERT_EQ(world_.serve(flags), "");
    until([&] { return get("/api/problems"); },
          [](const Json& got) { return got.dump().find("broken") != std::string::npos; });
  }
  Json get(const std::string& path) { return parse_json(world_.ask(path).body); }
  Json post(const std::string& path, const Json& body, int status = 200) {
    const HttpReply reply = world_.post(path, json_line(body));
    EXPECT_EQ(reply.status, status) << path << " " << reply.body;
    EXPECT_THAT(reply.body, Not(HasSubstr(kPlanted))) << path;
    return parse_json(reply.body);
  }
  /// A draft of an object as it is.
  Json draft(const std::string& name, const std::string& plural = "proxyroutes") {
    const Json edit = get("/api/edit/" + plural + "/default/" + name);
    return {{"plural", plural},
            {"namespace", "default"},
            {"name", name},
            {"version", text_in(edit, "version")},
            {"yaml", text_in(edit, "yaml")}};
  }
  Json progress_of(const Json& written) {
    return until([&] { return post("/api/progress", {{"objects", {written["object"]}}}); },
                 [](const Json& got) { return got["over"] == true; });
  }
  /// The store follows what was written.
  void wait_for(const std::string& path, const std::string& text) {
    until([&] { return get(path); }, [&](const Json& got) { return got.dump().find(text) != std::string::npos; });
  }

  WebWorld world_;
};

TEST_F(WebEdit, ADraftIsComparedAppliedAndFollowedToTheAgents) {
  serve();
  Json asked = draft("cart");
  EXPECT_THAT(asked["yaml"].get<std::string>(), AllOf(HasSubstr("kind: ProxyRoute"), Not(HasSubstr("status"))));
  EXPECT_EQ(post("/api/apply", asked)["done"], "unchanged");
  asked["yaml"] = replaced(asked["yaml"], "/cart", "/basket");
  const Json checked = post("/api/check", asked);
  EXPECT_EQ(checked["errors"], 0) << checked.dump();
  asked["claims"] = {"host == \"shop.example\" AND path exact \"/cart\" implies backend default/be"};
  const Json difference = post("/api/difference", asked);
  EXPECT_EQ(difference["equal"], false);
  ASSERT_EQ(difference["classes"].size(), 1U) << difference.dump();
  EXPECT_THAT(difference["classes"].dump(), AllOf(HasSubstr("GET http://shop.example:8080/basket"),
                                                  HasSubstr("default/cart rules[0]"), HasSubstr("404")));
  ASSERT_EQ(difference["claims"].size(), 1U);
  EXPECT_EQ(difference["claims"][0]["after"]["result"], "holds") << difference["claims"].dump();
  // What was hidden is reached now.
  EXPECT_THAT(difference["solved"].dump(), HasSubstr("ProxyRoute default/late")) << difference.dump();
  const Json written = post("/api/apply", asked);
  EXPECT_EQ(written["done"], "configured");
  const Json progress = progress_of(written);
  EXPECT_EQ(progress["failed"], false) << progress.dump();
  EXPECT_EQ(progress["agents"][0]["name"], "standalone");
  EXPECT_EQ(progress["agents"][0]["state"], "current");
  EXPECT_THAT(curl(world_.proxy().port, "/basket", {"-H", "Host: shop.example"}), HasSubstr("200"));
}

TEST_F(WebEdit, DiagnosticsStandWhereTheyBelong) {
  serve();
  Json asked = draft("cart");
  const std::string yaml = replaced(asked["yaml"], "matches", "machtes");
  asked["yaml"] = yaml;
  const Json checked = post("/api/check", asked);
  ASSERT_GE(checked["errors"], 1) << checked.dump();
  const Json& first = checked["diagnostics"][0];
  EXPECT_THAT(first["code"].get<std::string>(), HasSubstr("EDGE"));
  EXPECT_EQ(first["from"], yaml.find("machtes")) << first.dump();
  asked["yaml"] = "kind: [\n";
  EXPECT_GE(post("/api/check", asked)["errors"], 1);
  asked["yaml"] = replaced(yaml, "name: cart", "name: other");
  EXPECT_THAT(post("/api/check", asked)["diagnostics"].dump(), HasSubstr("cannot be changed"));
  // What becomes of others is told, too.
  Json backend = draft("be", "proxybackends");
  backend["remove"] = true;
  const Json difference = post("/api/difference", backend);
  EXPECT_THAT(difference["brought"].dump(), HasSubstr("ProxyRoute default/cart")) << difference.dump();
  EXPECT_EQ(difference["equal"], false);
}

TEST_F(WebEdit, AWriteOfAnotherVersionIsRefused) {
  serve();
  Json asked = draft("cart");
  ASSERT_EQ(world_.edgectl("patch route cart --type merge -p '{\"spec\":{\"hostnames\":[\"other.example\"]}}'").code,
            0);
  asked["yaml"] = replaced(asked["yaml"], "/cart", "/basket");
  const Json conflict = post("/api/apply", asked, 409);
  EXPECT_EQ(conflict["conflict"], true);
  EXPECT_THAT(conflict["yaml"].get<std::string>(), HasSubstr("other.example"));
  const Json removal = post("/api/delete", asked, 409);
  EXPECT_EQ(removal["conflict"], true);
  asked["version"] = conflict["version"];
  EXPECT_EQ(post("/api/apply", asked)["done"], "configured");
  // The draft was kept over the other's change, as asked for.
  EXPECT_THAT(world_.edgectl("get route cart -o yaml").out, AllOf(HasSubstr("/basket"), HasSubstr("shop.example")));
}

TEST_F(WebEdit, HiddenValuesStayAsTheyAre) {
  serve();
  Json asked = draft("broken");
  EXPECT_THAT(asked["yaml"].get<std::string>(), AllOf(HasSubstr("<redacted>"), Not(HasSubstr(kPlanted))));
  asked["yaml"] = replaced(asked["yaml"], "broken.example", "mended.example");
  EXPECT_THAT(post("/api/difference", asked).dump(), HasSubstr("mended.example"));
  post("/api/check", asked);
  EXPECT_EQ(post("/api/apply", asked)["done"], "configured");
  EXPECT_THAT(world_.edgectl("get route broken -o yaml").out, AllOf(HasSubstr(kPlanted), HasSubstr("mended.example")));
  asked = draft("cart");
  asked["yaml"] = replaced(asked["yaml"], "shop.example", "<redacted>");
  EXPECT_THAT(post("/api/apply", asked, 400).dump(), HasSubstr("no value is hidden"));
}

TEST_F(WebEdit, ObjectsAreCreatedAndDeleted) {
  serve();
  Json asked = draft("cart");
  asked["name"] = asked["namespace"] = "";
  EXPECT_THAT(post("/api/check", asked)["diagnostics"].dump(), HasSubstr("exists"));
  EXPECT_THAT(post("/api/apply", asked, 409).dump(), HasSubstr("already exists"));
  asked["yaml"] = replaced(replaced(asked["yaml"], "name: cart", "name: added"), "/cart", "/added");
  const Json written = post("/api/apply", asked);
  EXPECT_EQ(written["done"], "created");
  EXPECT_EQ(progress_of(written)["failed"], false);
  wait_for("/api/objects/proxyroutes", "added");
  Json removal = draft("added");
  removal["remove"] = true;
  const Json difference = post("/api/difference", removal);
  ASSERT_EQ(difference["classes"].size(), 1U) << difference.dump();
  EXPECT_EQ(difference["classes"][0]["after"]["rule"], "");
  const Json gone = post("/api/delete", removal);
  EXPECT_EQ(gone["object"]["gone"], true);
  EXPECT_EQ(progress_of(gone)["failed"], false);
  EXPECT_NE(world_.edgectl("get route added").code, 0);
  post("/api/delete", removal, 409);
}

TEST_F(WebEdit, ClaimsOfTheServerAndOfTheBrowser) {
  world_.dir().put("claims.txt", "# of the house\n\npath prefix \"/admin\" implies policy OIDC\n");
  serve({"--claims", world_.dir() / "claims.txt"});
  EXPECT_EQ(get("/api/claims")["claims"].size(), 1U);
  const Json proven = post("/api/claims", {{"claims", {"path prefix \"/cart\" implies policy OIDC", "nonsense ("}}});
  ASSERT_EQ(proven["claims"].size(), 3U) << proven.dump();
  EXPECT_EQ(proven["claims"][1]["outcome"]["result"], "fails");
  EXPECT_THAT(proven["claims"][1]["outcome"]["request"].get<std::string>(), HasSubstr("/cart"));
  EXPECT_EQ(proven["claims"][2]["outcome"]["result"], "invalid");
  Json many = Json::array();
  for (int i = 0; i < 101; ++i) many.push_back("host == \"a" + std::to_string(i) + ".example\" implies status 404");
  post("/api/claims", {{"claims", many}}, 400);
  world_.dir().put("claims.txt", "nonsense (\n");
  const Finished refused = world_.edgectl("web --claims claims.txt");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("nonsense ("));
}

TEST_F(WebEdit, TimeIsComparedExplainedAndTurnedBack) {
  serve();
  const auto newest = [&] { return get("/api/history"); };
  const Json before = until(newest, [](const Json& got) { return got.is_array() && !got.empty(); });
  Json asked = draft("preview");
  asked["yaml"] = replaced(asked["yaml"], "/cart", "/stage");
  progress_of(post("/api/apply", asked));
  const Json now = until(newest, [&](const Json& got) { return got.size() > before.size(); });
  const std::string old_program = before[0]["program"];
  const std::string new_program = now[0]["program"];
  EXPECT_THAT(now[0]["user"].get<std::string>(), HasSubstr("edgectl-web"));
  const Json difference = post("/api/compare", {{"before", old_program}, {"after", new_program}});
  EXPECT_THAT(difference["classes"].dump(), AllOf(HasSubstr("/stage"), HasSubstr("default/preview")));
  EXPECT_EQ(post("/api/compare", {{"before", new_program}, {"after", "live"}})["equal"], true);
  const Json request = {{"request", "GET http://shop.example:8080/stage"}, {"headers", {"x-env: preview"}}};
  const auto winner = [&](const std::string& program) {
    return text_in(post("/api/history/" + program + "/explain", request)["explanation"]["winner"], "route");
  };
  EXPECT_EQ(winner(old_program), "");
  EXPECT_EQ(winner(new_program), "default/preview");
  const std::string none(64, '0');
  post("/api/compare", {{"before", none}, {"after", "live"}}, 404);
  post("/api/history/" + none + "/explain", request, 404);
  post("/api/compare", {{"before", "../x"}, {"after", "live"}}, 400);

  EXPECT_EQ(post("/api/rollback", {{"program", old_program}})["pinned"], old_program);
  until(newest, [&](const Json& got) { return got[0]["pinned"] == true || got[1]["pinned"] == true; });
  asked = draft("preview");
  asked["yaml"] = replaced(asked["yaml"], "/stage", "/other");
  const Json held = progress_of(post("/api/apply", asked));
  EXPECT_EQ(held["failed"], true) << held.dump();
  EXPECT_EQ(held["agents"][0]["state"], "held");
  EXPECT_EQ(post("/api/release", Json::object())["pinned"], "");
  post("/api/rollback", {{"program", none}}, 404);
}

TEST_F(WebEdit, HiddenRulesAndCosts) {
  serve();
  const Json late = get("/api/analysis/proxyroutes/default/late");
  EXPECT_THAT(late["findings"].dump(), AllOf(HasSubstr("no request reaches this rule"), HasSubstr("GET http://")));
  // A rule that nothing reaches is not in the tables.
  EXPECT_EQ(late["cost"].size(), 0U) << late.dump();
  const Json preview = get("/api/analysis/proxyroutes/default/preview");
  ASSERT_EQ(preview["cost"].size(), 1U) << preview.dump();
  EXPECT_EQ(preview["cost"][0]["host"], "shop.example");
  EXPECT_GE(preview["cost"][0]["rules"], 2);
  EXPECT_EQ(preview["cost"][0]["ownRules"], 1);
  EXPECT_GE(preview["cost"][0]["bound"]["conditions"], 1);
  EXPECT_GE(get("/api/analysis/proxygateways/default/gw")["cost"].size(), 2U);
  EXPECT_EQ(world_.ask("/api/analysis/proxyroutes/default/none").status, 404);
}

TEST_F(WebEdit, FieldsAndBounds) {
  serve();
  const Json fields = get("/api/fields/proxyroutes");
  EXPECT_EQ(fields["namespaced"], true);
  EXPECT_THAT(fields["objects"].dump(), HasSubstr("RegularExpression"));
  for (const auto& object : fields["objects"]) {
    for (const auto& field : object) {
      if (field["object"].is_number()) EXPECT_LT(field["object"].get<std::size_t>(), fields["objects"].size());
    }
  }
  post("/api/check", {{"plural", "secrets"}, {"yaml", ""}}, 404);
  post("/api/apply", {{"plural", "configmaps"}, {"yaml", ""}}, 404);
  EXPECT_EQ(world_.ask("/api/edit/secrets/default/users").status, 404);
  EXPECT_EQ(world_.ask("/api/edit/proxyroutes/default/none").status, 404);
  post("/api/check", {{"plural", "proxyroutes"}, {"yaml", std::string(300'000, ' ')}}, 413);
  post("/api/progress", {{"objects", Json::array()}}, 400);
}

}  // namespace
}  // namespace edge::test
