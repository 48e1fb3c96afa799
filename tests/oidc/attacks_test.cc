// What is tried on logins: by other sites, by other users, by a provider that lies. docs/security.md names each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/oidc/user_agent.h"
#include "tests/oidc/world.h"

namespace edge::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Attack : public testing::Test {
 protected:
  void SetUp() override {
    if (!provider_installed()) GTEST_SKIP() << "Node is not installed, or npm ci --prefix tests/oidc was not run";
    provider_ = std::make_unique<Provider>(std::vector<std::string>{"hostile.mjs"});
    agent_ = std::make_unique<Agent>(AgentSettings{.issuer = provider_->issuer(), .backend = backend_.port()});
    ASSERT_EQ(agent_->fault(), "");
  }
  std::string site(const std::string& target) const { return agent_->origin() + target; }
  void lie(const std::string& what) const { UserAgent().get(provider_->issuer() + "/lie?" + what); }
  /// Up to the provider's redirect, which is not followed: the callback with its code.
  std::string callback(UserAgent& browser, const std::string& target = "/a") const {
    const Page away = browser.get(site(target));
    return browser.get(away.location()).location();
  }
  Page log_in(UserAgent& browser) const { return browser.browse(site("/a")); }
  static bool has_session(const UserAgent& browser) { return browser.cookies.contains({"127.0.0.1", "edge_session"}); }

  EchoBackend backend_;
  std::unique_ptr<Provider> provider_;
  std::unique_ptr<Agent> agent_;
};

TEST_F(Attack, NoneOfItIsASoundLogin) {
  UserAgent browser;
  const Page page = log_in(browser);
  EXPECT_EQ(page.status, 200) << page.body;
  EXPECT_THAT(page.body, HasSubstr("X-Auth-Subject: mallory\n"));
}

TEST_F(Attack, OpenRedirect) {
  for (const std::string target : {"//evil.example/", "//evil.example/%2e%2e", "/\\evil.example"}) {
    UserAgent browser;
    const Page away = browser.get(site(target));
    if (away.status == 400) continue;  // the path itself is refused
    const Page back = browser.get(browser.get(away.location()).location());
    EXPECT_EQ(back.location(), site("/")) << target;
  }
  // Nor does the callback take a way back from its address.
  UserAgent browser;
  const Page back = browser.get(callback(browser) + "&rd=https%3A%2F%2Fevil.example&target=%2F%2Fevil.example");
  EXPECT_EQ(back.location(), site("/a"));
}

TEST_F(Attack, LoginCsrf) {
  // The attacker begins a login, and has the victim's browser finish it: the victim would work in the attacker's
  // account.
  UserAgent attacker;
  const std::string planted = callback(attacker);
  UserAgent victim;
  const Page page = victim.get(planted);
  EXPECT_EQ(page.status, 400);
  EXPECT_EQ(page.field("X-Edge-Reason"), "login-unknown");
  EXPECT_FALSE(has_session(victim));
}

TEST_F(Attack, CodeInjection) {
  // A code of the attacker's login in the answer to the victim's: state is the victim's, nonce and verifier are not.
  UserAgent attacker;
  const std::string theirs = callback(attacker);
  UserAgent victim;
  const std::string own = callback(victim);
  const std::string code = theirs.substr(theirs.find("code="), theirs.find('&') - theirs.find("code="));
  const std::string state = own.substr(own.find("state="));
  const Page page = victim.get(site("/oauth2/callback?" + code + "&" + state));
  EXPECT_EQ(page.status, 403);
  EXPECT_EQ(page.field("X-Edge-Reason"), "login-refused");
  EXPECT_FALSE(has_session(victim));
}

TEST_F(Attack, ReplayOfAnAnswer) {
  UserAgent browser;
  const std::string answer = callback(browser);
  UserAgent copy = browser;
  EXPECT_EQ(browser.get(answer).status, 302);
  // The browser has given its login up; one that has kept the cookie finds the code used.
  EXPECT_EQ(browser.get(answer).status, 400);
  EXPECT_EQ(copy.get(answer).status, 403);
  EXPECT_FALSE(has_session(copy));
}

