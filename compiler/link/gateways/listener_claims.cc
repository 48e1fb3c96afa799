#include "compiler/link/gateways/listener_claims.h"

#include <utility>

namespace edge::compiler::link {
namespace {

/// A TLS client says which host it wants before it is decided who decrypts.
bool share_port(std::string_view a, std::string_view b) {
  return a == b || (a == "HTTPS" && b == "TLS") || (a == "TLS" && b == "HTTPS");
}

bool headed(const model::Listener& listener) { return listener.proxy_protocol && listener.proxy_protocol->value; }

std::string_view begins(bool with_header) { return with_header ? " with a header" : " without a header"; }

}  // namespace

std::string listener_name(const model::ProxyGateway& gateway, const model::Listener& listener) {
  if (!listener.set) return listener.name.value;
  const model::Metadata& set = gateway.listener_sets[*listener.set];
  return resource_path(set.name_space, set.name) + "/" + listener.name.value;
}

std::string listener_field(const model::Listener& listener, std::string_view field) {
  std::string text = "spec.listeners[" + std::to_string(listener.position) + "]";
  if (!field.empty()) text.append(".").append(field);
  return text;
}

ClaimRefusal Claims::grant(Claim claim) {
  const model::Listener& asked = listener(claim);
  const std::string port = std::to_string(asked.port.value);
  for (const std::string_view protocol : {"HTTP", "HTTPS", "TCP", "TLS"}) {
    if (share_port(protocol, asked.protocol.value)) continue;
    if (const auto holder = holder_of(port + " " + std::string(protocol), claim)) {
      return {reason::kProtocolConflict,
              refuse(claim, *holder, asked.port.span, "port",
                     "port " + port + " is already served with protocol " + std::string(protocol))};
    }
  }
  // Whether a PROXY header comes first has to be known before anything is read.
  const std::string_view other_begin = begins(!headed(asked));
  if (const auto holder = holder_of(port + std::string(other_begin), claim)) {
    return {reason::kProtocolConflict,
            refuse(claim, *holder, asked.proxy_protocol ? asked.proxy_protocol->span : asked.port.span, "proxyProtocol",
                   "port " + port + " is already served " + (headed(asked) ? "without" : "with") + " `proxyProtocol`")};
  }
  if (asked.hostnames.empty()) {
    if (const auto holder = holder_of(port + "|", claim)) {
      return {reason::kHostnameConflict,
              refuse(claim, *holder, asked.name.span, "hostnames",
                     asked.protocol.value == "TCP" ? "port " + port + " is already claimed"
                                                   : "every host on port " + port + " is already claimed")};
    }
  }
  for (const Located<HostPattern>& name : asked.hostnames) {
    if (const auto holder = holder_of(port + "|" + name.value.text(), claim)) {
      return {reason::kHostnameConflict, refuse(claim, *holder, name.span, "hostnames",
                                                "`" + name.value.text() + "` on port " + port + " is already claimed")};
    }
  }
  hold(port + " " + asked.protocol.value, claim);
  hold(port + std::string(begins(headed(asked))), claim);
  if (asked.hostnames.empty()) hold(port + "|", claim);
  for (const Located<HostPattern>& name : asked.hostnames) hold(port + "|" + name.value.text(), claim);
  return {};
}

ClaimRefusal Claims::indistinct(Claim claim) {
  const std::vector<model::Listener>& all = gateways_[claim.gateway].listeners;
  const model::Listener& asked = all[claim.listener];
  const char* const note = "of listeners of one Gateway that cannot be told apart none is served";
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const Claim other{claim.gateway, i};
    if (i == claim.listener || all[i].set || all[i].port.value != asked.port.value || !all[i].refused.empty()) continue;
    const std::string port = std::to_string(asked.port.value);
    if (!share_port(all[i].protocol.value, asked.protocol.value)) {
      return {reason::kProtocolConflict,
              refuse(claim, other, asked.port.span, "port",
                     "port " + port + " is asked for with protocol " + all[i].protocol.value + ", too", note)};
    }
    // Gateway API has one host name a listener, or none.
    const auto name = [](const model::Listener& listener) {
      return listener.hostnames.empty() ? std::string() : listener.hostnames[0].value.text();
    };
    if (name(all[i]) != name(asked)) continue;
    return {reason::kHostnameConflict,
            refuse(claim, other, asked.hostnames.empty() ? asked.name.span : asked.hostnames[0].span, "hostname",
                   (asked.hostnames.empty() ? "every host" : "`" + name(asked) + "`") + " on port " + port +
                       " is claimed by another listener, too",
                   note)};
  }
  return {};
}

