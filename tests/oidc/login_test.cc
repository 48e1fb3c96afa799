// Logins at a real provider (the npm package oidc-provider, which is certified), step by step as a browser takes them.
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/oidc/user_agent.h"
#include "tests/oidc/world.h"

namespace edge::test {
namespace {

using testing::ContainsRegex;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// What browsers say of an address that was typed.
const UserAgent::Fields kTyped = {{"Sec-Fetch-Site", "none"}};
const std::string kScopes = "    scopes: [openid, email, profile, roles]\n";

class Login : public testing::Test {
 protected:
  void SetUp() override {
    if (!provider_installed()) GTEST_SKIP() << "oidc-provider is not installed: npm ci --prefix tests/oidc";
  }
  AgentSettings settings(const Provider& provider, const std::string& oidc = {}) const {
    return {.issuer = provider.issuer(), .backend = backend_.port(), .oidc = kScopes + oidc};
  }
  /// To the page that was asked for.
  static Page log_in(UserAgent& browser, const Agent& agent, const std::string& user,
                     const std::string& target = "/a") {
    return browser.log_in(browser.browse(agent.origin() + target), user);
  }

  EchoBackend backend_;
};

TEST_F(Login, EndsWhereItBegan) {
  const Provider provider({"provider.mjs"});
  const Agent agent(
      settings(provider, "    forwardHeaders: [X-Auth-Groups, X-Auth-Roles, X-Auth-Preferred-Username]\n"));
  ASSERT_EQ(agent.fault(), "");
  UserAgent browser;
  const Page first = browser.get(agent.origin() + "/cart?item=1&n=%C3%A4");
  EXPECT_EQ(first.status, 302);
  EXPECT_EQ(first.field("X-Edge-Reason"), "login");
  EXPECT_EQ(first.field("Cache-Control"), "no-store");
  EXPECT_THAT(first.location(), StartsWith(provider.issuer() + "/auth?response_type=code&client_id=shop&"));
  EXPECT_THAT(first.location(), ContainsRegex("state=[-_A-Za-z0-9]{43}&nonce=[-_A-Za-z0-9]{43}&"
                                              "code_challenge=[-_A-Za-z0-9]{43}&code_challenge_method=S256$"));
  const Page form = browser.follow(first);
  ASSERT_EQ(form.status, 200) << form.body;
  const Page page = browser.log_in(form, "alice");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.url, agent.origin() + "/cart?item=1&n=%C3%A4");
  EXPECT_THAT(page.body, HasSubstr("X-Auth-Subject: alice\n"));
  EXPECT_THAT(page.body, HasSubstr("X-Auth-Email: alice@example.com\n"));
  EXPECT_THAT(page.body, HasSubstr("X-Auth-Name: Alice Ällin\n"));
  EXPECT_THAT(page.body, HasSubstr("x-auth-groups: /staff,/shop/admins\n"));
  EXPECT_THAT(page.body, HasSubstr("x-auth-roles: buyer,realm-admin,cashier\n"));
  EXPECT_THAT(page.body, HasSubstr("x-auth-preferred-username: alice\n"));
  EXPECT_THAT(page.body, Not(HasSubstr("edge_session")));

