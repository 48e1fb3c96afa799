// APIKey: requests with a key of a client pass, and the backend is told whose it is. docs/api-keys.md.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http1/head.h"
#include "net/task.h"
#include "runtime/policy/auth/api_key/api_keys.h"
#include "runtime/policy/auth/auth_context.h"
#include "runtime/policy/auth/auth_result.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime::auth {

/// Immutable, shared by all threads.
class ApiKeyPolicy {
 public:
  static Result<std::shared_ptr<const ApiKeyPolicy>> make(const PolicyContext& making,
                                                          const program::PolicyRecord& policy,
                                                          const program::ApiKeyRecord& record);

  /// Never waits: one hash and one lookup, for any number of keys.
  net::Task<AuthResult> ask(const PolicyRequest& policy_request, AuthContext context) const;
  /// Returns the errors in lines of keys. Without names or values.
  const std::vector<std::string>& faults() const { return keys_.faults(); }

 private:
  ApiKeyPolicy() = default;
  enum class Search : std::uint8_t { kFound, kMissing, kRepeated };
  Search find_key(const net::http1::HeadFields& fields, std::string_view& key) const;
  AuthResult decide(const PolicyRequest& policy_request) const;
  void strip(const net::http1::HeadFields& fields, RequestEdits& edits) const;

  std::string header_;
  std::string cookie_;
  std::string identity_header_;
  std::string challenge_;
  bool strip_ = false;
  ApiKeys keys_;
};

}  // namespace edge::runtime::auth