std::optional<Claim> Claims::ByGroup::holder(const Groups& groups) const {
  if (of_all || groups.empty()) return of_all ? of_all : first;
  for (const std::string& group : groups) {
    if (const auto found = of_group.find(group); found != of_group.end()) return found->second;
  }
  return std::nullopt;
}

void Claims::ByGroup::hold(const Groups& groups, Claim claim) {
  if (!first) first = claim;
  if (groups.empty() && !of_all) of_all = claim;
  for (const std::string& group : groups) of_group.emplace(group, claim);
}

const Claims::Groups& Claims::groups_of(Claim claim) const {
  static const Groups all;
  return between_ == Between::kAllGateways ? all : linked_[claim.gateway].agent_groups;
}

std::optional<Claim> Claims::holder_of(const std::string& key, Claim claim) const {
  const auto found = holders_.find(key);
  if (found == holders_.end()) return std::nullopt;
  const Holders& holders = found->second;
  const Groups& groups = groups_of(claim);
  if (const auto holder = holders.everywhere.holder(groups)) return holder;
  const std::vector<IpAddress>& addresses = linked_[claim.gateway].addresses;
  if (addresses.empty()) return holders.anywhere.holder(groups);
  for (const IpAddress& address : addresses) {
    const auto at = holders.by_address.find(address);
    if (at == holders.by_address.end()) continue;
    if (const auto holder = at->second.holder(groups)) return holder;
  }
  return std::nullopt;
}

void Claims::hold(const std::string& key, Claim claim) {
  Holders& holders = holders_[key];
  const Groups& groups = groups_of(claim);
  const std::vector<IpAddress>& addresses = linked_[claim.gateway].addresses;
  holders.anywhere.hold(groups, claim);
  if (addresses.empty()) holders.everywhere.hold(groups, claim);
  for (const IpAddress& address : addresses) holders.by_address[address].hold(groups, claim);
}

std::string Claims::holder_text(Claim claim, Claim holder) const {
  const model::Metadata& by = gateways_[holder.gateway].metadata;
  const std::string name = "listener `" + listener(holder).name.value + "`";
  if (claim.gateway == holder.gateway) {
    // Who writes one ListenerSet needs not to know what another one says.
    if (listener(claim).set == listener(holder).set) return " (" + name + ")";
    return listener(holder).set ? ", by another ListenerSet" : ", by the Gateway itself";
  }
  std::string text = ", by " + name + " of the older " + by.text();
  // Whoever has no address of its own has every address of a node, and shares its ports by host name.
  if (linked_[claim.gateway].addresses.empty() || linked_[holder.gateway].addresses.empty()) {
    text += "; gateways without an address share those of the node, by host name";
  }
  return text;
}

std::string Claims::refuse(Claim claim, Claim holder, Span span, std::string_view field, std::string message,
                           std::string note) {
  std::string text = message + holder_text(claim, holder);
  if (note.empty()) {
    note = claim.gateway == holder.gateway && listener(claim).set
               ? "the Gateway's own listeners hold before those of its ListenerSets, and the older set's before the "
                 "younger's"
               : "of two claims the older gateway's holds";
  }
  const model::Metadata& by = owner_of(gateways_[holder.gateway], listener(holder));
  diagnostics_.add({.code = DiagnosticCode::kConflict,
                    .resource = owner_of(gateways_[claim.gateway], listener(claim)).text(),
                    .field = listener_field(listener(claim), field),
                    .span = span,
                    .message = std::move(message) + "; the listener is left out",
                    .labels = {{listener(holder).name.span,
                                "held by " + by.text() + ", listener `" + listener(holder).name.value + "`"}},
                    .notes = {std::move(note)}});
  return text;
}

}  // namespace edge::compiler::link