TEST_F(Attack, ReplayOfANonce) {
  // An id token of another login.
  UserAgent browser;
  lie("nonce=of-another-login");
  EXPECT_EQ(log_in(browser).status, 403);
  lie("nonce=-");
  EXPECT_EQ(log_in(browser).status, 403);
  EXPECT_FALSE(has_session(browser));
}

TEST_F(Attack, MixUp) {
  UserAgent browser;
  lie("iss=https%3A%2F%2Fanother.example");
  const Page page = log_in(browser);
  EXPECT_EQ(page.status, 400);
  EXPECT_EQ(page.field("X-Edge-Reason"), "login-mixed-up");
  EXPECT_EQ(UserAgent().get(provider_->issuer() + "/tokens").body, "0");

  // A provider that promises to say who it is, and does not.
  const Provider says({"hostile.mjs", "says-iss"});
  const Agent agent({.issuer = says.issuer(), .backend = backend_.port()});
  EXPECT_EQ(browser.browse(agent.origin() + "/a").status, 400);
  UserAgent().get(says.issuer() + "/lie?iss=" + "http%3A%2F%2Flocalhost%3A" + std::to_string(says.port()));
  EXPECT_EQ(browser.browse(agent.origin() + "/a").status, 200);
}

TEST_F(Attack, IdTokensThatAreNotBelieved) {
  using runtime::auth::LoginFault;
  const std::vector<std::pair<std::string, LoginFault>> lies = {
      {"issuer=https%3A%2F%2Fanother.example", LoginFault::kIssuer},
      {"issuer=-", LoginFault::kIssuer},
      {"audience=another", LoginFault::kAudience},
      {"audience=-", LoginFault::kAudience},
      {"azp=another", LoginFault::kAudience},
      {"audience=shop,another", LoginFault::kAudience},
      {"at_hash=AAAAAAAAAAAAAAAAAAAAAA", LoginFault::kAccessToken},
      {"exp=-120", LoginFault::kExpired},
      {"subject=-", LoginFault::kClaims},
      {"alg=none", LoginFault::kAlgorithm},
      {"alg=HS256", LoginFault::kAlgorithm},
      {"key=other", LoginFault::kSignature},
      {"token_body=%7B%7D", LoginFault::kTokenAnswer},
      {"token_body=not-json", LoginFault::kTokenAnswer},
      {"token_status=400", LoginFault::kTokenRefused},
      {"token_body=%7B%22access_token%22%3A%22a%22%2C%22token_type%22%3A%22Bearer%22%7D", LoginFault::kNoIdToken},
      {"token_body=%7B%22access_token%22%3A%22a%22%2C%22access_token%22%3A%22b%22%7D", LoginFault::kTokenAnswer}};
  for (const auto& [what, fault] : lies) {
    const std::uint64_t before = agent_->count(fault);
    UserAgent browser;
    lie(what);
    const Page page = log_in(browser);
    EXPECT_EQ(page.status, 403) << what;
    EXPECT_EQ(page.field("X-Edge-Reason"), "login-refused") << what;
    EXPECT_FALSE(has_session(browser)) << what;
    // Whoever runs the proxy can find out why.
    EXPECT_EQ(agent_->count(fault), before + 1) << what;
  }
  EXPECT_THAT(agent_->log(),
              HasSubstr("policy default/login: a login came to nothing: the signature of the id token is "
                        "wrong\n"));
  EXPECT_THAT(agent_->log(), HasSubstr("(HTTP 400"));
  EXPECT_THAT(agent_->log(), Not(HasSubstr("secret")));
  lie("audience=shop,another&azp=shop&at_hash=-");
  UserAgent browser;
  EXPECT_EQ(log_in(browser).status, 200);
}

TEST_F(Attack, AProviderThatFails) {
  UserAgent browser;
  lie("token_status=500");
  const Page page = log_in(browser);
  EXPECT_EQ(page.status, 503);
  EXPECT_EQ(page.field("X-Edge-Reason"), "provider-unreachable");
  // A session needs nobody.
  lie("");
  ASSERT_EQ(log_in(browser).status, 200);
  lie("token_status=500");
  EXPECT_EQ(browser.get(site("/a")).status, 200);
}

