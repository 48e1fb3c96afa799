#include "compiler/link/dump/dump.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "compiler/link/defaults.h"
#include "compiler/link/dump/dump_settings.h"
#include "compiler/link/retry_on.h"
#include "program/claim_field.h"
#include "program/dump/route_tree.h"
#include "program/filter_table.h"

namespace edge::compiler::link {
namespace {

std::string name_of(const Identity& identity) { return identity.name_space + "/" + identity.name; }

std::string names_text(const std::vector<Located<HostPattern>>& names) {
  if (names.empty()) return "*";
  std::vector<std::string> texts;
  for (const Located<HostPattern>& name : names) texts.push_back(name.value.text());
  std::sort(texts.begin(), texts.end());
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : " ") + text;
  return out;
}

std::string_view balance_text(program::Balance balance) {
  constexpr std::string_view kNames[] = {"", "RoundRobin", "LeastConn", "P2C", "EWMA", "RingHash", "Maglev", "Random"};
  return kNames[static_cast<std::uint32_t>(balance)];
}

std::string_view type_text(MatchType type) {
  return type == MatchType::kExact ? "exact" : type == MatchType::kPresent ? "present" : "regex";
}

class Dumper {
 public:
  explicit Dumper(const LinkedConfig& config) : config_(config) {}

  std::string run() {
    for (const LinkedGateway& gateway : config_.gateways) dump_gateway(gateway);
    for (const LinkedListener& listener : config_.listeners) dump_listener(listener);
    for (const LinkedBackend& backend : config_.backends) dump_backend(backend);
    for (const LinkedPolicy& policy : config_.policies) dump_policy(policy);
    for (const LinkedRoute& route : config_.routes) dump_route(route);
    return std::move(out_);
  }

 private:
  void line(int depth, const std::string& text) {
    out_ += std::string(static_cast<std::size_t>(depth) * 2, ' ') + text + "\n";
  }

  void lines(int depth, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) line(depth, text);
  }

  void policies(int depth, const std::vector<std::uint32_t>& indices) {
    for (const std::uint32_t index : indices) {
      const LinkedPolicy& policy = config_.policies[index];
      line(depth, "policy " + name_of(policy.identity) + " " + std::string(type_text(policy.type)));
    }
  }

  void dump_policy(const LinkedPolicy& policy) {
    line(0, "policy " + name_of(policy.identity) + " " + std::string(type_text(policy.type)) +
                (policy.enforced         ? ""
                 : protects(policy.type) ? ", not enforced: denies"
                                         : ", not applied"));
    lines(1, settings_lines(policy));
  }

  void dump_gateway(const LinkedGateway& gateway) {
    line(0, "gateway " + name_of(gateway.identity));
    if (gateway.identity.created != 0) line(1, "created " + std::to_string(gateway.identity.created));
    for (const std::string& group : gateway.agent_groups) line(1, "agent-group " + group);
    if (gateway.addresses.empty()) line(1, "address any");
    for (const IpAddress& address : gateway.addresses) line(1, "address " + to_string(address));
    for (const std::string& address : gateway.advertised) line(1, "for clusters at " + address);
    for (const Cidr& block : gateway.trusted_proxies) line(1, "trusts " + to_string(block));
    policies(1, gateway.policies);
    lines(1, settings_lines(gateway));
  }

  std::string listener_name(const LinkedListener& listener) const {
    return name_of(config_.gateways[listener.gateway].identity) + " " + listener.name;
  }

  void dump_listener(const LinkedListener& listener) {
    line(0, "listener " + listener_name(listener));
    line(1, std::string(program::protocol_name(listener.protocol)) + " port " + std::to_string(listener.port));
    line(1, "hosts " + names_text(listener.hostnames));
    line(1, "max-request-body " + std::to_string(listener.max_request_body));
    if (listener.overlaps) line(1, "overlaps that of a gateway of other agent groups");
    lines(1, settings_lines(listener));
  }

