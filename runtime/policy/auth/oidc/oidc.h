// OIDC: users log in at an identity provider, and come back with a session that rests in their cookies.
// docs/oidc.md.
//
//   no session -> 302 to the provider -> callback: code to tokens -> session -> 302 to where the user was going
//
// The request that has a session costs the opening of a cookie; all else waits for the provider.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/task.h"
#include "program/read.h"
#include "runtime/policy/auth/auth_context.h"
#include "runtime/policy/auth/auth_result.h"
#include "runtime/policy/auth/oidc/cookies.h"
#include "runtime/policy/auth/oidc/login_faults.h"
#include "runtime/policy/auth/oidc/oidc_claims.h"
#include "runtime/policy/auth/oidc/oidc_login.h"
#include "runtime/policy/auth/oidc/oidc_session.h"
#include "runtime/policy/auth/oidc/oidc_store.h"
#include "runtime/policy/auth/oidc/oidc_tokens.h"
#include "runtime/policy/auth/oidc/session_cookie.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime::auth {

/// Ends a session, on every host that a policy is on (specification, "B. Data-plane listeners").
inline constexpr std::string_view kLogoutPath = "/oauth2/logout";
/// Beside `session-secret`, where it is: what that was before, whose cookies go on being good.
inline constexpr std::string_view kPreviousSessionSecretKey = "session-secret-previous";

class Oidc {
 public:
  static Result<std::shared_ptr<const Oidc>> make(const PolicyContext& making, const program::PolicyRecord& policy,
                                                  const program::OidcRecord& settings);

  /// Ready where a session is good, and where nothing need be asked of the provider.
  net::Task<AuthResult> ask(const PolicyRequest& policy_request, AuthContext context) const;

 private:
  /// Set by this very host alone (RFC 6265bis §4.1.3.2), and needed to open the session's cookies, whose name the
  /// specification fixes: a session that a sibling host has planted opens for nobody.
  static constexpr std::string_view kHostKeyCookie = "__Host-edge_session";
  /// A session at most, however often it is refreshed: a cookie that was stolen is of no use for longer.
  static constexpr std::int64_t kSessionTime = std::int64_t{7} * 24 * 3600;

  /// What is known of a request beyond the first wait.
  struct Visit {
    bool navigation = false;
    bool secure = false;
    std::string origin;    ///< the site's own, as its users see it
    std::string target;    ///< what was asked for; local
    std::string bound_to;  ///< the session's cookies, here
    std::string session;   ///< their text; empty: there is none
    SessionCookiesSeen cookies_seen;
    std::string other_cookies;
    /// One that this request may begin, with its Set-Cookie lines; or the one that it comes back from.
    std::optional<OidcLogin> login;
    std::string login_lines;
  };
  /// What the provider answered to a login.
  struct Answer {
    std::string code;
    std::string issuer;
  };
  /// What must hold for the tokens, as IdTokenRules has it.
  struct Expected {
    std::string nonce;
    std::string subject;
  };
  /// Who a user is, by the provider's tokens; or the refusal, or that nobody could tell.
  struct Proof {
    std::optional<OidcIdentity> identity;
    OidcTokens tokens;
    AuthResult refusal{};
  };

  explicit Oidc(SessionKeys keys) : keys_(std::move(keys)) {}
  Status read_redirect_url(std::string_view text);

  Visit visit_of(const PolicyRequest& policy_request, const OwnCookies& cookies) const;
  void prepare_login(Visit& visit, const OwnCookies& cookies, std::int64_t unix_now) const;
  std::string redirect_uri(const Visit& visit) const { return visit.origin + callback_target_; }
  std::string binding(std::string_view host_key) const;
  AuthResult pass(const OidcIdentity& identity, std::string_view other_cookies) const;
  /// 302 to the provider, or 401.
  net::Task<AuthResult> begin(Visit visit, AuthContext context) const;
  net::Task<AuthResult> ask_to_log_in(Visit visit, AuthContext context) const;
  /// The session as it began, however often it was refreshed.
  static Digest session_id(const OidcIdentity& identity, std::string_view bound_to, const OidcStore& store);
  static net::Task<AuthResult> confirm_logout(std::string_view return_to);
  net::Task<AuthResult> log_out(const PolicyRequest& policy_request, Visit visit, AuthContext context) const;
  net::Task<AuthResult> end_session(Visit visit, std::string return_to, AuthContext context) const;

  // oidc_callback.cc: what the provider's token endpoint is needed for
  net::Task<AuthResult> come_back(const PolicyRequest& policy_request, Visit visit, const OwnCookies& cookies,
                                  AuthContext context) const;
  net::Task<AuthResult> finish_login(Visit visit, Answer answer, AuthContext context) const;
  AuthResult welcome(const Visit& visit, const Proof& proof) const;
  net::Task<AuthResult> refresh(Visit visit, OidcIdentity before, OidcTokens tokens, AuthContext context) const;
  net::Task<RefreshedSession> ask_anew(std::string bound_to, OidcIdentity before, OidcTokens tokens,
                                       AuthContext context) const;
  net::Task<Proof> redeem(ProviderNow provider, TokenRequest request, Expected expected, AuthContext context) const;
  net::Task<Proof> examine(ProviderNow provider, TokenAnswer answer, Expected expected, AuthContext context) const;
  net::Task<void> complete(const OidcProvider& provider, const TokenAnswer& answer, std::string_view subject,
                           OidcIdentity& identity, AuthContext context) const;
  void note(LoginFault fault, std::string_view detail, const AuthContext& context) const;
  bool lacks_something(const OidcIdentity& identity) const;

  std::string name_;  ///< the policy's
  std::string issuer_;
  OidcClient client_;
  std::string callback_path_;    ///< normalised
  std::string callback_target_;  ///< as written: path and query
  /// Where users come back to, `https://shop.example`; empty: where they came from.
  std::string origin_;
  std::string host_;
  bool secure_ = false;
  std::vector<std::string> scopes_;
  std::vector<ForwardedClaim> forwarded_;
  bool keeps_access_token_ = false;
  OidcRequirements requirements_;
  std::string binding_;
  /// Whom calls over https believe.
  std::shared_ptr<const net::tls::Authorities> trusted_;
  std::shared_ptr<ProviderSource> provider_;
  SessionKeys keys_;
};

}  // namespace edge::runtime::auth
