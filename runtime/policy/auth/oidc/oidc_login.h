// A login from its first request to the provider's response: the redirect of the browser, and the state to check when
// it returns (RFC 6749 §4.1, RFC 7636, OpenID Connect Core §3.1).
//
// The state is stored in the browser, encrypted, in one cookie per login, so that any agent can process the response
// and several tabs may log in at a time.
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

/// Returns whether the request is a browser's page load, which can be redirected: a GET that is not from a script. All
/// others get a status that a script understands.
bool is_navigation(const net::http1::RequestHead& head);

/// Returns whether the request comes from a page of `origin`, or from no page (a typed URL). By Sec-Fetch-Site, else
/// Origin, else Referer. False without any of them.
bool is_of_own_page(const net::http1::RequestHead& head, std::string_view origin);

/// Returns where a browser may be redirected after login: a path of this site, with its query; `/` for everything that
/// could be taken for another site, or is too long to store.
std::string local_target(std::string_view path, bool has_query, std::string_view query);

struct OidcLogin {
  /// The longest time from the start to the response, in seconds.
  static constexpr std::int64_t kLifetime = 600;
  /// Concurrent logins of one browser; older ones are dropped.
  static constexpr std::size_t kMaxAtOnce = 6;

  std::string state;
  std::string nonce;
  std::string verifier;  ///< for PKCE
  std::string target;    ///< path and query to return to
  std::int64_t began = 0;
  friend bool operator==(const OidcLogin&, const OidcLogin&) = default;
};

/// Starts a login; nullopt when the system provides no random bytes.
std::optional<OidcLogin> begin_login(std::string target, std::int64_t unix_now);
std::string write_login(const OidcLogin& login);
std::optional<OidcLogin> read_login(std::string_view bytes);

/// Returns BASE64URL(SHA256(verifier)) (RFC 7636 §4.2).
std::string s256(std::string_view text);

/// Returns Set-Cookie lines that store the login, and delete those beyond the limit.
std::optional<std::string> login_cookie_lines(const SessionKeys& keys, std::string_view bound_to,
                                              const OidcLogin& login, const OwnCookies& before, bool secure);
/// Returns the login of `state`, if this browser started it within the lifetime.
std::optional<OidcLogin> find_login(const SessionKeys& keys, std::string_view bound_to, std::string_view state,
                                    const OwnCookies& cookies, bool secure, std::int64_t unix_now);
/// Returns the Set-Cookie line that deletes the login's cookie.
std::string end_login_line(std::string_view state, bool secure);

struct AuthorizationRequest {
  std::string_view endpoint;
  std::string_view client_id;
  std::string_view redirect_uri;
  const std::vector<std::string>& scopes;
};
/// Returns the URL that the browser is redirected to.
std::string authorization_url(const AuthorizationRequest& request, const OidcLogin& login);

/// Appends `name=value`, form-encoded (WHATWG URL §5.2), after `?` or `&`.
void add_parameter(std::string& to, std::string_view name, std::string_view value);
std::string form_encoded(std::string_view text);

/// The parameters of a query. A duplicate name is an error (RFC 6749 §3.1).
class AnswerParameters {
 public:
  static constexpr std::size_t kMaxBytes = 8192;
  explicit AnswerParameters(std::string_view query);
  bool sound() const { return sound_; }
  /// Empty when the parameter is absent.
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