  // The session goes on, without a question to anybody.
  EXPECT_EQ(browser.get(agent.origin() + "/other").status, 200);
  EXPECT_EQ(browser.post(agent.origin() + "/other", "a=b").status, 200);
}

TEST_F(Login, LeavesNothingReadableAtTheBrowser) {
  const Provider provider({"provider.mjs"});
  const Agent agent(settings(provider));
  UserAgent browser;
  ASSERT_EQ(log_in(browser, agent, "alice").status, 200);
  const KeptCookie& session = browser.cookies[{"127.0.0.1", "edge_session"}];
  EXPECT_TRUE(session.http_only);
  EXPECT_FALSE(session.secure);
  EXPECT_EQ(session.same_site, "lax");
  EXPECT_EQ(session.path, "/");
  EXPECT_THAT(session.value, Not(HasSubstr("alice")));
  for (const auto& [key, cookie] : browser.cookies) {
    if (key.first == "127.0.0.1") EXPECT_THAT(key.second, Not(StartsWith("edge_login")));
  }
}

TEST_F(Login, OverTlsBindsTheSessionToItsHost) {
  const Provider provider({"provider.mjs"});
  AgentSettings over_tls = settings(provider);
  over_tls.over = Over::kTls;
  const Agent agent(over_tls);
  ASSERT_EQ(agent.fault(), "");
  UserAgent browser;
  const Page page = log_in(browser, agent, "alice");
  ASSERT_EQ(page.status, 200) << page.fault << page.body;
  EXPECT_TRUE((browser.cookies[{"example.com", "edge_session"}].secure));
  ASSERT_TRUE((browser.cookies.contains({"example.com", "__Host-edge_session"})));

  // A sibling host may plant the one, never the other.
  UserAgent victim;
  victim.cookies[{"example.com", "edge_session"}] = browser.cookies[{"example.com", "edge_session"}];
  EXPECT_EQ(victim.get(agent.origin() + "/").status, 302);
  victim.cookies[{"example.com", "__Host-edge_session"}] = {.value = "AAAAAAAAAAAAAAAAAAAAAA", .path = "/"};
  EXPECT_EQ(victim.get(agent.origin() + "/").status, 302);
}

TEST_F(Login, GoesOverHttp2AsWell) {
  const Provider provider({"provider.mjs"});
  for (const Over over : {Over::kPlain, Over::kTls}) {
    AgentSettings own = settings(provider, "    authorization: {requiredRoles: [buyer]}\n");
    own.over = over;
    const Agent agent(own);
    ASSERT_EQ(agent.fault(), "");
    UserAgent browser;
    browser.http2 = true;
    const Page page = log_in(browser, agent, "alice", "/cart?item=1");
    ASSERT_EQ(page.status, 200) << page.fault << page.body;
    EXPECT_EQ(page.url, agent.origin() + "/cart?item=1");
    EXPECT_THAT(page.body, HasSubstr("X-Auth-Subject: alice\n"));
    // Cookies come in a field each (RFC 9113 §8.2.3), of which the backend sees the others'.
    browser.planted = "theme=dark; lang=en";
    const Page again = browser.post(agent.origin() + "/cart", "a=b", {{"X-Auth-Subject", "root"}});
    EXPECT_EQ(again.status, 200);
    EXPECT_THAT(again.body, ContainsRegex("[Cc]ookie: theme=dark; lang=en\n"));
    EXPECT_THAT(again.body, Not(HasSubstr("root")));
    EXPECT_THAT(again.body, Not(HasSubstr("edge_session")));

    UserAgent stranger;
    stranger.http2 = true;
    EXPECT_EQ(stranger.post(agent.origin() + "/cart", "a=b").status, 401);
    EXPECT_EQ(log_in(stranger, agent, "bob").status, 403);
    EXPECT_EQ(browser.get(agent.origin() + "/oauth2/logout?rd=/bye", kTyped).status, 303);
    EXPECT_EQ(browser.get(agent.origin() + "/cart").status, 302);
  }
}

TEST_F(Login, IsTakenUpByAnotherAgent) {
  const Provider provider({"provider.mjs"});
  const Agent one(settings(provider));
  AgentSettings of_another = settings(provider);
  // Both stand behind one address, as users see it.
  of_another.redirect_url = one.origin() + "/oauth2/callback";
  const Agent other(of_another);
  UserAgent browser;
  Page page = browser.follow(browser.get(one.origin() + "/a"));
  // The provider's last redirect is the callback: it goes to the other agent.
  const std::string form = page.body;
  const std::size_t at = form.find("action=\"") + 8;
  page = browser.post(form.substr(at, form.find('"', at) - at), "prompt=login&login=alice&password=x");
  while (page.redirects() && !page.location().starts_with(one.origin())) page = browser.get(page.location());
  std::string callback = page.location();
  ASSERT_THAT(callback, StartsWith(one.origin() + "/oauth2/callback?code="));
  callback.replace(0, one.origin().size(), other.origin());
  const Page back = browser.get(callback);
  EXPECT_EQ(back.status, 302) << back.body;
  EXPECT_EQ(back.location(), one.origin() + "/a");
  EXPECT_EQ(browser.get(one.origin() + "/a").status, 200);
  EXPECT_EQ(browser.get(other.origin() + "/a").status, 200);
}

TEST_F(Login, TellsScriptsWithoutARedirect) {
  const Provider provider({"provider.mjs"});
  const Agent agent(settings(provider));
  UserAgent script;
  const std::string url = agent.origin() + "/api";
  const Page posted = script.post(url, "a=b");
  EXPECT_EQ(posted.status, 401);
  EXPECT_EQ(posted.field("WWW-Authenticate"), "Cookie cookie-name=edge_session");
  EXPECT_EQ(script.get(url, {{"X-Requested-With", "XMLHttpRequest"}}).status, 401);
  EXPECT_EQ(script.get(url, {{"Sec-Fetch-Mode", "cors"}}).status, 401);
  EXPECT_EQ(script.get(url, {{"Accept", "application/json"}}).status, 401);
  EXPECT_EQ(script.send("HEAD", url, {}, {}).status, 401);
  EXPECT_EQ(script.get(url, {{"Accept", "*/*"}}).status, 302);
  EXPECT_EQ(script.get(url, {{"Accept", ""}}).status, 302);
  EXPECT_EQ(script.get(url, {{"Sec-Fetch-Mode", "navigate"}}).status, 302);
}

TEST_F(Login, AsksForRolesAndGroups) {
  const Provider provider({"provider.mjs"});
  const auto status = [&](const std::string& user, const std::string& authorization) {
    const Agent agent(settings(provider, "    authorization: {" + authorization + "}\n"));
    UserAgent browser;
    const Page page = log_in(browser, agent, user);
    if (page.status == 403) {
      EXPECT_EQ(page.body, "Forbidden: insufficient roles or groups\n");
      EXPECT_EQ(page.field("X-Edge-Reason"), "insufficient-roles");
    }
    return page.status;
  };
  EXPECT_EQ(status("alice", "requiredRoles: [buyer]"), 200);
  EXPECT_EQ(status("bob", "requiredRoles: [buyer]"), 403);
  EXPECT_EQ(status("alice", "requiredRoles: [realm-admin, cashier], requiredGroups: [staff], mode: all"), 200);
  EXPECT_EQ(status("alice", "requiredRoles: [realm-admin, nothing], mode: all"), 403);
  EXPECT_EQ(status("bob", "requiredRoles: [buyer], requiredGroups: [guests], mode: any"), 200);
  EXPECT_EQ(status("bob", "requiredRoles: [buyer], requiredGroups: [guests], mode: all"), 403);
  // Of another client.
  EXPECT_EQ(status("alice", "requiredRoles: [root]"), 403);
}

TEST_F(Login, DoesNotForwardAnAddressThatNobodyVerified) {
  const Provider provider({"provider.mjs"});
  const Agent agent(settings(provider));
  UserAgent browser;
  const Page page = log_in(browser, agent, "bob");
  EXPECT_THAT(page.body, HasSubstr("X-Auth-Subject: bob\n"));
  EXPECT_THAT(page.body, Not(HasSubstr("X-Auth-Email")));
}

TEST_F(Login, RemovesWhatClientsSayOfThemselves) {
  const Provider provider({"provider.mjs"});
  const Agent agent(settings(provider, "    forwardHeaders: [X-Auth-Department]\n"));
  UserAgent browser;
  ASSERT_EQ(log_in(browser, agent, "bob").status, 200);
  const Page page = browser.get(agent.origin() + "/", {{"X-Auth-Subject", "root"},
                                                       {"x-auth-email", "root@example.com"},
                                                       {"X_Auth_Name", "root"},
                                                       {"X-Auth-Department", "root"}});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, Not(HasSubstr("root")));
  EXPECT_THAT(page.body, HasSubstr("X-Auth-Subject: bob\n"));
}

