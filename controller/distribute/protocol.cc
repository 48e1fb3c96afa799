#include "controller/distribute/protocol.h"

#include <algorithm>

#include "program/cpu.h"
#include "program/values/endpoints.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

constexpr std::size_t kMaxWord = 256;
constexpr std::size_t kHashBytes = 32;

/// A level that is newer than this controller is one of its architecture all the same.
std::optional<program::Target> cpu_of(const std::string& text) {
  if (const auto known = program::parse_target(text)) return known;
  if (text.starts_with("x86-64")) return program::Target::kX8664;
  if (text.starts_with("aarch64")) return program::Target::kAarch64;
  return std::nullopt;
}

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  std::string out(text.substr(0, limit));
  std::ranges::replace_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  // What is cut off within a character of UTF-8 loses that character.
  while (text.size() > limit && !out.empty() && (static_cast<unsigned char>(text[out.size()]) & 0xc0) == 0x80) {
    out.pop_back();
  }
  return out;
}

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

Result<Greeting> read_greeting(const agent::v1::Hello& hello) {
  Greeting greeting;
  greeting.protocol = std::min(hello.protocol(), kNewestProtocol);
  if (greeting.protocol < std::max(hello.oldest_protocol(), kOldestProtocol)) {
    return Error{ErrorCode::kFailedPrecondition,
                 "no protocol in common: the agent speaks " + std::to_string(hello.oldest_protocol()) + " to " +
                     std::to_string(hello.protocol()) + ", the controller " + std::to_string(kOldestProtocol) + " to " +
                     std::to_string(kNewestProtocol)};
  }
  const auto cpu = cpu_of(hello.cpu());
  const bool hash = hello.program().empty() || hello.program().size() == kHashBytes;
  if (!cpu || !hash || hello.instance().empty() || hello.instance().size() > kMaxWord) {
    return Error{ErrorCode::kInvalidArgument, "the agent says not who it is"};
  }
  greeting.cpu = *cpu;
  greeting.instance = hello.instance();
  greeting.state.node = printable(hello.node(), kMaxWord);
  greeting.state.version = printable(hello.version(), kMaxWord);
  greeting.state.cpu = printable(hello.cpu(), kMaxWord);
  greeting.state.unbound = read_unbound_list(hello.unbound());
  if (hello.labels().size() > kMaxLabels) {
    return Error{ErrorCode::kInvalidArgument, "the agent has more than " + std::to_string(kMaxLabels) + " labels"};
  }
  for (const auto& [key, value] : hello.labels()) {
    if (!is_label_key(key) || !is_label_value(value)) {
      return Error{ErrorCode::kInvalidArgument, "what the agent tells as a label is none: " + printable(key, 64)};
    }
    greeting.state.labels.emplace(key, value);
  }
  return greeting;
}

std::int64_t to_milliseconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

WallTime from_milliseconds(std::int64_t milliseconds) {
  // What lies further ahead than nanoseconds count is no time.
  constexpr std::int64_t kMost = std::int64_t{1} << 43;
  return WallTime(std::chrono::milliseconds(std::clamp<std::int64_t>(milliseconds, 0, kMost)));
}

