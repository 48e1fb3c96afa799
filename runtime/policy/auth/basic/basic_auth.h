// BasicAuth: requests with the name and password of a user in an htpasswd secret pass. docs/basic-auth.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/task.h"
#include "runtime/policy/auth/auth_context.h"
#include "runtime/policy/auth/auth_result.h"
#include "runtime/policy/auth/basic/basic_credentials.h"
#include "runtime/policy/auth/basic/htpasswd.h"
#include "runtime/policy/auth/basic/password_pool.h"
#include "runtime/policy/auth/verified_cache.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime::auth {

/// Caches the results of recent password checks. Keyed by user, password and the stored hash: when the password is
/// changed, the old one fails at once.
struct CredentialCache {
  static constexpr net::Duration kRight = std::chrono::minutes(5);
  static constexpr net::Duration kWrong = std::chrono::minutes(1);

  DigestKey key;
  /// The value is the expiry. Two caches, so that a flood of wrong passwords does not evict the valid ones.
  VerifiedCache<net::Time> right{16'384};
  VerifiedCache<net::Time> wrong{4'096};
};

/// Immutable, shared by all threads.
class BasicAuth {
 public:
  static Result<std::shared_ptr<const BasicAuth>> make(const PolicyContext& making, const program::PolicyRecord& policy,
                                                       const program::BasicAuthRecord& record);

  net::Task<AuthResult> ask(const PolicyRequest& policy_request, AuthContext context) const;
  /// Returns the errors in lines of the htpasswd file. Without names or values.
  const std::vector<std::string>& faults() const { return users_->faults(); }

 private:
  using Answer = PasswordPool::Answer;
  BasicAuth() = default;
  net::Task<AuthResult> ask_pool(PasswordPool::Question question, std::string user, AuthContext context) const;
  void remember(const Digest& digest, Answer answer, AuthContext context) const;
  AuthResult conclude(Answer answer, std::string_view user) const;
  AuthResult deny(std::string_view reason, std::string_view text) const;

  std::string challenge_;
  bool strip_ = false;
  std::shared_ptr<const Htpasswd> users_;
};

}  // namespace edge::runtime::auth
