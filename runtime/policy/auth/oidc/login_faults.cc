#include "runtime/policy/auth/oidc/login_faults.h"

namespace edge::runtime::auth {
namespace {

constexpr std::array<std::string_view, kLoginFaults> kLabels = {
#define EDGE_LOGIN_FAULT(name, label, text) label,
#include "runtime/policy/auth/oidc/login_faults.def"
#undef EDGE_LOGIN_FAULT
};
constexpr std::array<std::string_view, kLoginFaults> kTexts = {
#define EDGE_LOGIN_FAULT(name, label, text) text,
#include "runtime/policy/auth/oidc/login_faults.def"
#undef EDGE_LOGIN_FAULT
};

}  // namespace

std::string_view login_fault_label(std::size_t fault) { return kLabels[fault]; }

void LoginFaults::note(LoginFault fault, std::string_view policy, std::string_view detail, std::int64_t unix_now) {
  const auto index = static_cast<std::size_t>(fault);
  std::uint64_t untold = 0;
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t count = ++counts_[index];
    LoggedFault& reported = told_[index];
    if (unix_now < reported.rest_until) return;
    untold = count - reported.count - 1;
    reported = {unix_now + kRest, count};
  }
  std::string line = "policy ";
  line.append(policy).append(": a login came to nothing: ").append(kTexts[index]);
  if (!detail.empty()) line.append(" (").append(detail).append(")");
  if (untold != 0) line.append("; ").append(std::to_string(untold)).append(" more like it since the last such line");
  log_.warn(std::move(line), {{"policy", std::string(policy)}, {"reason", std::string(kLabels[index])}});
}

LoginFaultCounts LoginFaults::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace edge::runtime::auth