  void dump_backend(const LinkedBackend& backend) {
    line(0, "backend " + name_of(backend.identity));
    line(1, "balance " + std::string(balance_text(backend.balance)));
    line(1, "connections max " + std::to_string(backend.max_connections) + " pending " +
                std::to_string(backend.max_pending_requests) + " requests-each " +
                std::to_string(backend.max_requests_per_connection) + " idle " +
                std::to_string(backend.max_idle_connections));
    line(1, "timeouts connect " + duration_text(backend.connect_timeout) + " request " +
                duration_text(backend.request_timeout) + " idle " + duration_text(backend.idle_timeout) + " per-try " +
                duration_text(backend.per_try_timeout));
    if (backend.protocol == program::BackendProtocol::kHttp2) line(1, "protocol HTTP/2");
    if (backend.protocol == program::BackendProtocol::kUdp) line(1, "protocol UDP");
    if (backend.proxy_protocol != program::ProxyProtocol::kNone) {
      line(1, backend.proxy_protocol == program::ProxyProtocol::kV1 ? "proxy-protocol v1" : "proxy-protocol v2");
    }
    if (backend.slow_start.count() != 0) line(1, "slow-start " + duration_text(backend.slow_start));
    if (backend.max_retries != 0) {
      line(1, "retries " + std::to_string(backend.max_retries) + " on " + retry_on_text(backend.retry_on) +
                  " backoff " + duration_text(backend.backoff_base) + " to " + duration_text(backend.backoff_max));
    }
    const bool bounded = backend.max_concurrent_retries != program::kNone;
    if (bounded && backend.max_concurrent_retries != kDefaults.max_concurrent_retries) {
      line(1, "retries at one time " + std::to_string(backend.max_concurrent_retries));
    }
    if (!bounded || backend.retry_budget_percent != kDefaults.retry_budget_percent ||
        backend.min_concurrent_retries != kDefaults.min_concurrent_retries) {
      line(1, "retry budget " + std::to_string(backend.retry_budget_percent) + "% least " +
                  std::to_string(backend.min_concurrent_retries));
    }
    if (backend.max_idle_total) line(1, "idle over all endpoints " + std::to_string(*backend.max_idle_total));
    lines(1, settings_lines(backend));
    if (!backend.host.empty()) line(1, "host " + backend.host);
    for (const LinkedCluster& cluster : backend.failover.clusters) {
      line(1, "cluster " + cluster.cluster + " service " + cluster.service + " priority " +
                  std::to_string(cluster.priority) + weight_text(static_cast<std::uint16_t>(cluster.weight)) +
                  (cluster.region.empty() ? "" : " region " + cluster.region));
    }
    if (!backend.failover.clusters.empty()) {
      line(1, "failover below " + std::to_string(backend.failover.healthy_percent) + "%" +
                  (backend.failover.most_in_flight == 0
                       ? ""
                       : " or above " + std::to_string(backend.failover.most_in_flight) + " requests an endpoint"));
    }
    for (const program::BackendEndpoints& entry : config_.endpoints.backends) {
      if (entry.name != backend.identity.name || entry.name_space != backend.identity.name_space) continue;
      for (const program::Endpoint& endpoint : entry.endpoints) {
        line(1, "endpoint " + to_string(endpoint.address) + " " + std::to_string(endpoint.port) +
                    (endpoint.ready ? "" : " not-ready") + weight_text(endpoint.weight) + zones_text(endpoint.zones) +
                    (endpoint.cluster.empty() ? "" : " of cluster " + endpoint.cluster));
      }
      for (const program::EndpointName& name : entry.names) {
        line(1, "name " + name.host + (name.port == 0 ? " SRV" : " " + std::to_string(name.port)) +
                    weight_text(name.weight) + zones_text(name.zones));
      }
    }
  }

  static std::string weight_text(std::uint16_t weight) {
    return weight == 1 ? std::string() : " weight " + std::to_string(weight);
  }

  static std::string zones_text(const program::EndpointZones& zones) {
    return zones.empty() ? std::string() : " for zone " + program::zones_text(zones);
  }

  void dump_route(const LinkedRoute& route) {
    line(0, "route " + name_of(route.identity));
    if (route.identity.created != 0) line(1, "created " + std::to_string(route.identity.created));
    line(1, "hosts " + names_text(route.hostnames));
    for (const std::uint32_t listener : route.listeners) line(1, "on " + listener_name(config_.listeners[listener]));
    if (route.listeners.empty()) line(1, "on nothing");
    policies(1, route.policies);
    if (route.denied) line(1, "denied");
    if (route.expression) line(1, "expression " + quote(route.expression->value));
    for (std::size_t i = 0; i < route.rules.size(); ++i) {
      line(1, "rule " + std::to_string(i) + (route.rules[i].implied ? " (login)" : ""));
      dump_rule(route.rules[i]);
    }
  }

