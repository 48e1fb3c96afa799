#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/link/defaults.h"
#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

/// VIPs of this namespace serve the gateways of every namespace.
constexpr std::string_view kSharedNamespace = "edge-system";

std::string listener_field(std::size_t index, std::string_view field = {}) {
  std::string text = "spec.listeners[" + std::to_string(index) + "]";
  if (!field.empty()) text.append(".").append(field);
  return text;
}

/// The VIP of a gateway: in the namespace that it names, else its own, else the shared one.
std::optional<std::uint32_t> find_vip(const model::ProxyGateway& gateway, const NameIndex& vips, const Scope& scope) {
  const Located<std::string>& written = *gateway.vip_ref;
  model::Reference reference{.name = written};
  const std::size_t slash = written.value.find('/');
  if (slash != std::string::npos) {
    reference.name_space = written.value.substr(0, slash);
    reference.name.value = written.value.substr(slash + 1);
  }
  const bool own = reference.name_space.empty();
  if (own) {
    if (const auto found = vips.find(gateway.metadata.name_space, reference.name.value)) return found;
  }
  if (own || reference.name_space == kSharedNamespace) {
    if (const auto found = vips.find(kSharedNamespace, reference.name.value)) return found;
    if (!own) reference.name_space = gateway.metadata.name_space;  // the message is about the name, not a grant
  }
  return Resolver("ProxyVIP", vips, scope).resolve(gateway.metadata, reference, [] {
    return std::string("spec.vipRef");
  });
}

program::Protocol protocol_of(const std::string& text) {
  if (text == "HTTP") return program::Protocol::kHttp;
  if (text == "HTTPS") return program::Protocol::kHttps;
  return text == "TLS" ? program::Protocol::kTls : program::Protocol::kTcp;
}

/// One listener that asks for its port and names.
struct Claim {
  std::uint32_t gateway = 0;
  std::uint32_t listener = 0;
};

/// Grants ports and names in the order of age: whoever comes later and does not fit is refused.
class Claims {
 public:
  Claims(const std::vector<model::ProxyGateway>& gateways, const LinkedConfig& config, Diagnostics& diagnostics)
      : gateways_(gateways), config_(config), diagnostics_(diagnostics) {}

  bool grant(Claim claim) {
    const model::Listener& asked = listener(claim);
    const auto port = std::to_string(asked.port.value);
    if (const auto holder = holder_of(port, claim, true)) {
      refuse(claim, *holder, asked.port.span, "port",
             "port " + port + " is already served with protocol " + listener(*holder).protocol.value);
      return false;
    }
    if (asked.hostnames.empty()) {
      if (const auto holder = holder_of(port + "|", claim, false)) {
        refuse(claim, *holder, asked.name.span, "hostnames", "every host on port " + port + " is already claimed");
        return false;
      }
    }
    for (const Located<HostPattern>& name : asked.hostnames) {
      if (const auto holder = holder_of(port + "|" + name.value.text(), claim, false)) {
        refuse(claim, *holder, name.span, "hostnames",
               "`" + name.value.text() + "` on port " + port + " is already claimed");
        return false;
      }
    }
    holders_[port].push_back(claim);
    if (asked.hostnames.empty()) holders_[port + "|"].push_back(claim);
    for (const Located<HostPattern>& name : asked.hostnames) holders_[port + "|" + name.value.text()].push_back(claim);
    return true;
  }

 private:
  const model::Listener& listener(Claim claim) const { return gateways_[claim.gateway].listeners[claim.listener]; }

  bool same_address(Claim a, Claim b) const {
    const std::vector<IpAddress>& x = config_.gateways[a.gateway].addresses;
    const std::vector<IpAddress>& y = config_.gateways[b.gateway].addresses;
    if (x.empty() || y.empty()) return true;
    return std::find_first_of(x.begin(), x.end(), y.begin(), y.end()) != x.end();
  }

  std::optional<Claim> holder_of(const std::string& key, Claim claim, bool other_protocol) const {
    const auto found = holders_.find(key);
    if (found == holders_.end()) return std::nullopt;
    for (const Claim& holder : found->second) {
      if (other_protocol && listener(holder).protocol.value == listener(claim).protocol.value) {
        // Holders of one port and address share the protocol, so the first on this address decides.
        if (same_address(holder, claim)) return std::nullopt;
        continue;
      }
      if (same_address(holder, claim)) return holder;
    }
    return std::nullopt;
  }

  void refuse(Claim claim, Claim holder, Span span, std::string_view field, std::string message) {
    const model::ProxyGateway& gateway = gateways_[holder.gateway];
    diagnostics_.add({.code = DiagnosticCode::kConflict,
                      .resource = gateways_[claim.gateway].metadata.text(),
                      .field = listener_field(claim.listener, field),
                      .span = span,
                      .message = std::move(message) + "; the listener is left out",
                      .labels = {{listener(holder).name.span, "held by " + gateway.metadata.text() + ", listener `" +
                                                                  listener(holder).name.value + "`"}},
                      .notes = {"of two claims the older gateway's holds"}});
  }

  const std::vector<model::ProxyGateway>& gateways_;
  const LinkedConfig& config_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string, std::vector<Claim>> holders_;
};