/// Both take their own cookie away, and leave those of others.
TEST_F(Login, BehindAKeyInACookieTheBackendSeesTheOtherCookiesAlone) {
  const Provider provider({"provider.mjs"});
  const Agent agent(
      settings(provider,
               "---\napiVersion: v1\nkind: Secret\nmetadata: {name: clients, namespace: default}\n"
               "stringData: {api-keys: 'carol:carol-0123456789'}\n"
               "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: keys, namespace: default}\n"
               "spec:\n  type: APIKey\n  targetRef: {kind: ProxyRoute, name: route-1}\n"
               "  apiKey: {cookie: key, secretRefs: [{name: clients}], identityHeader: X-Client}\n"));
  ASSERT_EQ(agent.fault(), "");
  UserAgent browser;
  browser.cookies[{"127.0.0.1", "theme"}] = {.value = "dark", .path = "/"};
  EXPECT_EQ(browser.get(agent.origin() + "/a").field("X-Edge-Reason"), "credentials-missing");
  browser.cookies[{"127.0.0.1", "key"}] = {.value = "carol-0123456789", .path = "/"};
  for (const Page& page : {log_in(browser, agent, "alice"), browser.get(agent.origin() + "/b")}) {
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.body, HasSubstr("X-Auth-Subject: alice\n"));
    EXPECT_THAT(page.body, HasSubstr("x-client: carol\n"));
    EXPECT_THAT(page.body, HasSubstr("Cookie: theme=dark\n"));
    EXPECT_THAT(page.body, Not(HasSubstr("carol-0123456789")));
    EXPECT_THAT(page.body, Not(HasSubstr("edge_session")));
  }
}

