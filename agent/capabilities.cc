#include "agent/capabilities.h"

#include <charconv>

#include "base/os/file.h"

namespace edge::agent {
namespace {

/// CAP_NET_BIND_SERVICE of linux/capability.h.
constexpr unsigned kBindService = 10;
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
  if ((privileges.effective >> kBindService & 1) != 0) return {};
  std::string named;
  for (const std::uint16_t port : ports) {
    if (port == 0 || port >= privileges.unprivileged_from) continue;
    named += (named.empty() ? "" : ", ") + std::to_string(port);
  }
  if (named.empty()) return {};
  return "lacks CAP_NET_BIND_SERVICE, which listening on " + named + " takes (ports below " +
         std::to_string(privileges.unprivileged_from) + ", net.ipv4.ip_unprivileged_port_start)";
}

}  // namespace edge::agent
