// The dashboard's login: the data plane's OIDC (runtime/policy/auth/oidc) in front of the small server. Sessions are in
// the viewers' cookies, sealed with a key; without one in the settings it is the process's, and they end with it.
//
// For the loop's thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "edgectl/web/login/identity.h"
#include "net/loop.h"
#include "net/server/message.h"
#include "net/task.h"

namespace edge::edgectl::web {

struct LoginSettings {
  std::string issuer, client_id, client_secret;
  std::string redirect_url = "/oauth2/callback";  ///< a path alone means the host that the request is for
  std::vector<std::string> scopes{};              ///< in addition to `openid`
  std::string session_secret{};                   ///< 32 bytes as for the policy; empty: random
  std::string authorities{};                      ///< PEM, in addition to the system's; for the provider
  /// As kube-apiserver's flags of these names, so that both name a user alike.
  std::string username_claim = "sub";
  std::optional<std::string> username_prefix{};  ///< nullopt: the issuer and `#`, none for `email`; `-`: none
  std::string groups_claim = "groups";           ///< `groups` or `roles`
  std::string groups_prefix{};
  Logger log{};  ///< why logins fail
};

class Login {
 public:
  /// Not for the loop's thread: reads the system's CAs. kInvalidArgument: settings that cannot be used.
  static Result<std::unique_ptr<Login>> make(net::Loop& loop, LoginSettings settings);
  /// No request may be in progress.
  ~Login();
  Login(const Login&) = delete;
  Login& operator=(const Login&) = delete;

  struct Outcome {
    std::optional<net::server::Reply> reply{};  ///< in place of the server's: a redirect, a refusal, the logout
    LoggedIn login{};                           ///< who asks, unless there is a reply
    net::server::FieldList fields{};            ///< for the server's reply: cookies of a refreshed session
    std::string ended_session{};                ///< which the request has logged out; empty: none
  };
  /// `waiter`: of the request; cancelled when the server stops.
  net::Task<Outcome> ask(const net::server::Request& request, net::Waiter& waiter);

 private:
  struct State;
  explicit Login(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Returns the user and groups that claims amount to; an error says what is missing. Groups that begin with `system:`
/// are the API's own, and left out; a user of such a name is refused.
Result<Identity> identity_of(const LoginSettings& settings, const std::string& username,
                             const std::vector<std::string>& groups);

}  // namespace edge::edgectl::web