TEST_F(Login, RefreshesASessionOnceForAllWhoAsk) {
  // Tokens that live for three seconds; every refresh token is good once, a second use ends the session.
  const Provider provider({"provider.mjs", "3"});
  const Agent agent(settings(provider));
  UserAgent browser;
  ASSERT_EQ(log_in(browser, agent, "alice").status, 200);
  const std::string before = browser.cookies[{"127.0.0.1", "edge_session"}].value;
  // The time passes at the provider: until the agent sets a new cookie.
  std::vector<int> statuses;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (browser.cookies[{"127.0.0.1", "edge_session"}].value == before && std::chrono::steady_clock::now() < end) {
    std::vector<UserAgent> tabs(8, browser);
    std::vector<std::thread> threads;
    std::vector<int> found(tabs.size());
    for (std::size_t i = 0; i < tabs.size(); ++i) {
      threads.emplace_back([&, i] { found[i] = tabs[i].post(agent.origin() + "/a", "x=y").status; });
    }
    for (std::thread& thread : threads) thread.join();
    statuses.insert(statuses.end(), found.begin(), found.end());
    for (const UserAgent& tab : tabs) {
      if (tab.cookies.at({"127.0.0.1", "edge_session"}).value != before) browser = tab;
    }
  }
  EXPECT_NE((browser.cookies[{"127.0.0.1", "edge_session"}].value), before);
  EXPECT_THAT(statuses, Each(200));
  UserAgent asker;
  EXPECT_EQ(asker.get(provider.issuer() + "/refreshes").body, "1");
  EXPECT_EQ(browser.get(agent.origin() + "/a").status, 200);
}

