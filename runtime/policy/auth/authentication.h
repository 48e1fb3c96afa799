// The authentication policies of a program, with the values of the secrets that they name.
//
// Made apart from the program, as secrets change without it; every thread takes one with the program that it is of. A
// policy whose secret is missing, or whose settings cannot be used, answers 503 in its target's place.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/task.h"
#include "net/tls/certificate.h"
#include "net/tls/sealing.h"
#include "program/values/secrets.h"
#include "runtime/match/load.h"
#include "runtime/policy/auth/auth_context.h"
#include "runtime/policy/auth/auth_result.h"
#include "runtime/policy/policies.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime::auth {

class BasicAuth;
class ForwardAuth;
class JwtPolicy;
class Oidc;

/// Immutable, and shared by all threads.
class Authentication {
 public:
  static std::shared_ptr<const Authentication> make(const LoadedProgram& program, const program::SecretSet& secrets,
                                                    Stores& stores);
  ~Authentication();

  /// Asks one policy. What `asked` shows is good until the first wait: what is needed after it is copied before. Up to
  /// there nobody else may be resumed (Waiter::wake_later, not wake). Every wait has a deadline.
  net::Task<AuthResult> ask(const AuthStep& step, const PolicyRequest& policy_request, AuthContext context) const;

  /// Bytes of the largest body that a policy wants to see with a request; 0: it wants none.
  std::uint64_t body_limit(const AuthStep& step) const;

  /// Whom calls believe; null where no policy calls anybody over https.
  const std::shared_ptr<const net::tls::Authorities>& authorities() const { return authorities_; }
  /// For the sessions of persistent rules; null: none were given, and clients go where balancing has them.
  const net::tls::SealingKeys* affinity_keys() const { return affinity_keys_ ? &*affinity_keys_ : nullptr; }
  /// One line a policy that cannot be used. No values.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  Authentication() = default;
  /// One a record of the section; null: cannot be used.
  std::vector<std::shared_ptr<const BasicAuth>> basic_auths_;
  std::vector<std::shared_ptr<const JwtPolicy>> jwts_;
  std::vector<std::shared_ptr<const Oidc>> oidcs_;
  std::vector<std::shared_ptr<const ForwardAuth>> forward_auths_;
  std::shared_ptr<const net::tls::Authorities> authorities_;
  std::optional<net::tls::SealingKeys> affinity_keys_;
  std::vector<std::string> faults_;
};

}  // namespace edge::runtime::auth