TEST_F(Attack, CookieTossing) {
  UserAgent attacker;
  ASSERT_EQ(log_in(attacker).status, 200);
  UserAgent victim;
  ASSERT_EQ(log_in(victim).status, 200);
  victim.planted = "edge_session=" + attacker.cookies[{"127.0.0.1", "edge_session"}].value;
  const Page page = victim.get(site("/a"));
  EXPECT_EQ(page.status, 400);
  EXPECT_EQ(page.field("X-Edge-Reason"), "session-doubled");
  // A login cookie beside the victim's own.
  UserAgent other;
  const std::string answer = callback(other);
  for (const auto& [key, cookie] : other.cookies) {
    if (key.second.starts_with("edge_login_")) other.planted = key.second + "=" + cookie.value;
  }
  EXPECT_EQ(other.get(answer).status, 400);
}

TEST_F(Attack, TamperedCookies) {
  UserAgent browser;
  ASSERT_EQ(log_in(browser).status, 200);
  const std::string sound = browser.cookies[{"127.0.0.1", "edge_session"}].value;
  std::string& value = browser.cookies[{"127.0.0.1", "edge_session"}].value;
  const std::size_t between = sound.find('.');
  for (std::size_t i = 0; i < between; i += 7) {
    value = sound;
    value[i] = value[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(browser.get(site("/a")).status, 302) << i;
  }
  for (const std::string text : {"", "1", "0", "9AAAA", "1.", "1AAAA", "1AAAA.BBBB", "not a session", "1===="}) {
    value = text;
    EXPECT_EQ(browser.get(site("/a")).status, 302) << text;
  }
  value = sound;
  EXPECT_EQ(browser.get(site("/a")).status, 200);
  // Of an agent with another secret.
  const Agent other({.issuer = provider_->issuer(),
                     .backend = backend_.port(),
                     .session_secret = "another secret of 32 bytes......"});
  EXPECT_EQ(browser.get(other.origin() + "/a").status, 302);
}

TEST_F(Attack, HugeCookies) {
  UserAgent browser;
  browser.planted = "edge_session=4" + std::string(3799, 'A');
  for (int i = 1; i < 4; ++i) browser.planted += "; edge_session_" + std::to_string(i) + "=" + std::string(3800, 'A');
  EXPECT_EQ(browser.get(site("/a")).status, 302);
  browser.planted = "edge_session=1" + std::string(20'000, 'A');
  EXPECT_EQ(browser.get(site("/a")).status, 302);
  browser.planted.clear();
  for (int i = 0; i < 200; ++i) browser.planted += "edge_login_" + std::to_string(i) + "=x; ";
  EXPECT_EQ(browser.get(site("/a")).status, 302);
}

TEST_F(Attack, AnswersThatAreNone) {
  UserAgent browser;
  const std::string answer = callback(browser);
  for (const std::string more : {"&code=two", "&state=two", "&x=%zz", "&x=%0d%0aSet-Cookie:a=b"}) {
    EXPECT_EQ(browser.get(answer + more).status, 400) << more;
  }
  EXPECT_EQ(browser.get(site("/oauth2/callback")).status, 400);
  EXPECT_EQ(browser.post(answer, "a=b").status, 400);
  const std::string state = answer.substr(answer.find("state="));
  const Page refused =
      browser.get(site("/oauth2/callback?error=access_denied&error_description=%3Cscript%3E&" + state));
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, Not(HasSubstr("script")));
  // That was its end.
  EXPECT_EQ(browser.get(answer).status, 400);
}

TEST_F(Attack, ACookieOfOneUseForAnother) {
  UserAgent browser;
  ASSERT_EQ(log_in(browser).status, 200);
  UserAgent other;
  static_cast<void>(other.get(site("/a")));
  for (const auto& [key, cookie] : std::map(other.cookies)) {
    if (key.second.starts_with("edge_login_"))
      other.cookies[{"127.0.0.1", "edge_session"}] = {.value = "1" + cookie.value, .path = "/"};
  }
  EXPECT_EQ(other.get(site("/a")).status, 302);
}

}  // namespace
}  // namespace edge::test
