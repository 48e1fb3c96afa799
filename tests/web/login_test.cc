// Viewers who log in to `edgectl web` at a real provider (tests/oidc), each with their own rights at the resource API.
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/web/api/call_table.h"
#include "tests/oidc/user_agent.h"
#include "tests/oidc/world.h"
#include "tests/web/browser.h"
#include "tests/web/sample_calls.h"
#include "tests/web/world.h"

namespace edge::test {
namespace {

using edgectl::web::Call;
using edgectl::web::CallId;
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

  std::string body_of(UserAgent& editor, const Call& call, const std::string& space, const std::string& name);
  void look(const Provider& provider, const std::string& part);

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

/// The body of a call in which the objects of the namespace `default` have a part. `editor` may read them.
std::string WebLogin::body_of(UserAgent& editor, const Call& call, const std::string& space, const std::string& name) {
  const Json edit = parse_json(this->call(editor, "/api/edit/proxyroutes/" + space + "/" + name).body);
  std::string yaml = text_in(edit, "yaml");
  if (const std::size_t at = yaml.find(".example"); at != std::string::npos) yaml.insert(at, "-too");
  const Json draft = {{"plural", "proxyroutes"},
                      {"namespace", space},
                      {"name", name},
                      {"version", text_in(edit, "version")},
                      {"yaml", std::move(yaml)},
                      {"claims", Json::array({"path exact \"/cart\" implies not backend default/be"})}};
  switch (call.id) {
    case CallId::kCheck:
    case CallId::kDifference:
    case CallId::kApply:
    case CallId::kDelete:
      return draft.dump();
    case CallId::kProve:
      return Json{{"claims", draft["claims"]}}.dump();
    case CallId::kRollback: {
      const Json history = parse_json(this->call(editor, "/api/history").body);
      return Json{{"program", history.empty() ? "" : text_in(history[0], "program")}}.dump();
    }
    default:
      return body_for(world_, call);
  }
}

TEST_F(WebLogin, EveryCallOfTheTableIsByTheRightsOfWhoeverCalls) {
  const Provider provider({"provider.mjs"});
  serve(provider);
  UserAgent carol;
  UserAgent erin;
  UserAgent dave;
  log_in(carol, "carol");
  log_in(erin, "erin");
  log_in(dave, "dave");
  const auto ask = [&](UserAgent& browser, const Call& one, const std::string& space, const std::string& name) {
    std::string path = path_for(one);
    if (const std::size_t at = path.find("/default/cart"); at != std::string::npos) {
      path.replace(at, path.size() - at, "/" + space + "/" + name);
    }
    return one.method == "GET" ? call(browser, path) : post(browser, path, body_of(carol, one, space, name));
  };
  const auto all = edgectl::web::calls();
  std::set<std::string> refused_to_dave;
  for (const Call& one : all) {
    if (one.id == CallId::kEvents || one.id == CallId::kRange || one.id == CallId::kTrace) continue;
    const std::string name(one.name);
    if (one.changes) {
      // Neither may change anything, of their own namespace or another.
      for (UserAgent* browser : {&erin, &dave}) {
        EXPECT_EQ(ask(*browser, one, "shop", "tea").status, 403) << name;
        const int status = ask(*browser, one, "default", "cart").status;
        EXPECT_TRUE(status == 403 || status == 404) << name << " " << status;
      }
      continue;
    }
    // Of conflicts a cluster that shares nothing knows nothing.
    const int none = one.id == CallId::kFederationConflict ? 409 : 200;
    EXPECT_EQ(ask(erin, one, "default", "cart").status, none) << name;
    std::string shown;
    for (const auto& [space, object] : {std::pair("shop", "tea"), std::pair("default", "cart")}) {
      const Page page = ask(dave, one, space, object);
      if (page.status == 403) refused_to_dave.insert(name);
      const bool answered = page.status == 200 || page.status == 403 || page.status == 404 || page.status == none;
      EXPECT_TRUE(answered) << name << " " << page.status << page.body;
      // Of a draft its own words come back.
      if (object != std::string("cart") || page.status == 200) shown += page.body;
    }
    for (const char* foreign :
         {"default/late", "default/preview", "default/broken", "\"nowhere\"", "broken.example", kPlanted}) {
      EXPECT_THAT(shown, Not(HasSubstr(foreign))) << name;
    }
    // The claim, and the draft, are the viewer's own words.
    if (one.body.empty()) EXPECT_THAT(shown, Not(HasSubstr("default/cart"))) << name;
  }
  // Agents are not theirs to see, nor what agents alone know.
  EXPECT_THAT(refused_to_dave,
              testing::IsSupersetOf({"listAgents", "getAgent", "listHistory", "listEndpoints", "listRequests",
                                     "listTraces", "getProgress", "comparePrograms", "explainKept"}));
  EXPECT_EQ(call(dave, "/api/ranges/6h").status, 403);
  EXPECT_EQ(call(dave, "/api/traces/" + std::string(kTraceId)).status, 403);
  // The stream is no way around it.
  std::string cookies;
  for (const auto& [key, kept] : dave.cookies) {
    if (key.first == "127.0.0.1") cookies += (cookies.empty() ? "" : "; ") + key.second + "=" + kept.value;
  }
  Process events({"curl", "-sN", "-H", "Cookie: " + cookies, world_.url() + "/api/events"});
  ASSERT_EQ(
      world_.edgectl("patch route cart --type merge -p '{\"spec\":{\"hostnames\":[\"shop.example\",\"b.example\"]}}'")
          .code,
      0);
  for (int i = 0; i < 2; ++i) {
    const auto traffic = events.wait_out("\"routes\":");
    ASSERT_TRUE(traffic);
    EXPECT_THAT(*traffic, Not(HasSubstr("default/")));
  }
  // What was refused was not done.
  EXPECT_THAT(call(carol, "/api/objects/proxyroutes").body, AllOf(HasSubstr("\"cart\""), HasSubstr("\"tea\"")));
  EXPECT_THAT(call(carol, "/api/history").body, Not(HasSubstr("\"pinned\":true")));
}

TEST_F(WebLogin, BehindAProxyThatEndsTls) {
  const Provider provider({"provider.mjs"});
  serve(provider, {"--public-url", "https://dash.example"});
  const Finished got = run_command({"curl", "-s", "-i", "-H", "Host: dash.example", "-H", "Accept: text/html", "-H",
                                    "Sec-Fetch-Mode: navigate", world_.url() + "/traffic"});
  EXPECT_THAT(got.out,
              AllOf(StartsWith("HTTP/1.1 302"),
                    HasSubstr("redirect_uri=https%3A%2F%2Fdash.example%2Foauth2%2Fcallback"), HasSubstr("; Secure")));
}

/// Looks at the page in Chromium (login.mjs).
void WebLogin::look(const Provider& provider, const std::string& part) {
  if (const std::string why = why_no_browser(); !why.empty()) GTEST_SKIP() << why;
  serve(provider);
  ASSERT_EQ(
      world_
          .edgectl("patch route cart --type merge -p '{\"spec\":{\"hostnames\":[\"shop.example\",\"b.example\"]}}' "
                   "--wait programmed")
          .code,
      0);
  const Finished seen =
      run_command({"node", "tests/web/login.mjs", kChromium, world_.url(), provider.issuer(), part, kPlanted});
  EXPECT_EQ(seen.code, 0) << seen.out << seen.err;
  EXPECT_THAT(seen.out, HasSubstr("done\n"));
}

TEST_F(WebLogin, InChromium) { look(Provider({"provider.mjs"}), "session"); }
TEST_F(WebLogin, TwoUsersInChromium) { look(Provider({"provider.mjs"}), "rights"); }
TEST_F(WebLogin, RefreshInChromium) { look(Provider({"provider.mjs", "4"}), "refresh"); }
TEST_F(WebLogin, ExpiryInChromium) { look(Provider({"provider.mjs", "6", "conform", "no-refresh"}), "expiry"); }

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
