// ForwardAuth: an external authorization service decides about each request. docs/forward-auth.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/client/url.h"
#include "net/task.h"
#include "program/read.h"
#include "runtime/policy/auth/auth_context.h"
#include "runtime/policy/auth/auth_result.h"
#include "runtime/policy/auth/forward/forward_auth_cache.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime::auth {

class ForwardAuth {
 public:
  static Result<std::shared_ptr<const ForwardAuth>> make(const PolicyContext& making,
                                                         const program::PolicyRecord& policy,
                                                         const program::ForwardAuthRecord& settings);

  /// Answers from the cache, else calls the service.
  net::Task<AuthResult> ask(const PolicyRequest& policy_request, AuthContext context) const;
  bool secure() const { return url_.secure; }
  /// Returns the largest body sent to the service, in bytes; 0: none.
  std::uint64_t body_limit() const { return body_limit_; }

 private:
  ForwardAuth() = default;
  /// The request to the service.
  struct Subrequest {
    std::string method = "GET";
    std::string host{};
    std::string target{};
    std::string fields{};
    std::string body{};
    std::string traced{};  ///< the client's trace context; not part of the cache key
  };
  Subrequest subrequest(const PolicyRequest& policy_request) const;
  bool sends(std::string_view name) const;
  void add_own_words(const PolicyRequest& policy_request, std::string& lines) const;
  /// `sign_in`: the URL that a client without a session is redirected to; empty: the client gets the service's answer.
  net::Task<AuthResult> call(Subrequest subrequest, std::optional<ForwardAuthCache::Key> key, std::string sign_in,
                             AuthContext context) const;
  void set_sign_in(std::string_view url, std::string_view parameter);
  std::string sign_in_location(const PolicyRequest& policy_request) const;
  net::Task<net::client::Answer> send(const Subrequest& subrequest, AuthContext context) const;
  AuthResult read_answer(const net::client::Answer& answer) const;
  AuthResult read_own(const net::client::Answer& answer) const;
  Subrequest check_call(const PolicyRequest& policy_request, std::int64_t unix_now) const;
  static AuthResult read_check(const net::client::Answer& answer);
  AuthResult pass(const net::client::Answer& answer) const;

  /// Policy and settings, part of the cache key: decisions under other settings do not count.
  std::string identity_;
  /// For a backend: only the path.
  net::client::Url url_;
  std::string name_space_;  ///< of the backend; empty: `url_` is called
  std::string name_;
  /// The service gets the request's own method, host and path (program/forward_auth.h).
  bool own_request_ = false;
  /// The service speaks Envoy's ext_authz protocol.
  bool grpc_ = false;
  std::uint64_t body_limit_ = 0;
  net::Duration timeout_{};
  net::Duration cache_ttl_{};
  std::vector<std::string> auth_headers_;  ///< empty: all
  std::vector<std::string> response_headers_;
  std::string sign_in_;  ///< up to the value of the parameter; empty: no sign-in page
  bool sign_in_takes_url_ = false;
};

}  // namespace edge::runtime::auth
