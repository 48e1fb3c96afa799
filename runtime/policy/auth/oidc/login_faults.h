// Why logins fail, for the operator: counted, and logged with a rate limit. Users and their browsers learn only that a
// login was refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/log.h"

namespace edge::runtime::auth {

enum class LoginFault : std::uint8_t {
#define EDGE_LOGIN_FAULT(name, label, text) k##name,
#include "runtime/policy/auth/oidc/login_faults.def"
#undef EDGE_LOGIN_FAULT
};
inline constexpr std::size_t kLoginFaults = 0
#define EDGE_LOGIN_FAULT(name, label, text) +1
#include "runtime/policy/auth/oidc/login_faults.def"
#undef EDGE_LOGIN_FAULT
    ;
/// Returns the label of the metric. `fault` below kLoginFaults.
std::string_view login_fault_label(std::size_t fault);

using LoginFaultCounts = std::array<std::uint64_t, kLoginFaults>;

/// Threads: any.
class LoginFaults {
 public:
  /// Seconds between two log lines of one fault, so that clients cannot flood the log.
  static constexpr std::int64_t kRest = 10;

  explicit LoginFaults(Logger log) : log_(std::move(log)) {}

  /// Counts a fault, and logs it. `policy`: its name. `detail`: the provider's explanation, if any; never a secret or a
  /// text that a client can choose.
  void note(LoginFault fault, std::string_view policy, std::string_view detail, std::int64_t unix_now);
  LoginFaultCounts counts() const;

 private:
  struct LoggedFault {
    std::int64_t rest_until = 0;
    std::uint64_t count = 0;  ///< when it was last logged
  };
  const Logger log_;
  mutable std::mutex mutex_;
  // Guarded by the mutex:
  LoginFaultCounts counts_{};
  std::array<LoggedFault, kLoginFaults> told_{};
};

}  // namespace edge::runtime::auth