void warn_unserved(const model::ProxyGateway& gateway, Diagnostics& diagnostics) {
  const auto warn = [&](const auto& block, std::string field, std::string_view what) {
    if (!block || !block->enabled || !block->enabled->value) return;
    not_served(gateway.metadata, block->span, std::move(field), std::string(what) + " is not served by this version",
               diagnostics);
  };
  warn(gateway.compression, "spec.compression", "compression");
  warn(gateway.cache, "spec.cache", "the response cache");
  warn(gateway.tracing, "spec.tracing", "tracing");
  warn(gateway.access_log, "spec.accessLog", "the access log");
  warn(gateway.redirect_scheme, "spec.redirectScheme", "the scheme redirect");
  for (std::size_t i = 0; i < gateway.listeners.size(); ++i) {
    const model::Listener& listener = gateway.listeners[i];
    warn(listener.redirect_scheme, listener_field(i, "redirectScheme"), "the scheme redirect");
    if (listener.ssl_redirect && listener.ssl_redirect->value) {
      not_served(gateway.metadata, listener.ssl_redirect->span, listener_field(i, "sslRedirect"),
                 "the redirect to HTTPS is not served by this version", diagnostics);
    }
  }
}

void check_vip_ports(const model::ProxyGateway& gateway, const model::ProxyVip& vip, Diagnostics& diagnostics) {
  if (vip.ports.empty()) return;
  for (std::size_t i = 0; i < gateway.listeners.size(); ++i) {
    const Located<std::int64_t>& port = gateway.listeners[i].port;
    const bool listed = std::any_of(vip.ports.begin(), vip.ports.end(),
                                    [&](const Located<std::int64_t>& p) { return p.value == port.value; });
    if (listed) continue;
    diagnostics.add(
        {.code = DiagnosticCode::kConflict,
         .severity = Severity::kWarning,
         .resource = gateway.metadata.text(),
         .field = listener_field(i, "port"),
         .span = port.span,
         .message = "port " + std::to_string(port.value) + " is not among the ports of " + vip.metadata.text(),
         .labels = {{vip.ports[0].span, "its ports begin here"}}});
  }
}

LinkedListener make_listener(const model::Listener& listener, std::uint32_t gateway) {
  return {.gateway = gateway,
          .name = listener.name.value,
          .port = static_cast<std::uint16_t>(listener.port.value),
          .protocol = protocol_of(listener.protocol.value),
          .hostnames = listener.hostnames,
          .max_request_body = listener.max_request_body ? static_cast<std::uint64_t>(listener.max_request_body->value)
                                                        : kDefaults.gateway_body_limit,
          .span = listener.span};
}

}  // namespace

void link_gateways(const std::vector<model::ProxyGateway>& gateways, const std::vector<model::ProxyVip>& vips,
                   const Scope& scope, LinkedConfig& config) {
  Diagnostics& diagnostics = scope.diagnostics;
  const NameIndex vip_names = index_of(vips);
  std::vector<bool> bound(gateways.size(), true);
  for (std::uint32_t i = 0; i < gateways.size(); ++i) {
    const model::ProxyGateway& gateway = gateways[i];
    LinkedGateway linked{.identity = identity_of(gateway.metadata), .addresses = {}, .trusted_proxies = {}};
    for (const Located<Cidr>& block : gateway.trusted_proxies) linked.trusted_proxies.push_back(block.value);
    if (gateway.vip_ref) {
      // Without its VIP it must not bind every address instead.
      const auto vip = find_vip(gateway, vip_names, scope);
      bound[i] = vip.has_value();
      if (vip) {
        linked.addresses.push_back(vips[*vip].address.value);
        check_vip_ports(gateway, vips[*vip], diagnostics);
      }
    }
    const auto& asked = gateway.load_balancer_class;
    if (asked && asked->value != kDefaults.controller_class) {
      // Rule D8: a gateway of another class is another controller's.
      bound[i] = false;
      not_served(gateway.metadata, asked->span, "spec.loadBalancerClass",
                 "the gateway is of another class than " + std::string(kDefaults.controller_class) +
                     "; it is left to that class's controller",
                 diagnostics);
    }
    config.gateways.push_back(std::move(linked));
    warn_unserved(gateway, diagnostics);
  }

  std::vector<Claim> order;
  for (std::uint32_t i = 0; i < gateways.size(); ++i) {
    if (!bound[i]) continue;
    for (std::uint32_t l = 0; l < gateways[i].listeners.size(); ++l) order.push_back({i, l});
  }
  std::stable_sort(order.begin(), order.end(), [&](const Claim& a, const Claim& b) {
    if (a.gateway == b.gateway) return a.listener < b.listener;
    return holds_before(gateways[a.gateway].metadata, gateways[b.gateway].metadata);
  });
  Claims claims(gateways, config, diagnostics);
  std::vector<Claim> served;
  for (const Claim& claim : order) {
    if (!claims.grant(claim)) continue;
    const model::Listener& listener = gateways[claim.gateway].listeners[claim.listener];
    if (protocol_of(listener.protocol.value) == program::Protocol::kHttp) {
      served.push_back(claim);
    } else {
      not_served(gateways[claim.gateway].metadata, listener.protocol.span, listener_field(claim.listener, "protocol"),
                 "listeners of protocol " + listener.protocol.value +
                     " are not served by this version; the listener is left out",
                 diagnostics);
    }
  }
  std::sort(served.begin(), served.end(), [](const Claim& a, const Claim& b) {
    return std::pair(a.gateway, a.listener) < std::pair(b.gateway, b.listener);
  });
  for (const Claim& claim : served) {
    config.listeners.push_back(make_listener(gateways[claim.gateway].listeners[claim.listener], claim.gateway));
  }
}

}  // namespace edge::compiler::link
