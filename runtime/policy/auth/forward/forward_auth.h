// ForwardAuth: a service of the user's decides about each request. docs/forward-auth.md.
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

  /// Ready where the cache knows; else the service is asked.
  net::Task<AuthResult> ask(const PolicyRequest& policy_request, AuthContext context) const;
  bool secure() const { return url_.secure; }
  /// Bytes of the largest body that the service is sent; 0: it is sent none.
  std::uint64_t body_limit() const { return body_limit_; }

 private:
  ForwardAuth() = default;
  /// What the service is sent.
  struct Subrequest {
    std::string method = "GET";
    std::string host{};
    std::string target{};
    std::string fields{};
    std::string body{};
    std::string traced{};  ///< what the client tells of a trace; the rest is what is decided about
  };
  Subrequest subrequest(const PolicyRequest& policy_request) const;
  bool sends(std::string_view name) const;
  void add_own_words(const PolicyRequest& policy_request, std::string& lines) const;
  /// `sign_in`: where a client is sent that has to sign in first; empty: it gets the service's answer.
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

  /// Of the policy and its settings: what was decided by others does not count.
  std::string identity_;
  /// Of a backend: the path alone.
  net::client::Url url_;
  std::string name_space_;  ///< of the backend; empty: the URL is called
  std::string name_;
  /// The service is sent the request's own method, host and path (program/forward_auth.h).
  bool own_request_ = false;
  /// It speaks Envoy's ext_authz protocol.
  bool grpc_ = false;
  std::uint64_t body_limit_ = 0;
  net::Duration timeout_{};
  net::Duration cache_ttl_{};
  std::vector<std::string> auth_headers_;  ///< empty: all
  std::vector<std::string> response_headers_;
  std::string sign_in_;  ///< up to the value of the parameter; empty: there is no page to sign in at
  bool sign_in_takes_url_ = false;
};

}  // namespace edge::runtime::auth
