// Viewers who log in to `edgectl web` at a real provider (tests/oidc), each with their own rights at the resource API.
#include <chrono>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "tests/oidc/user_agent.h"
#include "tests/oidc/world.h"
#include "tests/web/world.h"

namespace edge::test {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// As the page's own calls are.
const UserAgent::Fields kScript = {{"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Mode", "cors"}, {"Accept", "*/*"}};

class WebLogin : public testing::Test {
 protected:
  void SetUp() override {
    if (!provider_installed()) GTEST_SKIP() << "oidc-provider is not installed: npm ci --prefix tests/oidc";
  }
  /// Serves with login, and waits until the objects are known.
  void serve(const Provider& provider, std::vector<std::string> flags = {}) {
    world_.dir().put("secret", "a secret: with + and %\n");
    world_.dir().put("shop.yaml",
                     "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\napiVersion: edgeproxy.io/v1alpha1\n"
                     "kind: ProxyRoute\nmetadata: {name: tea, namespace: shop}\nspec:\n"
                     "  parentRefs: [{name: gw, namespace: default}]\n  hostnames: [tea.example]\n"
                     "  rules: [{backendRef: {name: gone}}]\n");
    ASSERT_EQ(world_.edgectl("apply -f shop.yaml").code, 0);
    flags.insert(flags.end(), {"--oidc-issuer", provider.issuer(), "--oidc-client-id", "shop",
                               "--oidc-client-secret-file", world_.dir() / "secret", "--oidc-username-claim", "email",
                               "--oidc-scope", "email", "--oidc-scope", "roles"});
    ASSERT_EQ(world_.serve(flags), "");
  }
  Page call(UserAgent& browser, const std::string& path) { return browser.get(world_.url() + path, kScript); }
  Page post(UserAgent& browser, const std::string& path, const std::string& body) {
    UserAgent::Fields fields = kScript;
    fields.emplace_back("Content-Type", "application/json");
    fields.emplace_back("Origin", world_.url());
    return browser.send("POST", world_.url() + path, body, fields);
  }
  Page until(UserAgent& browser, const std::string& path, const std::function<bool(const Page&)>& good) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    Page page = call(browser, path);
    while (!good(page) && std::chrono::steady_clock::now() < end) page = call(browser, path);
    return page;
  }
  /// Logs in, and waits until the namespace's route is shown.
  void log_in(UserAgent& browser, const std::string& user) {
    const Page page = browser.log_in(browser.browse(world_.url() + "/objects/proxyroutes"), user);
    ASSERT_EQ(page.status, 200) << page.fault << page.body;
    ASSERT_EQ(page.url, world_.url() + "/objects/proxyroutes");
    const Page list = until(browser, "/api/objects/proxyroutes",
                            [](const Page& got) { return got.body.find("tea") != std::string::npos; });
    ASSERT_THAT(list.body, HasSubstr("tea")) << list.status;
  }

  WebWorld world_;
};

TEST_F(WebLogin, NobodyGetsAnythingBefore) {
  const Provider provider({"provider.mjs"});
  serve(provider);
  UserAgent browser;
  const Page page = browser.get(world_.url() + "/traffic");
  EXPECT_EQ(page.status, 302);
  EXPECT_THAT(page.location(), AllOf(StartsWith(provider.issuer()), HasSubstr("code_challenge_method=S256")));
  for (const char* path : {"/api/session", "/api/kinds", "/api/events", "/api/openapi.json", "/api/nothing"}) {
    const Page refused = call(browser, path);
    EXPECT_EQ(refused.status, 401) << path;
    EXPECT_TRUE(parse_json(refused.body).contains("error")) << refused.body;
  }
  EXPECT_EQ(post(browser, "/api/agents/standalone/drain", "{}").status, 401);
  EXPECT_EQ(call(browser, "/assets/none.js").status, 404);
}

