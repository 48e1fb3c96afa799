#include "agent/sync/report.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "schemas/agent.pb.h"

namespace edge::agent {
namespace {

using runtime::BackendStatus;
using runtime::EndpointStatus;

constexpr std::size_t kMaxError = 256;

/// What went wrong may repeat what a backend said. A message takes no bytes that are not UTF-8: one such backend would
/// end every session.
std::string plain(const std::string& error) {
  std::string text = error.substr(0, kMaxError);
  std::ranges::replace_if(text, [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  return text;
}

std::string address_text(const net::SocketAddress& address) {
  const std::string host = to_string(address.address);
  return (address.address.is_v4() ? host : "[" + host + "]") + ":" + std::to_string(address.port);
}

const char* circuit_text(runtime::Circuit::State state) {
  if (state == runtime::Circuit::State::kClosed) return "Closed";
  return state == runtime::Circuit::State::kOpen ? "Open" : "HalfOpen";
}

/// Without the time of the last check and the count of connections, which change all the time.
std::uint64_t digest(const BackendStatus& backend) {
  std::uint64_t hash = hash_bytes(0, circuit_text(backend.circuit));
  for (const EndpointStatus& endpoint : backend.endpoints) {
    const auto* bytes = reinterpret_cast<const char*>(endpoint.address.address.bytes.data());
    hash = hash_bytes(hash, {bytes, endpoint.address.address.bytes.size()});
    hash = hash_mix(hash ^ endpoint.address.port, (endpoint.healthy() ? 3 : 5) + (endpoint.reserve ? 8 : 0));
    hash = hash_bytes(hash, endpoint.last_error);
    for (const std::string& zone : endpoint.zones) hash = hash_bytes(hash, zone);
    hash = hash_bytes(hash_bytes(hash, endpoint.cluster), endpoint.cluster_region);
    hash = hash_mix(hash ^ endpoint.cluster_priority, 7);
  }
  for (const runtime::NameStatus& name : backend.names) {
    hash = hash_bytes(hash_bytes(hash_mix(hash, name.addresses + 7), name.name), name.error);
  }
  return hash;
}

void write_backend(const BackendStatus& from, v1::BackendReport& report) {
  report.set_namespace_(from.name_space);
  report.set_name(from.name);
  report.set_circuit(circuit_text(from.circuit));
  report.set_connections(from.connections);
  for (const EndpointStatus& of : from.endpoints) {
    auto& endpoint = *report.add_endpoints();
    endpoint.set_address(address_text(of.address));
    endpoint.set_healthy(of.healthy());
    endpoint.set_last_error(plain(of.last_error));
    endpoint.set_last_check_ms(
        std::chrono::duration_cast<std::chrono::milliseconds>(of.last_check.time_since_epoch()).count());
    for (const std::string& zone : of.zones) endpoint.add_zones(zone);
    endpoint.set_reserve(of.reserve);
    endpoint.set_cluster(of.cluster);
    endpoint.set_cluster_priority(of.cluster_priority);
    endpoint.set_cluster_region(of.cluster_region);
  }
  for (const runtime::NameStatus& of : from.names) {
    auto& name = *report.add_names();
    name.set_name(of.name);
    name.set_addresses(static_cast<std::uint32_t>(of.addresses));
    name.set_error(plain(of.error));
  }
}

}  // namespace

void write_vip(const vip::AddressState& from, v1::Vip& into) {
  into.set_namespace_(from.name_space);
  into.set_name(from.name);
  into.set_address(from.address);
  into.set_held(from.held);
  into.set_epoch(from.epoch);
  into.set_unfit(std::string(to_string(from.unfit)));
  into.set_reason(plain(from.reason));
  into.set_interface(plain(from.interface));
  into.set_cause(from.cause);
  into.set_from(from.from);
  into.set_conflicts(from.conflicts);
  into.set_graceful_shutdown(from.graceful_shutdown);
  for (const bgp::SessionState& session : from.sessions) {
    auto& out = *into.add_sessions();
    out.set_peer(session.peer);
    out.set_peer_as(session.peer_as);
    out.set_state(plain(session.state));
    out.set_since_ms(session.since_ms);
    out.set_last_error(plain(session.last_error));
    out.set_bfd(session.bfd);
    out.set_announced(session.announced);
  }
}

void write_unbound(const runtime::UnboundListener& from, v1::UnboundListener& into) {
  into.set_gateway_id(from.gateway_id);
  into.set_namespace_(from.name_space);
  into.set_gateway(from.gateway);
  into.set_listener(from.listener);
  into.set_address(from.any_address ? "*:" + std::to_string(from.port) : address_text({from.address, from.port}));
  into.set_reason(plain(from.reason));
  switch (from.fault) {
    case runtime::ListenFault::kPort:
      return into.set_fault(v1::UnboundListener::PORT);
    case runtime::ListenFault::kAddress:
      return into.set_fault(v1::UnboundListener::ADDRESS);
    case runtime::ListenFault::kCertificate:
      return into.set_fault(v1::UnboundListener::CERTIFICATE);
    case runtime::ListenFault::kOther:
      return into.set_fault(v1::UnboundListener::OTHER);
  }
}

bool ReportWriter::write(std::span<const BackendStatus> backends, v1::Report& report) {
  std::size_t endpoints = 0;
  bool more = false;
  std::set<Name> present;
  for (const BackendStatus& backend : backends) {
    const Name& name = *present.emplace(backend.name_space, backend.name).first;
    const std::uint64_t now = digest(backend);
    const auto found = said_.find(name);
    if (found != said_.end() && found->second == now) continue;
    if (endpoints > 0 && endpoints + backend.endpoints.size() > kMaxEndpoints) {
      more = true;
      continue;
    }
    endpoints += backend.endpoints.size() + 1;
    said_[name] = now;
    write_backend(backend, *report.add_backends());
  }
  for (auto it = said_.begin(); it != said_.end();) {
    if (present.contains(it->first)) {
      ++it;
      continue;
    }
    auto& removed = *report.add_removed_backends();
    removed.set_namespace_(it->first.first);
    removed.set_name(it->first.second);
    it = said_.erase(it);
  }
  return more;
}

}  // namespace edge::agent