  void dump_rule(const LinkedRule& rule) {
    for (const RuleMatch& match : rule.matches) line(2, "match" + match_text(match));
    policies(2, rule.policies);
    for (const Filter& filter : rule.filters) dump_filter(2, filter);
    for (const WeightedBackend& entry : rule.backends) {
      const std::string name = entry.backend ? name_of(config_.backends[*entry.backend].identity) : "unresolved";
      line(2, "backend " + name + " weight " + std::to_string(entry.weight) + (entry.filters ? ", there:" : ""));
      if (!entry.filters) continue;
      for (const Filter& filter : *entry.filters) dump_filter(3, filter);
    }
    for (const Mirror& mirror : rule.mirrors) {
      const std::string name = mirror.backend ? name_of(config_.backends[*mirror.backend].identity) : "unresolved";
      line(2, "mirror " + name + " " + program::share_text(mirror.share) +
                  (mirror.host.empty() ? "" : " host " + mirror.host));
    }
    if (rule.retry) {
      line(2, "retry " + std::to_string(rule.retry->max_retries) + " on " + retry_on_text(rule.retry->retry_on) +
                  (rule.retry->try_timeout.count() == 0 ? "" : " a try " + duration_text(rule.retry->try_timeout)));
    }
    if (rule.request_timeout.count() != 0) line(2, "request-timeout " + duration_text(rule.request_timeout));
    if (rule.idle_timeout.count() != 0) line(2, "idle-timeout " + duration_text(rule.idle_timeout));
    if (rule.min_grpc_timeout.count() != 0) line(2, "min-grpc-timeout " + duration_text(rule.min_grpc_timeout));
    if (rule.max_request_body) line(2, "max-request-body " + std::to_string(*rule.max_request_body));
    if (rule.buffer_request || rule.buffer_response) {
      line(2, std::string("buffer") + (rule.buffer_request ? " request" : "") +
                  (rule.buffer_response ? " response" : "") + " max " + std::to_string(rule.max_buffer));
    }
  }

  static std::string match_text(const RuleMatch& match) {
    std::string text;
    switch (match.path.type) {
      case PathMatch::Type::kNone:
        break;
      case PathMatch::Type::kExact:
        text += " path exact " + quote(match.path.value.value);
        break;
      case PathMatch::Type::kPrefix:
        text += " path prefix " + quote(match.path.value.value);
        break;
      case PathMatch::Type::kRegex:
        text += " path regex " + quote(match.path.value.value);
        break;
    }
    if (match.method) text += " method " + quote(match.method->value);
    const auto fields = [&](std::string_view kind, const std::vector<FieldMatch>& list) {
      for (const FieldMatch& field : list) {
        if (const auto claim = program::read_claim_field(field.name.value)) {
          text += " claim " + quote(claim->claim) + " ";
          text += claim->item ? "contains " + quote(*claim->item) : std::string(type_text(field.type));
          if (field.type != MatchType::kPresent) text += " " + quote(field.value.value);
          continue;
        }
        text += " " + std::string(kind) + " " + quote(field.name.value) + " " + std::string(type_text(field.type));
        if (field.type != MatchType::kPresent) text += " " + quote(field.value.value);
      }
    };
    fields("header", match.headers);
    fields("query", match.query);
    return text.empty() ? " anything" : text;
  }

  void dump_filter(std::size_t depth, const Filter& filter) {
    const program::FilterOpRow& row = row_of(filter.op);
    std::string text = "filter " + std::string(row.name);
    if (filter.op == program::FilterOp::kRedirect) {
      text += " status " + std::to_string(filter.status);
      if (filter.port != 0) text += " port " + std::to_string(filter.port);
    } else {
      if (!filter.name.empty()) text += " " + quote(filter.name);
      if (row.has_value) text += " " + quote(filter.value);
      if (row.detail == program::Detail::kSeconds) text += " " + std::to_string(filter.seconds) + "s";
      if (row.detail == program::Detail::kMilliseconds) text += " " + std::to_string(filter.milliseconds) + "ms";
      if (row.detail == program::Detail::kStatus) text += " " + std::to_string(filter.status);
    }
    line(depth, text);
  }

  const LinkedConfig& config_;
  std::string out_;
};

}  // namespace

std::string dump(const LinkedConfig& config) { return Dumper(config).run(); }

}  // namespace edge::compiler::link