TEST_F(WebLogin, TwoUsersSeeAndMayWhatIsTheirs) {
  const Provider provider({"provider.mjs"});
  serve(provider);
  UserAgent carol;
  UserAgent dave;
  log_in(carol, "carol");
  log_in(dave, "dave");

  const Json all = parse_json(call(carol, "/api/session").body);
  EXPECT_EQ(all["login"], true);
  EXPECT_EQ(all["user"], "carol@example.com");
  // Names of the API's own are nobody's to give.
  EXPECT_EQ(all["groups"], Json::array({"edge:admins"}));
  EXPECT_EQ(all["may"]["changeAgents"], true);
  const Page rights = call(carol, "/api/rights/proxyroutes/default");
  EXPECT_EQ(parse_json(rights.body)["update"], true) << rights.body;
  EXPECT_THAT(call(carol, "/api/objects/proxyroutes").body, HasSubstr("broken"));
  EXPECT_THAT(call(carol, "/api/problems").body, HasSubstr("nowhere"));
  EXPECT_EQ(call(carol, "/api/agents").status, 200);
  EXPECT_EQ(post(carol, "/api/agents/standalone/drain", "{}").status, 200);
  EXPECT_EQ(post(carol, "/api/agents/standalone/undrain", "{}").status, 200);

  const Json some = parse_json(call(dave, "/api/session").body);
  EXPECT_EQ(some["user"], "dave@example.com");
  EXPECT_EQ(some["may"]["seeAgents"], false);
  const Json none = {{"create", false}, {"update", false}, {"delete", false}};
  EXPECT_EQ(parse_json(call(dave, "/api/rights/proxyroutes/shop").body), none);
  const Json list = parse_json(call(dave, "/api/objects/proxyroutes").body);
  ASSERT_EQ(list["rows"].size(), 1U) << list.dump();
  EXPECT_EQ(list["kind"]["count"], 1);
  EXPECT_EQ(call(dave, "/api/objects/proxyroutes/default/cart").status, 404);
  const Json tea = parse_json(call(dave, "/api/objects/proxyroutes/shop/tea").body);
  EXPECT_EQ(tea["eventsFault"], "") << tea.dump();
  // The gateway exists, in a namespace that is not theirs.
  for (const Json& one : tea["uses"]) {
    if (one["kind"] == "ProxyGateway") EXPECT_EQ(one["known"], nullptr);
  }
  EXPECT_EQ(call(dave, "/api/agents").status, 403);
  EXPECT_EQ(call(dave, "/api/history").status, 403);
  EXPECT_EQ(post(dave, "/api/agents/standalone/drain", "{}").status, 403);
  const Page explained = post(dave, "/api/explain", R"({"request":"GET http://shop.example:8080/cart"})");
  ASSERT_EQ(explained.status, 200) << explained.body;
  const Json explanation = parse_json(explained.body)["explanation"];
  EXPECT_EQ(explanation["matched"], true);
  EXPECT_EQ(explanation["winner"]["route"], "");
  EXPECT_GT(explanation["hidden"], 1);
  // Nothing of what is not theirs is in any reply.
  std::string replies = explained.body;
  for (const char* path : {"/api/kinds", "/api/problems", "/api/traffic", "/api/session", "/api/objects/namespaces",
                           "/api/objects/proxygateways", "/api/objects/proxybackends", "/api/objects/services"}) {
    replies += call(dave, path).body;
  }
  replies += list.dump() + tea.dump();
  for (const char* name : {"cart", "late", "preview", "broken", "nowhere"}) {
    EXPECT_THAT(replies, Not(HasSubstr("\"" + std::string(name) + "\"")));
    EXPECT_THAT(replies, Not(HasSubstr("default/" + std::string(name))));
  }
}

TEST_F(WebLogin, RefreshesKeepASessionAndALogoutEndsIt) {
  const Provider provider({"provider.mjs", "4"});
  serve(provider);
  UserAgent browser;
  log_in(browser, "carol");
  // Tokens live for four seconds, the session goes on.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const std::string counts = provider.issuer() + "/refreshes";
  while (browser.get(counts).body == "0" && std::chrono::steady_clock::now() < end) {
    ASSERT_EQ(call(browser, "/api/session").status, 200);
  }
  EXPECT_NE(browser.get(counts).body, "0");

  std::string cookies;
  for (const auto& [key, kept] : browser.cookies) {
    if (key.first == "127.0.0.1") cookies += (cookies.empty() ? "" : "; ") + key.second + "=" + kept.value;
  }
  Process events({"curl", "-sN", "-H", "Cookie: " + cookies, world_.url() + "/api/events"});
  ASSERT_TRUE(events.wait_out("event: agents"));
  // Another site cannot log somebody out.
  EXPECT_EQ(browser.get(world_.url() + "/oauth2/logout", {{"Sec-Fetch-Site", "cross-site"}}).status, 403);
  EXPECT_EQ(call(browser, "/api/session").status, 200);
  const UserAgent before = browser;
  EXPECT_EQ(browser.get(world_.url() + "/oauth2/logout", {{"Sec-Fetch-Site", "same-origin"}}).status, 303);
  EXPECT_EQ(events.wait_exit(), 0);
  EXPECT_EQ(call(browser, "/api/session").status, 401);
  // A copy of the cookies is worth nothing either.
  UserAgent thief = before;
  EXPECT_EQ(call(thief, "/api/session").status, 401);
}

TEST_F(WebLogin, OtherSitesCannotUseASession) {
  const Provider provider({"provider.mjs"});
  serve(provider, {"--read-only"});
  UserAgent browser;
  log_in(browser, "carol");
  EXPECT_EQ(browser.get(world_.url() + "/api/session", {{"Sec-Fetch-Site", "cross-site"}}).status, 403);
  EXPECT_EQ(browser.get(world_.url() + "/api/session", {{"Origin", "https://evil.example"}}).status, 403);
  EXPECT_EQ(browser.post(world_.url() + "/api/agents/standalone/drain", "a=b").status, 403);
  EXPECT_EQ(post(browser, "/api/agents/standalone/drain", "{}").status, 403);
  const Json session = parse_json(call(browser, "/api/session").body);
  EXPECT_EQ(session["readOnly"], true);
  EXPECT_EQ(parse_json(call(browser, "/api/rights/proxyroutes/default").body)["update"], false);
}

TEST(WebLoginFlags, GoTogether) {
  WebWorld world;
  const auto web = [&](const std::string& flags) { return world.edgectl("web --listen 127.0.0.1:0 " + flags).code; };
  const std::string issuer = "--oidc-issuer https://login.example ";
  const std::string whole = issuer + "--oidc-client-id a --oidc-client-secret b ";
  EXPECT_EQ(web(issuer), 2);
  EXPECT_EQ(web(issuer + "--oidc-client-id a"), 2);
  EXPECT_EQ(web(whole + "--serve-without-login"), 2);
  EXPECT_EQ(web(whole + "--oidc-redirect-url x"), 2);
  EXPECT_EQ(web("--oidc-client-id a"), 2);
  EXPECT_EQ(web("--oidc-issuer http://login.example --oidc-client-id a --oidc-client-secret b"), 2);
  const Finished plain = world.edgectl("web --listen 0.0.0.0:0 " + whole);
  EXPECT_EQ(plain.code, 2);
  EXPECT_THAT(plain.err, HasSubstr("--tls-cert"));
}

}  // namespace
}  // namespace edge::test
