// OIDC: users log in at an identity provider; the session is stored encrypted in their cookies. docs/oidc.md.
//
//   no session -> 302 to the provider -> callback: code to tokens -> session -> 302 to where the user was going
//
// A request with a session costs the decryption of a cookie; all others wait for the provider.
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

/// The path that ends a session, on every host with the policy (specification, "B. Data-plane listeners").
inline constexpr std::string_view kLogoutPath = "/oauth2/logout";
/// Optional next to `session-secret`: its previous value, whose cookies stay valid.
inline constexpr std::string_view kPreviousSessionSecretKey = "session-secret-previous";

/// What a login is made from.
struct OidcSettings {
  std::string name;  ///< for the log
  std::string issuer;
  OidcClient client;
  std::string session_secret, previous_session_secret;
  std::string redirect_url;  ///< a path alone means the host that the request is for
  std::vector<std::string> scopes;
  std::vector<std::string> forward_headers;
  OidcRequirements requirements;
  bool tells_identity = false;  ///< results have it: of who passes, and of a session that is logged out
};

class Oidc {
 public:
  static Result<std::shared_ptr<const Oidc>> make(const PolicyContext& making, const program::PolicyRecord& policy,
                                                  const program::OidcRecord& settings);
  static Result<std::shared_ptr<const Oidc>> make(OidcSettings settings, Stores& stores);

  /// Completes at once where the session is valid, or the provider is not needed.
  net::Task<AuthResult> ask(const PolicyRequest& policy_request, AuthContext context) const;

 private:
  /// Only this very host can set it (RFC 6265bis §4.1.3.2), and it is needed to decrypt the session cookies, whose name
  /// the specification fixes: a session cookie planted by a sibling host cannot be decrypted.
  static constexpr std::string_view kHostKeyCookie = "__Host-edge_session";
  /// The longest session, including refreshes: it limits the use of a stolen cookie.
  static constexpr std::int64_t kSessionTime = std::int64_t{7} * 24 * 3600;

  /// The parts of a request that are needed after the first suspension.
  struct Visit {
    bool navigation = false;
    bool secure = false;
    std::string origin;    ///< the site's origin, as users see it
    std::string target;    ///< the requested path and query; of this site
    std::string bound_to;  ///< what the session's cookies are bound to
    std::string session;   ///< their text; empty: no session
    SessionCookiesSeen cookies_seen;
    std::string other_cookies;
    /// A login that this request may start, with its Set-Cookie lines; or the one that it returns from.
    std::optional<OidcLogin> login;
    std::string login_lines;
  };
  /// The provider's answer to a login.
  struct Answer {
    std::string code;
    std::string issuer;
  };
  /// The requirements on the tokens, as in IdTokenRules.
  struct Expected {
    std::string nonce;
    std::string subject;
  };
  /// The user's identity from the provider's tokens; or a refusal, or an error.
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
  /// Redirects to the provider with 302, or answers 401.
  net::Task<AuthResult> begin(Visit visit, AuthContext context) const;
  net::Task<AuthResult> ask_to_log_in(Visit visit, AuthContext context) const;
  /// Returns the id of a session, the same after refreshes.
  static Digest session_id(const OidcIdentity& identity, std::string_view bound_to, const OidcStore& store);
  static net::Task<AuthResult> confirm_logout(std::string_view return_to);
  net::Task<AuthResult> log_out(const PolicyRequest& policy_request, Visit visit, AuthContext context) const;
  net::Task<AuthResult> end_session(Visit visit, std::string return_to, AuthContext context) const;

  // oidc_callback.cc: what needs the provider's token endpoint
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
  /// The origin that users return to, `https://shop.example`; empty: the one they came from.
  std::string origin_;
  std::string host_;
  bool secure_ = false;
  std::vector<std::string> scopes_;
  std::vector<ForwardedClaim> forwarded_;
  bool keeps_access_token_ = false;
  bool tells_identity_ = false;
  OidcRequirements requirements_;
  std::string binding_;
  /// The CAs trusted for calls over https.
  std::shared_ptr<const net::tls::Authorities> trusted_;
  std::shared_ptr<ProviderSource> provider_;
  SessionKeys keys_;
};

}  // namespace edge::runtime::auth
