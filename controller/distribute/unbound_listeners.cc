#include "controller/distribute/unbound_listeners.h"

#include <map>
#include <tuple>

namespace edge::controller {
namespace {

/// Agents' reports about one listener at one address.
struct Reports {
  const UnboundListener* first = nullptr;
  const AgentState* agent = nullptr;  ///< whose word `first` is
  std::size_t agents = 0;
  bool only_addresses = true;
};

}  // namespace

std::string_view condition_reason(BindFault fault) {
  switch (fault) {
    case BindFault::kPort:
      return "PortUnavailable";
    case BindFault::kAddress:
      return "AddressNotUsable";
    case BindFault::kCertificate:
      return "InvalidCertificateRef";
    case BindFault::kOther:
      break;
  }
  return "Pending";
}

std::vector<UnboundListener> unbound_of_all(std::span<const AgentState> agents) {
  std::map<std::tuple<std::uint64_t, std::string_view, std::string_view>, Reports> all;
  std::size_t serving = 0;
  for (const AgentState& agent : agents) {
    if (!agent.connected || agent.program.empty()) continue;
    ++serving;
    for (const UnboundListener& one : agent.unbound) {
      Reports& reports = all[{one.gateway_id, one.listener, one.address}];
      const bool address = one.fault == BindFault::kAddress;
      // Whose port is in use says more than who lacks the address.
      if (reports.first == nullptr || (reports.only_addresses && !address)) {
        reports.first = &one;
        reports.agent = &agent;
      }
      reports.only_addresses = reports.only_addresses && address;
      ++reports.agents;
    }
  }
  std::vector<UnboundListener> amiss;
  for (const auto& [position, reports] : all) {
    if (reports.only_addresses && reports.agents < serving) continue;
    UnboundListener& one = amiss.emplace_back(*reports.first);
    one.reason = "agent " + reports.agent->name + ": " + one.reason;
  }
  return amiss;
}

}  // namespace edge::controller