BackendHealth read_backend(const agent::v1::BackendReport& report) {
  BackendHealth backend;
  backend.name_space = printable(report.namespace_(), kMaxWord);
  backend.name = printable(report.name(), kMaxWord);
  backend.circuit = printable(report.circuit(), kMaxWord);
  backend.connections = report.connections();
  backend.endpoints.reserve(static_cast<std::size_t>(report.endpoints_size()));
  for (const agent::v1::EndpointReport& endpoint : report.endpoints()) {
    backend.endpoints.push_back({.address = printable(endpoint.address(), kMaxWord),
                                 .healthy = endpoint.healthy(),
                                 .last_check = from_milliseconds(endpoint.last_check_ms()),
                                 .last_error = printable(endpoint.last_error(), kMaxWord),
                                 .zones = {endpoint.zones().begin(), endpoint.zones().end()},
                                 .reserve = endpoint.reserve(),
                                 .cluster = printable(endpoint.cluster(), kMaxWord),
                                 .cluster_priority = endpoint.cluster_priority(),
                                 .cluster_region = printable(endpoint.cluster_region(), kMaxWord)});
    auto& zones = backend.endpoints.back().zones;
    std::erase_if(zones, [](const std::string& zone) { return !program::is_zone(zone); });
    if (zones.size() > program::kMostEndpointZones) zones.resize(program::kMostEndpointZones);
  }
  for (const agent::v1::NameReport& name : report.names()) {
    backend.names.push_back({printable(name.name(), kMaxWord), name.addresses(), printable(name.error(), kMaxWord)});
  }
  return backend;
}

VipState read_vip(const agent::v1::Vip& vip) {
  VipState state = {.name_space = printable(vip.namespace_(), kMaxWord),
                    .name = printable(vip.name(), kMaxWord),
                    .address = printable(vip.address(), kMaxWord),
                    .held = vip.held(),
                    .epoch = vip.epoch(),
                    .unfit = printable(vip.unfit(), kMaxWord),
                    .reason = printable(vip.reason(), kMaxWord),
                    .interface = printable(vip.interface(), kMaxWord),
                    .cause = printable(vip.cause(), kMaxWord),
                    .from = printable(vip.from(), kMaxWord),
                    .conflicts = vip.conflicts(),
                    .graceful_shutdown = vip.graceful_shutdown()};
  for (const auto& session : vip.sessions()) {
    if (state.sessions.size() >= VipState::kMostSessions) break;
    state.sessions.push_back({.peer = printable(session.peer(), kMaxWord),
                              .peer_as = session.peer_as(),
                              .state = printable(session.state(), kMaxWord),
                              .since_ms = session.since_ms(),
                              .last_error = printable(session.last_error(), kMaxWord),
                              .bfd = printable(session.bfd(), kMaxWord),
                              .announced = session.announced()});
  }
  return state;
}

UnboundListener read_unbound(const agent::v1::UnboundListener& from) {
  using Message = agent::v1::UnboundListener;
  return {.gateway_id = from.gateway_id(),
          .name_space = printable(from.namespace_(), kMaxWord),
          .gateway = printable(from.gateway(), kMaxWord),
          .listener = printable(from.listener(), kMaxWord),
          .address = printable(from.address(), kMaxWord),
          .fault = from.fault() == Message::PORT          ? BindFault::kPort
                   : from.fault() == Message::ADDRESS     ? BindFault::kAddress
                   : from.fault() == Message::CERTIFICATE ? BindFault::kCertificate
                                                          : BindFault::kOther,
          .reason = printable(from.reason(), kMaxWord)};
}

void write_unbound(const UnboundListener& from, agent::v1::UnboundListener& into) {
  using Message = agent::v1::UnboundListener;
  into.set_gateway_id(from.gateway_id);
  into.set_namespace_(from.name_space);
  into.set_gateway(from.gateway);
  into.set_listener(from.listener);
  into.set_address(from.address);
  into.set_fault(from.fault == BindFault::kPort          ? Message::PORT
                 : from.fault == BindFault::kAddress     ? Message::ADDRESS
                 : from.fault == BindFault::kCertificate ? Message::CERTIFICATE
                                                         : Message::OTHER);
  into.set_reason(from.reason);
}