/// Two agents behind one address get requests of one browser at the same moment, until the session is refreshed.
class TwoAgents {
 public:
  TwoAgents(const Provider& provider, std::uint16_t backend)
      : one_({.issuer = provider.issuer(), .backend = backend}),
        other_({.issuer = provider.issuer(), .backend = backend, .redirect_url = one_.origin() + "/oauth2/callback"}) {}
  bool log_in() { return browser_.browse(one_.origin() + "/a").status == 200; }
  /// The statuses of all requests.
  std::vector<int> until_refreshed() {
    late_ = browser_;
    const std::string before = session(browser_);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::vector<int> statuses;
    while (session(browser_) == before && std::chrono::steady_clock::now() < end) {
      std::vector<UserAgent> tabs(2, browser_);
      std::vector<int> found(2);
      std::thread thread([&] { found[0] = tabs[0].post(one_.origin() + "/a", "x=y").status; });
      found[1] = tabs[1].post(other_.origin() + "/a", "x=y").status;
      thread.join();
      statuses.insert(statuses.end(), found.begin(), found.end());
      for (const UserAgent& tab : tabs) {
        if (session(tab) != before) browser_ = tab;
      }
    }
    EXPECT_NE(session(browser_), before);
    return statuses;
  }
  int status() { return browser_.post(one_.origin() + "/a", "x=y").status; }
  /// Of requests that were on their way with the cookie from before.
  std::vector<int> late_statuses() {
    UserAgent tab = late_;
    return {tab.post(one_.origin() + "/a", "x=y").status, late_.post(other_.origin() + "/a", "x=y").status};
  }

 private:
  static std::string session(const UserAgent& browser) {
    const auto found = browser.cookies.find({"127.0.0.1", "edge_session"});
    return found == browser.cookies.end() ? std::string() : found->second.value;
  }
  const Agent one_;
  const Agent other_;
  UserAgent browser_;
  UserAgent late_;
};

TEST_F(Login, TwoAgentsRefreshOneSession) {
  const Provider provider({"hostile.mjs"});
  // Too short a time to refresh early in: at the end both agents use one token.
  UserAgent().get(provider.issuer() + "/lie?expires_in=2&rotate=leeway");
  TwoAgents agents(provider, backend_.port());
  ASSERT_TRUE(agents.log_in());
  EXPECT_THAT(agents.until_refreshed(), Each(200));
  EXPECT_EQ(agents.status(), 200);
  EXPECT_EQ(UserAgent().get(provider.issuer() + "/refused").body, "0");
}

TEST_F(Login, TwoAgentsRefreshWhereATokenIsGoodOnce) {
  const Provider provider({"hostile.mjs"});
  // Refreshed three seconds before the end: whoever is refused serves the session on.
  UserAgent().get(provider.issuer() + "/lie?expires_in=12&rotate=once");
  TwoAgents agents(provider, backend_.port());
  ASSERT_TRUE(agents.log_in());
  EXPECT_THAT(agents.until_refreshed(), Each(200));
  EXPECT_THAT(agents.late_statuses(), Each(200));
  EXPECT_EQ(agents.status(), 200);
  EXPECT_EQ(UserAgent().get(provider.issuer() + "/refused").body, "1");
}

TEST_F(Login, IsAskedForAgainWhenTheProviderRefusesToRefresh) {
  std::unique_ptr<UserAgent> browser = std::make_unique<UserAgent>();
  const Provider provider({"provider.mjs", "1"});
  const Agent agent(settings(provider));
  ASSERT_EQ(log_in(*browser, agent, "alice").status, 200);
  UserAgent thief = *browser;
  // The second use of a refresh token is a theft to the provider: it ends the grant, and with it every session.
  const Agent elsewhere([&] {
    AgentSettings other = settings(provider);
    other.redirect_url = agent.origin() + "/oauth2/callback";
    return other;
  }());
  const auto refreshed = [](UserAgent& agent_of, const std::string& url) {
    const std::string before = agent_of.cookies[{"127.0.0.1", "edge_session"}].value;
    Page page;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (page.status != 401 && std::chrono::steady_clock::now() < end) {
      page = agent_of.post(url, "x=y");
      if (agent_of.cookies[{"127.0.0.1", "edge_session"}].value != before) break;
    }
    return page.status;
  };
  EXPECT_EQ(refreshed(*browser, agent.origin() + "/a"), 200);
  EXPECT_EQ(refreshed(thief, elsewhere.origin() + "/a"), 401);
}

