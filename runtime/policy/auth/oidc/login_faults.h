// Why logins fail, for whoever runs the proxy: counted, and told in a line at times. Users and their browsers learn
// only that a login was refused.
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
/// Of the metric. `fault` below kLoginFaults.
std::string_view login_fault_label(std::size_t fault);

using LoginFaultCounts = std::array<std::uint64_t, kLoginFaults>;

/// From any thread.
class LoginFaults {
 public:
  /// Between two lines of one fault, seconds: who can make logins fail cannot fill the log.
  static constexpr std::int64_t kRest = 10;

  explicit LoginFaults(Logger log) : log_(std::move(log)) {}

  /// `policy`: its name. `detail`: what the provider said of it, if anything; neither a secret nor a text that somebody
  /// may choose at will.
  void note(LoginFault fault, std::string_view policy, std::string_view detail, std::int64_t unix_now);
  LoginFaultCounts counts() const;

 private:
  struct LoggedFault {
    std::int64_t rest_until = 0;
    std::uint64_t count = 0;  ///< when it was told last
  };
  const Logger log_;
  mutable std::mutex mutex_;
  // Under the mutex:
  LoginFaultCounts counts_{};
  std::array<LoggedFault, kLoginFaults> told_{};
};

}  // namespace edge::runtime::auth
