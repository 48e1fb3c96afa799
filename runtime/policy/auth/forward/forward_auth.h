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

 private:
  ForwardAuth() = default;
  /// `traced`: what the client tells of one; the rest is what is decided about.
  std::string subrequest(const PolicyRequest& policy_request, std::string& traced) const;
  bool sends(std::string_view name) const;
  /// `sign_in`: where a client is sent that has to sign in first; empty: it gets the service's answer.
  net::Task<AuthResult> call(std::string fields, std::optional<ForwardAuthCache::Key> key, std::string sign_in,
                             AuthContext context) const;
  void set_sign_in(std::string_view url, std::string_view parameter);
  std::string sign_in_location(const PolicyRequest& policy_request) const;
  AuthResult read_answer(const net::client::Answer& answer) const;
  AuthResult pass(const net::client::Answer& answer) const;

  /// Of the policy and its settings: what was decided by others does not count.
  std::string identity_;
  net::client::Url url_;
  net::Duration timeout_{};
  net::Duration cache_ttl_{};
  std::vector<std::string> auth_headers_;  ///< empty: all
  std::vector<std::string> response_headers_;
  std::string sign_in_;  ///< up to the value of the parameter; empty: there is no page to sign in at
  bool sign_in_takes_url_ = false;
};

}  // namespace edge::runtime::auth