TEST_F(Login, EndsAtTheProviderToo) {
  const Provider provider({"provider.mjs"});
  const Agent agent(settings(provider));
  UserAgent browser;
  ASSERT_EQ(log_in(browser, agent, "alice").status, 200);
  const Page out = browser.get(agent.origin() + "/oauth2/logout?rd=/bye", kTyped);
  EXPECT_EQ(out.status, 303);
  EXPECT_THAT(out.location(), StartsWith(provider.issuer() + "/session/end?id_token_hint=ey"));
  EXPECT_THAT(out.location(), HasSubstr("&client_id=shop&post_logout_redirect_uri=http%3A%2F%2F127.0.0.1%3A" +
                                        std::to_string(agent.port()) + "%2Fbye"));
  EXPECT_FALSE((browser.cookies.contains({"127.0.0.1", "edge_session"})));
  EXPECT_EQ(browser.follow(out).status, 200);
  EXPECT_EQ(browser.get(agent.origin() + "/a").status, 302);
  // Without a session there is nothing to end, and nowhere to go but where one is told to.
  EXPECT_EQ(browser.get(agent.origin() + "/oauth2/logout").status, 200);
  EXPECT_EQ(browser.get(agent.origin() + "/oauth2/logout?rd=/bye").location(), agent.origin() + "/bye");
  for (const std::string away : {"https://evil.example/", "//evil.example/", "/%5C/evil.example", "/\\evil.example"}) {
    EXPECT_EQ(browser.get(agent.origin() + "/oauth2/logout?rd=" + away).status, 200) << away;
  }
}

// Another site may send a browser to the logout's address, and may click on nothing there.
TEST_F(Login, IsEndedByPagesOfItsSiteAlone) {
  const Provider provider({"provider.mjs"});
  const Agent agent(settings(provider));
  UserAgent browser;
  ASSERT_EQ(log_in(browser, agent, "alice").status, 200);
  const std::string out = agent.origin() + "/oauth2/logout?rd=/bye?a=b";
  const std::vector<UserAgent::Fields> others = {{},
                                                 {{"Sec-Fetch-Site", "cross-site"}},
                                                 {{"Sec-Fetch-Site", "same-site"}},
                                                 {{"Sec-Fetch-Site", "cross-site"}, {"Origin", agent.origin()}},
                                                 {{"Origin", "null"}},
                                                 {{"Origin", agent.origin() + ".evil.example"}},
                                                 {{"Referer", "https://evil.example/?" + agent.origin() + "/"}},
                                                 {{"Referer", agent.origin() + ".evil.example/"}}};
  for (const UserAgent::Fields& fields : others) {
    for (const char* method : {"GET", "POST"}) {
      const Page page = browser.send(method, out, {}, fields);
      EXPECT_EQ(page.status, 403) << testing::PrintToString(fields);
      EXPECT_EQ(page.field("X-Edge-Reason"), "logout-unconfirmed");
      EXPECT_THAT(page.field("Content-Security-Policy"), HasSubstr("frame-ancestors 'none'"));
      EXPECT_THAT(page.body, HasSubstr("action=\"/oauth2/logout?rd=%2Fbye%3Fa%3Db\""));
      EXPECT_EQ(UserAgent::set_cookies(page).size(), 0U);
    }
  }
  EXPECT_EQ(browser.get(agent.origin() + "/a").status, 200);
  const std::vector<UserAgent::Fields> own = {
      {{"Sec-Fetch-Site", "same-origin"}}, {{"Origin", agent.origin()}}, {{"Referer", agent.origin() + "/a"}}};
  for (const UserAgent::Fields& fields : own) {
    UserAgent copy = browser;
    EXPECT_EQ(copy.send("POST", agent.origin() + "/oauth2/logout?rd=%2Fbye", {}, fields).status, 303)
        << testing::PrintToString(fields);
    EXPECT_FALSE((copy.cookies.contains({"127.0.0.1", "edge_session"})));
  }
}

