// ForwardAuth with the real oauth2-proxy, which logs users in at the provider under Node. script/check-oauth2-proxy
// builds it (Go) and says where it is; skipped without.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/oidc/user_agent.h"
#include "tests/oidc/world.h"
#include "tests/support/lasting_port.h"

namespace edge::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The rest of the site asks; what is below /oauth2/ is oauth2-proxy's own.
std::string configuration(const std::string& address) {
  return R"(@gateway
@backend site
@route site
@backend login
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: login, namespace: default}
spec:
  parentRefs: [{name: edge}]
  rules: [{matches: [{path: {value: /oauth2/}}], backendRef: {name: login}}]
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyPolicy
metadata: {name: login, namespace: default}
spec:
  type: ForwardAuth
  targetRef: {kind: ProxyRoute, name: route-1}
  forwardAuth:
    address: ')" +
         address + R"('
    authHeaders: [Cookie, Accept]
    responseHeaders: [X-Auth-Request-User, X-Auth-Request-Email, X-Auth-Request-Groups, Set-Cookie]
)";
}

class OAuth2Proxy : public testing::Test {
 protected:
  void SetUp() override {
    const char* const program = std::getenv("EDGE_OAUTH2_PROXY");
    if (program == nullptr) GTEST_SKIP() << "EDGE_OAUTH2_PROXY is not set: run script/check-oauth2-proxy";
    if (!provider_installed()) GTEST_SKIP() << "oidc-provider is not installed: npm ci --prefix tests/oidc";
    program_ = program;
    provider_ = std::make_unique<Provider>(std::vector<std::string>{"provider.mjs", "300", "all"});
  }

  /// `path` of oauth2-proxy is asked about each request.
  void start(const std::string& path) {
    const std::uint16_t port = test::lasting_port();
    agent_ = std::make_unique<Agent>(configuration("http://127.0.0.1:" + std::to_string(port) + path),
                                     std::map<std::string, std::uint16_t>{{"site", site_.port()}, {"login", port}});
    ASSERT_EQ(agent_->fault(), "");
    process_ = std::make_unique<test::Process>(std::vector<std::string>{
        program_, "--http-address=127.0.0.1:" + std::to_string(port), "--provider=oidc",
        "--oidc-issuer-url=" + provider_->issuer(), "--client-id=shop", "--client-secret=a secret: with + and %",
        "--scope=openid email profile roles", "--code-challenge-method=S256", "--email-domain=*",
        "--redirect-url=" + agent_->origin() + "/oauth2/callback", "--cookie-secret=0123456789abcdef0123456789abcdef",
        "--cookie-secure=false", "--reverse-proxy=true", "--set-xauthrequest=true", "--upstream=static://202",
        "--skip-provider-button=true"});
    ASSERT_TRUE(listens_on(port)) << process_->err_text();
  }

  std::string program_;
  EchoBackend site_;
  std::unique_ptr<Provider> provider_;
  std::unique_ptr<Agent> agent_;
  std::unique_ptr<test::Process> process_;
};

// As nginx's auth_request has it: /oauth2/auth says yes or no, the login is begun by /oauth2/start.
TEST_F(OAuth2Proxy, SaysYesOrNo) {
  start("/oauth2/auth");
  UserAgent browser;
  const Page stranger = browser.get(agent_->origin() + "/a?b=c");
  EXPECT_EQ(stranger.status, 401);
  EXPECT_EQ(stranger.field("X-Edge-Reason"), "auth-denied");

  const Page form = browser.browse(agent_->origin() + "/oauth2/start?rd=%2Fa%3Fb%3Dc");
  ASSERT_EQ(form.status, 200) << form.fault << form.body;
  ASSERT_THAT(form.url, StartsWith(provider_->issuer()));
  const Page page = browser.log_in(form, "alice");
  ASSERT_EQ(page.status, 200) << page.url << page.fault << page.body;
  EXPECT_EQ(page.url, agent_->origin() + "/a?b=c");
  EXPECT_THAT(page.body, ContainsRegex("[Xx]-[Aa]uth-[Rr]equest-[Uu]ser: alice\n"));
  EXPECT_THAT(page.body, ContainsRegex("[Xx]-[Aa]uth-[Rr]equest-[Ee]mail: alice@example.com\n"));

  // Whoever says so himself is not believed, logged in or not.
  const Page lies = browser.get(agent_->origin() + "/a", {{"X-Auth-Request-User", "root"}});
  EXPECT_EQ(lies.status, 200);
  EXPECT_THAT(lies.body, Not(HasSubstr("root")));
  EXPECT_EQ(UserAgent().get(agent_->origin() + "/a", {{"X-Auth-Request-User", "root"}}).status, 401);

  browser.get(agent_->origin() + "/oauth2/sign_out");
  EXPECT_EQ(browser.get(agent_->origin() + "/a").status, 401);
}

// As Traefik's ForwardAuth has it: oauth2-proxy itself sends who is not known to the provider.
TEST_F(OAuth2Proxy, SendsUsersToTheirLogin) {
  start("/");
  UserAgent browser;
  const Page stranger = browser.get(agent_->origin() + "/cart?item=1");
  EXPECT_EQ(stranger.status, 302);
  EXPECT_EQ(stranger.field("X-Edge-Reason"), "auth-redirect");
  EXPECT_THAT(stranger.location(), StartsWith(provider_->issuer() + "/auth?"));
  const Page page = browser.log_in(browser.follow(stranger), "alice");
  ASSERT_EQ(page.status, 200) << page.url << page.fault << page.body;
  // It was told of the page by X-Forwarded-Uri.
  EXPECT_EQ(page.url, agent_->origin() + "/cart?item=1");
  EXPECT_THAT(page.body, HasSubstr("alice@example.com"));
  EXPECT_EQ(browser.post(agent_->origin() + "/cart", "a=b").status, 200);

  // Without it nobody gets in.
  process_.reset();
  EXPECT_EQ(browser.get(agent_->origin() + "/cart").status, 503);
}

}  // namespace
}  // namespace edge::test
