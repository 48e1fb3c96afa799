#include "bench/auth/session_cost.h"

#include <memory>
#include <string>

#include "net/client/http_client.h"
#include "net/client/resolver.h"
#include "net/loop.h"
#include "net/tls/record_layer.h"
#include "runtime/policy/auth/oidc/oidc.h"
#include "runtime/policy/auth/stores.h"
#include "runtime/policy/test_policy_request.h"

namespace edge::bench {
namespace {

using namespace edge::runtime::auth;

constexpr std::int64_t kNow = 1'800'000'000;
constexpr const char* kSecret = "0123456789abcdef0123456789abcdef";

/// A policy, a thread that evaluates it, and a request.
class SessionRequest {
 public:
  explicit SessionRequest(int extra_groups) {
    secrets_.secrets = {{"shop",
                         "login",
                         {{"client-secret", std::make_shared<const std::string>("secret")},
                          {"session-secret", std::make_shared<const std::string>(kSecret)}}}};
    program::OidcRecord record{};
    record.issuer = section_.string("https://id.example");
    record.client_id = section_.string("shop");
    record.redirect_url = section_.string("http://shop.example/oauth2/callback");
    record.client_secret = {section_.string("shop"), section_.string("login"), section_.string("client-secret")};
    record.session_secret = {section_.string("shop"), section_.string("login"), section_.string("session-secret")};
    record.scopes = section_.strings({"openid"});
    record.forward_headers = section_.strings({"x-auth-groups"});
    record.required_groups = section_.strings({"staff"});
    const program::SectionView view = section_.view();
    policy_ = *Oidc::make({view, secrets_, stores_}, {}, record);
    request_ = std::make_unique<runtime::testing::TestRequest>(
        "GET /cart?item=1 HTTP/1.1\nHost: shop.example\nAccept: text/html\nUser-Agent: a browser\nCookie: "
        "theme=dark; " +
        cookies(extra_groups) + "; language=en");
  }

  bool pass() {
    net::Task<AuthResult> asked = policy_->ask(request_->policy_request(), {loop_, waiter_, client_, stores_, kNow});
    return asked.await_ready() && asked.await_resume().passed();
  }

 private:
  static std::string cookies(int extra_groups) {
    OidcIdentity identity{.expires = kNow + 300,
                          .ends = kNow + 86400,
                          .claims = {{"sub", "248289761001"},
                                     {"email", "janedoe@example.com"},
                                     {"name", "Jane Doe"},
                                     {"preferred_username", "jane"}},
                          .roles = {"buyer"},
                          .groups = {"/staff"}};
    for (int i = 0; i < extra_groups; ++i) identity.groups.push_back("/departments/number-" + std::to_string(i));
    const Result<SessionKeys> keys = SessionKeys::derive(kSecret, {});
    const auto text = seal_session(*keys, "https://id.example\nshop\n", identity,
                                   {.refresh = std::string(300, 'r'), .id = std::string(1000, 'i')});
    std::string field;
    const std::string lines = session_cookie_lines(*text, {}, false);
    for (std::size_t at = 0; (at = lines.find("Set-Cookie: ", at)) != std::string::npos;) {
      at += 12;
      field += (field.empty() ? "" : "; ") + lines.substr(at, lines.find(';', at) - at);
    }
    return field;
  }

  program::SecretSet secrets_;
  runtime::testing::TestSection section_;
  Stores stores_;
  net::Loop loop_;
  net::Waiter waiter_{loop_};
  net::tls::RecordRoom records_;
  net::client::HttpClient client_{loop_, stores_.resolver, records_};
  std::shared_ptr<const Oidc> policy_;
  std::unique_ptr<runtime::testing::TestRequest> request_;
};

}  // namespace

std::function<bool()> session_request(int extra_groups) {
  return [request = std::make_shared<SessionRequest>(extra_groups)] { return request->pass(); };
}

}  // namespace edge::bench