// Cookies that were copied before are of no use after it, though they open: not as they were, and not as refreshed.
TEST_F(Login, ACopyEndsWithTheLogout) {
  const Provider provider({"provider.mjs"});
  const Agent agent(settings(provider));
  UserAgent browser;
  ASSERT_EQ(log_in(browser, agent, "alice").status, 200);
  UserAgent other;
  ASSERT_EQ(log_in(other, agent, "bob").status, 200);
  UserAgent thief = browser;
  EXPECT_EQ(thief.get(agent.origin() + "/a").status, 200);
  ASSERT_EQ(browser.get(agent.origin() + "/oauth2/logout?rd=/bye", kTyped).status, 303);
  EXPECT_EQ(thief.get(agent.origin() + "/a").status, 302);
  EXPECT_EQ(thief.post(agent.origin() + "/a", "a=b").status, 401);
  EXPECT_EQ(other.get(agent.origin() + "/a").status, 200);
  // Who logs in again is let in.
  EXPECT_EQ(log_in(browser, agent, "alice").status, 200);
}

// A provider gives a refresh token for offline_access only where the user was asked (Core §11).
TEST_F(Login, AsksForConsentWithOfflineAccess) {
  const Provider provider({"provider.mjs", "1", "conform", "offline-by-consent"});
  AgentSettings own = settings(provider);
  own.oidc = "    scopes: [openid, email, profile, roles, offline_access]\n";
  const Agent agent(own);
  UserAgent browser;
  const Page first = browser.get(agent.origin() + "/a");
  EXPECT_THAT(first.location(), HasSubstr("&prompt=consent"));
  const Page consent = browser.log_in(browser.follow(first), "alice");
  ASSERT_THAT(consent.body, HasSubstr("value=\"consent\""));
  const Page page = browser.submit(consent, "prompt=consent");
  ASSERT_EQ(page.status, 200) << page.body;
  // Sooner or later the token has to be renewed, which nobody but a refresh token can do for a script.
  const auto refreshes = [&] { return UserAgent().get(provider.issuer() + "/refreshes").body; };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  int status = 200;
  while (status == 200 && refreshes() == "0" && std::chrono::steady_clock::now() < end) {
    status = browser.post(agent.origin() + "/a", "a=b").status;
  }
  EXPECT_EQ(status, 200);
  EXPECT_NE(refreshes(), "0");
}

TEST_F(Login, OutlivesANewSessionSecret) {
  const Provider provider({"provider.mjs"});
  AgentSettings own = settings(provider);
  Agent agent(own);
  UserAgent browser;
  ASSERT_EQ(log_in(browser, agent, "alice").status, 200);
  own.previous_secret = std::exchange(own.session_secret, "fedcba9876543210fedcba9876543210");
  agent.configure(own);
  EXPECT_EQ(browser.get(agent.origin() + "/a").status, 200);
  own.previous_secret.clear();
  agent.configure(own);
  EXPECT_EQ(browser.get(agent.origin() + "/a").status, 302);
}

TEST_F(Login, OfSeveralTabsEndsInEach) {
  const Provider provider({"provider.mjs"});
  const Agent agent(settings(provider));
  UserAgent browser;
  const Page one = browser.get(agent.origin() + "/one");
  const Page two = browser.get(agent.origin() + "/two");
  EXPECT_EQ(browser.log_in(browser.follow(two), "alice").url, agent.origin() + "/two");
  // The provider knows the user by now.
  const Page back = browser.follow(one);
  EXPECT_EQ(back.status, 200);
  EXPECT_EQ(back.url, agent.origin() + "/one");
}

}  // namespace
}  // namespace edge::test
