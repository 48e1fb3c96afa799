#include "runtime/session/accept/entrance.h"

#include <algorithm>

#include "runtime/session/accept/client_address.h"

namespace edge::runtime {
namespace {

/// The larger bound; 0 is none.
std::uint32_t looser(std::uint32_t a, std::uint32_t b) { return a == 0 || b == 0 ? 0 : std::max(a, b); }

void add_limits(const program::ClientLimitsRecord& limits, bool first, Entrance& entrance) {
  const auto add = [&](std::uint32_t limit, std::uint32_t& to) { to = first ? limit : looser(to, limit); };
  add(limits.max_connections_per_source, entrance.max_connections_per_source);
  add(limits.max_streams_per_source, entrance.max_streams_per_source);
}

void add_listener(const LoadedProgram& program, const LoadedListener& listener, Entrance& entrance) {
  entrance.proxy_header |= (listener.record->flags & program::kAcceptsProxyProtocol) != 0;
  entrance.looks_for_name |= passes_through(program, listener);
  if (std::ranges::find(entrance.gateways, listener.gateway) == entrance.gateways.end()) {
    add_limits(*listener.limits, entrance.gateways.empty(), entrance);
    entrance.gateways.push_back(listener.gateway);
  }
}

Entrance entrance_of(const LoadedProgram& program, std::uint32_t index) {
  const program::BindRecord& bind = program.binds()[index];
  Entrance entrance{.bind = index, .protocol = bind.protocol, .gateways = {}};
  const auto add = [&](std::uint32_t listener) {
    if (listener != program::kNone) add_listener(program, program.listener(listener), entrance);
  };
  add(bind.listeners.fallback);
  for (const program::NameEntry& entry : program.listeners_section().array(bind.listeners.entries)) {
    add(entry.exact);
    add(entry.wildcard);
  }
  return entrance;
}

}  // namespace

bool passes_through(const LoadedProgram& program, const LoadedListener& listener) {
  const auto tls = program.listeners_section().array(listener.record->tls);
  return !tls.empty() && tls.front().mode == program::TlsMode::kPassthrough;
}

bool Entrance::hides_reasons() const {
  return !gateways.empty() && std::ranges::all_of(gateways, [](const program::GatewayRecord* gateway) {
    return (gateway->flags & program::kHidesReasons) != 0;
  });
}

bool Entrance::trusts(const LoadedProgram& program, const IpAddress& peer) const {
  return !gateways.empty() && std::ranges::all_of(gateways, [&](const program::GatewayRecord* gateway) {
    return trusted(program.listeners_section().array(gateway->trusted_proxies), peer);
  });
}

std::vector<Entrance> entrances_of(const LoadedProgram& program, const std::vector<std::uint32_t>& bind_of_slot) {
  std::vector<Entrance> entrances;
  for (const std::uint32_t bind : bind_of_slot) {
    entrances.push_back(bind == program::kNone ? Entrance{} : entrance_of(program, bind));
  }
  return entrances;
}

}  // namespace edge::runtime