namespace {

void write_backend(const BackendHealth& from, agent::v1::BackendReport& backend) {
  backend.set_namespace_(from.name_space);
  backend.set_name(from.name);
  backend.set_circuit(from.circuit);
  backend.set_connections(from.connections);
  for (const EndpointHealth& of : from.endpoints) {
    auto& endpoint = *backend.add_endpoints();
    endpoint.set_address(of.address);
    endpoint.set_healthy(of.healthy);
    endpoint.set_last_check_ms(to_milliseconds(of.last_check));
    endpoint.set_last_error(of.last_error);
    for (const std::string& zone : of.zones) endpoint.add_zones(zone);
    endpoint.set_reserve(of.reserve);
    endpoint.set_cluster(of.cluster);
    endpoint.set_cluster_priority(of.cluster_priority);
    endpoint.set_cluster_region(of.cluster_region);
  }
  for (const NameHealth& of : from.names) {
    auto& name = *backend.add_names();
    name.set_name(of.name);
    name.set_addresses(of.addresses);
    name.set_error(of.error);
  }
}

void write_vip(const VipState& from, agent::v1::Vip& vip) {
  vip.set_namespace_(from.name_space);
  vip.set_name(from.name);
  vip.set_address(from.address);
  vip.set_held(from.held);
  vip.set_epoch(from.epoch);
  vip.set_unfit(from.unfit);
  vip.set_reason(from.reason);
  vip.set_interface(from.interface);
  vip.set_cause(from.cause);
  vip.set_from(from.from);
  vip.set_conflicts(from.conflicts);
  vip.set_graceful_shutdown(from.graceful_shutdown);
  for (const BgpSessionState& session : from.sessions) {
    auto& to = *vip.add_sessions();
    to.set_peer(session.peer);
    to.set_peer_as(session.peer_as);
    to.set_state(session.state);
    to.set_since_ms(session.since_ms);
    to.set_last_error(session.last_error);
    to.set_bfd(session.bfd);
    to.set_announced(session.announced);
  }
}

}  // namespace

void write_agent(const AgentState& state, agent::v1::Agent& into) {
  into.set_name(state.name);
  into.set_node(state.node);
  into.set_version(state.version);
  into.set_cpu(state.cpu);
  into.set_connected(state.connected);
  into.set_since_ms(to_milliseconds(state.since));
  into.set_last_seen_ms(to_milliseconds(state.last_seen));
  into.set_program(state.program);
  into.set_values_current(state.values_current);
  into.set_refused_program(state.refused.program);
  into.set_refused_reason(state.refused.reason);
  into.set_refused_ms(to_milliseconds(state.refused.at));
  into.set_connections(state.connections);
  into.set_requests(state.requests);
  into.set_certificate_until_ms(to_milliseconds(state.certificate_until));
  for (const BackendHealth& from : state.backends) write_backend(from, *into.add_backends());
  for (const VipState& from : state.vips) write_vip(from, *into.add_vips());
  for (const UnboundListener& from : state.unbound) write_unbound(from, *into.add_unbound());
  into.set_group(state.group);
  into.set_published(state.published);
  for (const auto& [key, value] : state.labels) (*into.mutable_labels())[key] = value;
}

AgentState read_agent(const agent::v1::Agent& from) {
  AgentState state;
  state.name = from.name();
  state.node = from.node();
  state.version = from.version();
  state.cpu = from.cpu();
  state.connected = from.connected();
  state.since = from_milliseconds(from.since_ms());
  state.last_seen = from_milliseconds(from.last_seen_ms());
  state.program = from.program();
  state.values_current = from.values_current();
  state.refused = {from.refused_program(), from.refused_reason(), from_milliseconds(from.refused_ms())};
  state.connections = from.connections();
  state.requests = from.requests();
  state.certificate_until = from_milliseconds(from.certificate_until_ms());
  for (const auto& backend : from.backends()) state.backends.push_back(read_backend(backend));
  for (const auto& vip : from.vips()) state.vips.push_back(read_vip(vip));
  state.unbound = read_unbound_list(from.unbound());
  if (!from.group().empty()) state.group = printable(from.group(), kMaxWord);
  state.published = from.published();
  for (const auto& [key, value] : from.labels())
    state.labels.emplace(printable(key, kMaxWord), printable(value, kMaxWord));
  return state;
}

}  // namespace edge::controller
