// The authentication policies of a program, with the values of the secrets that they name.
//
// Made apart from the program, because secrets change without it; every thread switches to it together with its
// program. A policy whose secret is missing or whose settings are unusable answers 503.
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

class ApiKeyPolicy;
class BasicAuth;
class CertificatePolicy;
class ForwardAuth;
class JwtPolicy;
class Oidc;

/// Immutable, shared by all threads.
class Authentication {
 public:
  static std::shared_ptr<const Authentication> make(const LoadedProgram& program, const program::SecretSet& secrets,
                                                    Stores& stores);
  ~Authentication();

  /// Runs one policy. `policy_request` is valid until the first suspension: the policy copies what it needs later.
  /// Until then it must not resume other tasks (Waiter::wake_later, not wake). Every wait has a deadline.
  net::Task<AuthResult> ask(const AuthStep& step, const PolicyRequest& policy_request, AuthContext context) const;

  /// Returns the largest request body that a policy inspects, in bytes; 0: it inspects none.
  std::uint64_t body_limit(const AuthStep& step) const;

  /// Returns the CAs trusted for calls; null where no policy makes calls over https.
  const std::shared_ptr<const net::tls::Authorities>& authorities() const { return authorities_; }
  /// Returns the keys for session persistence; null: none were given, and clients are balanced without it.
  const net::tls::SealingKeys* affinity_keys() const { return affinity_keys_ ? &*affinity_keys_ : nullptr; }
  /// Returns one line per unusable policy. Without values.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  Authentication() = default;
  /// One per record of the section; null: unusable.
  std::vector<std::shared_ptr<const BasicAuth>> basic_auths_;
  std::vector<std::shared_ptr<const ApiKeyPolicy>> api_keys_;
  std::vector<std::shared_ptr<const CertificatePolicy>> certificates_;
  std::vector<std::shared_ptr<const JwtPolicy>> jwts_;
  std::vector<std::shared_ptr<const Oidc>> oidcs_;
  std::vector<std::shared_ptr<const ForwardAuth>> forward_auths_;
  std::shared_ptr<const net::tls::Authorities> authorities_;
  std::optional<net::tls::SealingKeys> affinity_keys_;
  std::vector<std::string> faults_;
};

}  // namespace edge::runtime::auth
