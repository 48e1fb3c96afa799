// A login from the request that it begins with to the provider's answer: what the browser is sent away with, what the
// proxy must know again when it comes back (RFC 6749 §4.1, RFC 7636, OpenID Connect Core §3.1).
//
// What must be known again rests at the browser, sealed, in a cookie of its own for each login, so that any agent can
// take the answer and several tabs may log in at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http1/head.h"
#include "runtime/policy/auth/oidc/cookies.h"
#include "runtime/policy/auth/oidc/session_cookie.h"

namespace edge::runtime::auth {

/// Somebody looks at a page, and can be sent elsewhere: a GET of a browser that is not a script's. Everything else gets
/// a status that a script understands.
bool is_navigation(const net::http1::RequestHead& head);

/// The request comes from a page of `origin` itself, or from nobody's page (an address that was typed). Told by the
/// browser: Sec-Fetch-Site, where it has none Origin, and last Referer. False where nothing tells.
bool is_of_own_page(const net::http1::RequestHead& head, std::string_view origin);

/// Where a browser may be sent back to: a path of this site, with its query; `/` for everything that could be read as
/// more than that, or is too long to be kept.
std::string local_target(std::string_view path, bool has_query, std::string_view query);

struct OidcLogin {
  /// Seconds from its begin to the answer.
  static constexpr std::int64_t kLifetime = 600;
  /// Of one browser at a time; older ones are given up.
  static constexpr std::size_t kMaxAtOnce = 6;

  std::string state;
  std::string nonce;
  std::string verifier;  ///< of PKCE
  std::string target;    ///< local
  std::int64_t began = 0;
  friend bool operator==(const OidcLogin&, const OidcLogin&) = default;
};

/// nullopt when the system gives no random bytes.
std::optional<OidcLogin> begin_login(std::string target, std::int64_t unix_now);
std::string write_login(const OidcLogin& login);
std::optional<OidcLogin> read_login(std::string_view bytes);

/// BASE64URL(SHA256(verifier)) (RFC 7636 §4.2).
std::string s256(std::string_view text);

/// Set-Cookie lines that keep the login, and take away what is too much.
std::optional<std::string> login_cookie_lines(const SessionKeys& keys, std::string_view bound_to,
                                              const OidcLogin& login, const OwnCookies& before, bool secure);
/// The login that `state` is of, if this browser has begun it, and not too long ago.
std::optional<OidcLogin> find_login(const SessionKeys& keys, std::string_view bound_to, std::string_view state,
                                    const OwnCookies& cookies, bool secure, std::int64_t unix_now);
/// Takes its cookie away.
std::string end_login_line(std::string_view state, bool secure);

struct AuthorizationRequest {
  std::string_view endpoint;
  std::string_view client_id;
  std::string_view redirect_uri;
  const std::vector<std::string>& scopes;
};
/// Where the browser is sent to.
std::string authorization_url(const AuthorizationRequest& request, const OidcLogin& login);

/// Appends `name=value`, encoded as a form's (WHATWG URL §5.2), with what must stand before it.
void add_parameter(std::string& to, std::string_view name, std::string_view value);
std::string form_encoded(std::string_view text);

/// The parameters of a query. A name that stands twice is a fault (RFC 6749 §3.1).
class AnswerParameters {
 public:
  static constexpr std::size_t kMaxBytes = 8192;
  explicit AnswerParameters(std::string_view query);
  bool sound() const { return sound_; }
  /// Empty when it is absent.
  std::string_view value(std::string_view name) const;

 private:
  struct Parameter {
    std::string name;
    std::string value;
  };
  bool sound_ = true;
  std::vector<Parameter> all_;
};

}  // namespace edge::runtime::auth
