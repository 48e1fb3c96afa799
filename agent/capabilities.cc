#include "agent/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <charconv>

#include <unistd.h>

#include "base/os/file.h"

namespace edge::agent {
namespace {

constexpr std::size_t kMaxProcFile = 64 << 10;

}  // namespace

Privileges own_privileges() {
  Privileges found{.effective = ~std::uint64_t{0}};
  if (const auto status = read_file("/proc/self/status", kMaxProcFile)) {
    constexpr std::string_view kLine = "\nCapEff:\t";
    const std::size_t at = status->find(kLine);
    if (at != std::string::npos) {
      std::from_chars(status->data() + at + kLine.size(), status->data() + status->size(), found.effective, 16);
    }
  }
  if (const auto start = read_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", kMaxProcFile)) {
    std::from_chars(start->data(), start->data() + start->size(), found.unprivileged_from);
  }
  return found;
}

std::string missing_capability(std::span<const std::uint16_t> ports, const Privileges& privileges) {
  if ((privileges.effective >> CAP_NET_BIND_SERVICE & 1) != 0) return {};
  std::string named;
  for (const std::uint16_t port : ports) {
    if (port == 0 || port >= privileges.unprivileged_from) continue;
    named += (named.empty() ? "" : ", ") + std::to_string(port);
  }
  if (named.empty()) return {};
  return "lacks CAP_NET_BIND_SERVICE, which listening on " + named + " takes (ports below " +
         std::to_string(privileges.unprivileged_from) + ", net.ipv4.ip_unprivileged_port_start)";
}

void raise_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return;
  bool changed = false;
  for (const unsigned one : {CAP_NET_BIND_SERVICE, CAP_NET_ADMIN, CAP_NET_RAW}) {
    __user_cap_data_struct& word = data[one / 32];
    const std::uint32_t bit = std::uint32_t{1} << (one % 32);
    if ((word.permitted & bit) == 0) continue;
    changed |= (word.effective & bit) == 0 || (word.inheritable & bit) == 0;
    word.effective |= bit;
    word.inheritable |= bit;
  }
  if (!changed || ::syscall(SYS_capset, &header, data) != 0) return;
  for (const unsigned long one : {CAP_NET_BIND_SERVICE, CAP_NET_ADMIN, CAP_NET_RAW}) {
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, one, 0, 0);
  }
}

}  // namespace edge::agent
