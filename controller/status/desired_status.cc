#include "controller/status/desired_status.h"

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text/json.h"
#include "compiler/link/dump/conditions_text.h"
#include "controller/status/condition_json.h"
#include "program/values/endpoints.h"
#include "schemas/schema.h"

namespace edge::controller {
namespace {

using compiler::Condition;
using compiler::ConditionStatus;
using compiler::ResourceStatus;
using Json = nlohmann::json;

constexpr std::string_view kGatewayApi = "gateway.networking.k8s.io";
constexpr std::string_view kServiceTarget = "Service/";

/// Why it is not accepted, in one line; empty: nothing says so.
std::string rejection_in(const std::vector<Condition>& conditions) {
  const Condition* accepted = compiler::find_condition(conditions, compiler::condition::kAccepted);
  if (accepted == nullptr || accepted->status != ConditionStatus::kFalse) return {};
  return accepted->reason + (accepted->message.empty() ? "" : ": " + accepted->message.substr(0, kMaxMessage));
}

bool holds(const std::vector<Condition>& conditions, std::string_view type) {
  const Condition* found = compiler::find_condition(conditions, type);
  return found != nullptr && found->status == ConditionStatus::kTrue;
}

Json listeners_json(const ResourceStatus& status, std::int64_t generation, bool own) {
  Json all = Json::array();
  for (const compiler::ListenerStatus& listener : status.listeners) {
    Json entry = {{"name", listener.name},
                  {"attachedRoutes", listener.attached_routes},
                  {"conditions", conditions_json(compiler::link::listener_conditions(listener), generation)}};
    if (!own) {
      Json kinds = Json::array();
      for (const std::string& kind : listener.supported_kinds)
        kinds.push_back({{"group", kGatewayApi}, {"kind", kind}});
      entry["supportedKinds"] = std::move(kinds);
    }
    all.push_back(std::move(entry));
  }
  return all;
}

}  // namespace

bool keeps_sound_version(std::string_view kind) { return has_status(kind) && kind != "GatewayClass"; }

bool is_at_fault(const ResourceStatus* status) {
  if (status == nullptr) return false;
  const Condition* accepted = compiler::find_condition(status->conditions, compiler::condition::kAccepted);
  if (accepted == nullptr || accepted->status != ConditionStatus::kFalse) return false;
  return accepted->reason == compiler::reason::kInvalid || accepted->reason == compiler::reason::kUnsupportedValue;
}

namespace {

/// Of every gateway of ours there is a status.
bool is_of_others(const compiler::LinkedGateway& gateway, const std::vector<ResourceStatus>& statuses) {
  const compiler::Identity& identity = gateway.identity;
  return identity.kind == "ProxyGateway" &&
         compiler::find_status(statuses, identity.kind, identity.name_space, identity.name) == nullptr;
}

}  // namespace

bool has_gateways_of_others(const compiler::LinkedConfig& config, const std::vector<ResourceStatus>& statuses) {
  return std::ranges::any_of(config.gateways, [&](const auto& gateway) { return is_of_others(gateway, statuses); });
}

const compiler::LinkedRoute* StatusBuilder::route(const ResourceId& key) {
  if (routes_.empty()) {
    for (const compiler::LinkedRoute& route : config_.routes) {
      if (!route.identity.name.empty()) routes_.emplace(route.identity.text(), &route);
    }
  }
  const auto found = routes_.find(key.text());
  return found == routes_.end() ? nullptr : found->second;
}

const std::set<std::uint32_t>* StatusBuilder::gateways_of(const ClusterObject& ingress) {
  if (!of_ingresses_) {
    of_ingresses_.emplace();
    for (const compiler::LinkedRoute& route : config_.routes) {
      const compiler::Identity& identity = route.identity;
      if (identity.kind != ingress.key.kind) continue;
      // An Ingress becomes a route for each host, `NAME:HOST`.
      const ResourceId made_of =
          ResourceId::of(identity.kind, identity.name_space, identity.name.substr(0, identity.name.find(':')));
      std::set<std::uint32_t>& gateways = (*of_ingresses_)[made_of.text()];
      for (const std::uint32_t listener : route.listeners) gateways.insert(config_.listeners[listener].gateway);
      const ClusterObject* object = find_(made_of);
      if (object == nullptr) continue;
      of_classes_[with_cluster(made_of.cluster, object->class_name)].insert(gateways.begin(), gateways.end());
    }
  }
  const auto own = of_ingresses_->find(ingress.key.text());
  if (own != of_ingresses_->end()) return &own->second;
  // A canary makes no route of its own; those that it stands beside are of its class.
  const auto of_class = of_classes_.find(with_cluster(ingress.key.cluster, ingress.class_name));
  return of_class == of_classes_.end() ? nullptr : &of_class->second;
}

const program::BackendEndpoints* StatusBuilder::endpoints(const ResourceId& key) const {
  const std::uint64_t id = stable_id("ProxyBackend", key.qualified_namespace(), key.name);
  const auto found =
      std::ranges::lower_bound(values_.backends, id, {}, [](const auto& backend) { return backend->backend_id; });
  return found == values_.backends.end() || (*found)->backend_id != id ? nullptr : found->get();
}

const StatusBuilder::ServiceUsers& StatusBuilder::service_users() {
  if (users_) return *users_;
  users_.emplace();
  for (const compiler::LinkedRoute& route : config_.routes) {
    std::set<std::uint32_t> gateways;
    for (const std::uint32_t listener : route.listeners) gateways.insert(config_.listeners[listener].gateway);
    for (const compiler::LinkedRule& rule : route.rules) {
      for (const compiler::WeightedBackend& to : rule.backends) {
        if (!to.backend) continue;
        const compiler::Identity& backend = config_.backends[*to.backend].identity;
        // Made of a Service and its port; own backends have no colon in their names.
        const std::size_t colon = backend.name.find(':');
        if (colon == std::string::npos) continue;
        (*users_)[resource_path(backend.name_space, backend.name.substr(0, colon))].insert(gateways.begin(),
                                                                                           gateways.end());
      }
    }
    // A reference that does not resolve, as its policy is at fault, is in no configuration; nor is a copy's service a
    // backend of the rule.
    const compiler::Identity& identity = route.identity;
    if (gateways.empty() || !is_api_route(identity.kind)) continue;
    const ClusterObject* object = find_(ResourceId::of(identity.kind, identity.name_space, identity.name));
    for (std::size_t i = 0; object != nullptr && i < object->services.size(); ++i) {
      (*users_)[with_cluster(object->key.cluster, object->services[i])].insert(gateways.begin(), gateways.end());
    }
  }
  return *users_;
}

namespace {

/// The Gateways that a route is on, with the listeners of each.
using Attached = std::map<std::string, std::set<std::string>>;

Attached attached_to(const compiler::LinkedRoute* route, const compiler::LinkedConfig& config) {
  Attached attached;
  if (route == nullptr) return attached;
  for (const std::uint32_t number : route->listeners) {
    const compiler::LinkedListener& listener = config.listeners[number];
    const compiler::Identity& gateway = config.gateways[listener.gateway].identity;
    attached[resource_path(gateway.name_space, gateway.name)].insert(listener.name);
  }
  return attached;
}

struct Case {
  const ClusterObject& object;
  const ResourceStatus* stored;
  const StatusBuilderOptions& options;
  const compiler::LinkedConfig& config;
  const std::vector<ResourceStatus>& statuses;

  std::int64_t generation() const { return object.generation; }
};

/// A parentRef of a Gateway, a ListenerSet or a ProxyGateway that there is and that is ours: of another's nothing is
/// said.
bool is_ours(const Json& parent, const Case& c) {
  if (!parent.is_object()) return false;
  const std::string kind = text_in(parent, "kind");
  const std::string group = parent.contains("group") ? text_in(parent, "group") : std::string(kGatewayApi);
  const bool own = group == schemas::kApiGroup && kind == "ProxyGateway";
  const bool known = kind.empty() || kind == "Gateway" || kind == "ListenerSet";
  if (!own && (group != kGatewayApi || !known)) return false;
  const std::string asked = text_in(parent, "namespace");
  const std::string space = with_cluster(c.object.key.cluster, asked.empty() ? c.object.key.name_space : asked);
  const std::string name = text_in(parent, "name");
  // Of those of ours there is a status each.
  if (own || kind == "ListenerSet") return compiler::find_status(c.statuses, kind, space, name) != nullptr;
  return std::ranges::any_of(c.config.gateways, [&](const compiler::LinkedGateway& gateway) {
    return gateway.identity.kind == "Gateway" && gateway.identity.name_space == space && gateway.identity.name == name;
  });
}

Json api_route_status(const Case& c, DesiredStatus& desired) {
  Json parents = Json::array();
  const Json refs = Json::parse(c.object.parent_refs, nullptr, false);
  for (std::size_t i = 0; refs.is_array() && i < refs.size(); ++i) {
    if (!is_ours(refs[i], c)) continue;
    const compiler::ParentStatus* parent = nullptr;
    if (c.stored != nullptr) {
      for (const compiler::ParentStatus& candidate : c.stored->parents) {
        if (candidate.parent_ref == i) parent = &candidate;
      }
    }
    const auto conditions = compiler::link::parent_conditions(c.stored, parent);
    desired.servable |= holds(conditions, compiler::condition::kAccepted);
    if (desired.rejection.empty()) desired.rejection = rejection_in(conditions);
    parents.push_back({{"parentRef", refs[i]},
                       {"controllerName", c.options.controller_class},
                       {"conditions", conditions_json(conditions, c.generation())}});
  }
  return {{"parents", std::move(parents)}};
}

Json own_route_status(const Case& c, const compiler::LinkedRoute* route) {
  Json parents = Json::array();
  for (const auto& [gateway, listeners] : attached_to(route, c.config)) {
    const Condition accepted{std::string(compiler::condition::kAccepted), ConditionStatus::kTrue,
                             std::string(compiler::reason::kAccepted)};
    parents.push_back({{"gateway", gateway},
                       {"listeners", Json(std::vector<std::string>(listeners.begin(), listeners.end()))},
                       {"conditions", conditions_json({accepted}, c.generation())}});
  }
  return {{"ruleCount", c.object.rules}, {"parents", std::move(parents)}};
}

Json backend_status(const program::BackendEndpoints* backend) {
  Json endpoints = Json::array();
  if (backend != nullptr) {
    for (const program::Endpoint& endpoint : backend->endpoints) {
      const std::string host = to_string(endpoint.address);
      const bool v6 = !endpoint.address.is_v4();
      endpoints.push_back({{"address", (v6 ? "[" + host + "]" : host) + ":" + std::to_string(endpoint.port)},
                           {"healthy", endpoint.ready}});
      if (!endpoint.cluster.empty()) {
        endpoints.back()["cluster"] = endpoint.cluster;
      } else if (!endpoint.zones.empty()) {
        endpoints.back()["zone"] = program::zones_text(endpoint.zones);
      }
    }
  }
  Json status = {{"endpoints", std::move(endpoints)}};
  if (backend == nullptr || backend->names.empty()) return status;
  Json& names = status["names"] = Json::array();
  for (const program::EndpointName& name : backend->names) {
    names.push_back({{"name", name.port == 0 ? name.host : name.host + ":" + std::to_string(name.port)}});
  }
  return status;
}

/// Whether nothing of it is served as it has no address that could be.
bool lacks_address(const ResourceStatus& status) {
  const Condition* programmed = compiler::find_condition(status.conditions, compiler::condition::kProgrammed);
  return programmed != nullptr && (programmed->reason == compiler::reason::kAddressNotAssigned ||
                                   programmed->reason == compiler::reason::kAddressNotUsable);
}

std::vector<std::string> addresses_of(const Case& c) {
  if (c.stored != nullptr && (!c.stored->addresses.empty() || lacks_address(*c.stored))) return c.stored->addresses;
  return c.options.published_addresses;
}

Json own_gateway_status(const Case& c) {
  if (c.stored == nullptr) return nullptr;  // another controller's (rule D8)
  return {{"addresses", addresses_of(c)},
          {"listenerCount", c.stored->listeners.size()},
          {"listeners", listeners_json(*c.stored, c.generation(), true)}};
}

std::map<std::string, std::string> texts_in(const Json& object) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) texts.emplace(name, value.get_ref<const std::string&>());
  }
  return texts;
}

/// A Gateway that says what is to be written on what is created asks for a Service.
std::shared_ptr<const GatewayService> service_of(const Case& c) {
  const ClusterObject& object = c.object;
  if (object.infrastructure.empty()) return nullptr;
  const Json asked = parse_json(object.infrastructure);
  GatewayService service{.gateway = object.key,
                         .uid = object.uid,
                         .class_name = object.class_name,
                         .controller = c.options.controller_class,
                         .labels = texts_in(member_in(asked, "labels")),
                         .annotations = texts_in(member_in(asked, "annotations"))};
  std::set<ServicePort> ports;
  for (const compiler::LinkedListener& listener : c.config.listeners) {
    const compiler::Identity& gateway = c.config.gateways[listener.gateway].identity;
    if (gateway.kind != object.key.kind || gateway.name != object.key.name ||
        gateway.name_space != object.key.qualified_namespace()) {
      continue;
    }
    ports.insert({listener.port, listener.protocol == program::Protocol::kUdp});
  }
  service.ports.assign(ports.begin(), ports.end());
  for (const std::string& address : addresses_of(c)) {
    if (const auto ip = parse_ip(address)) service.addresses.push_back(*ip);
  }
  std::ranges::sort(service.addresses);
  return std::make_shared<const GatewayService>(std::move(service));
}

Json api_gateway_status(const Case& c, DesiredStatus& desired) {
  if (c.stored == nullptr) return nullptr;
  Json addresses = Json::array();
  for (const std::string& address : addresses_of(c)) {
    addresses.push_back({{"type", parse_ip(address) ? "IPAddress" : "Hostname"}, {"value", address}});
  }
  const auto conditions = compiler::link::gateway_conditions(*c.stored);
  desired.servable = holds(conditions, compiler::condition::kProgrammed);
  desired.rejection = rejection_in(conditions);
  desired.service = service_of(c);
  return {{"addresses", std::move(addresses)},
          {"attachedListenerSets", c.stored->attached_listener_sets},
          {"listeners", listeners_json(*c.stored, c.generation(), false)},
          {"conditions", conditions_json(conditions, c.generation())}};
}

Json listener_set_status(const Case& c, DesiredStatus& desired) {
  if (c.stored == nullptr) return nullptr;
  desired.servable = holds(c.stored->conditions, compiler::condition::kProgrammed);
  desired.rejection = rejection_in(c.stored->conditions);
  desired.served_by = ResourceId::of("Gateway", c.stored->parent_space, c.stored->parent_name).stable_id();
  desired.listener_prefix = resource_path(c.stored->name_space, c.stored->name) + "/";
  return {{"listeners", listeners_json(*c.stored, c.generation(), false)},
          {"conditions", conditions_json(c.stored->conditions, c.generation())}};
}

Json class_status(const Case& c) {
  if (c.stored == nullptr) return nullptr;
  Json features = Json::array();
  for (const std::string& feature : c.stored->supported_features) features.push_back({{"name", feature}});
  Json status = {{"conditions", conditions_json(c.stored->conditions, c.generation())}};
  if (!features.empty()) status["supportedFeatures"] = std::move(features);
  return status;
}

/// The Gateways of ours whose routes lead to a Service that it is for. `users`: by `namespace/service`.
Json backend_tls_status(const Case& c, const StatusBuilder::ServiceUsers& users) {
  if (c.stored == nullptr) return nullptr;
  std::set<std::uint32_t> gateways;
  for (const auto part : std::views::split(std::string_view(c.object.target), ',')) {
    const std::string_view target(part.begin(), part.end());
    if (!target.starts_with(kServiceTarget)) continue;
    const auto found =
        users.find(resource_path(c.object.key.qualified_namespace(), target.substr(kServiceTarget.size())));
    if (found != users.end()) gateways.insert(found->second.begin(), found->second.end());
  }
  const auto conditions = compiler::link::parent_conditions(c.stored, nullptr);
  Json ancestors = Json::array();
  for (const std::uint32_t number : gateways) {
    const compiler::LinkedGateway& gateway = c.config.gateways[number];
    // The list is bounded by its schema.
    if (gateway.identity.kind != "Gateway" || ancestors.size() == kMaxAncestors) continue;
    ancestors.push_back({{"ancestorRef",
                          {{"group", kGatewayApi},
                           {"kind", "Gateway"},
                           {"namespace", gateway.identity.name_space},
                           {"name", gateway.identity.name}}},
                         {"controllerName", c.options.controller_class},
                         {"conditions", conditions_json(conditions, c.generation())}});
  }
  return {{"ancestors", std::move(ancestors)}};
}

/// The addresses of the gateways that serve it; of those that bind every address what is published.
Json ingress_status(const Case& c, const std::set<std::uint32_t>* gateways) {
  if (gateways == nullptr) return nullptr;
  std::vector<std::string> addresses;
  for (const std::uint32_t gateway : *gateways) {
    for (const IpAddress& address : c.config.gateways[gateway].addresses) {
      if (std::ranges::find(addresses, to_string(address)) == addresses.end()) addresses.push_back(to_string(address));
    }
  }
  if (!gateways->empty() && addresses.empty()) addresses = c.options.published_addresses;
  Json entries = Json::array();
  for (const std::string& address : addresses) {
    entries.push_back({{parse_ip(address) ? "ip" : "hostname", address}});
  }
  return {{"loadBalancer", {{"ingress", std::move(entries)}}}};
}

/// Nothing announces an address yet when it is compiled, so no more is said than that it is well.
Json vip_status(const Case& c) {
  std::vector<Condition> conditions = compiler::conditions_of(c.object.key.kind, c.stored);
  std::erase_if(conditions,
                [](const Condition& condition) { return condition.type != compiler::condition::kAccepted; });
  Json status = {{"conditions", conditions_json(conditions, c.generation())}};
  // An empty list too: what was given back is in it no more.
  if (c.stored == nullptr || !c.stored->allocations) return status;
  Json& allocations = status["allocations"] = Json::array();
  for (const compiler::PoolUse& one : *c.stored->allocations) {
    allocations.push_back(
        {{"address", one.address}, {"kind", one.kind}, {"namespace", one.name_space}, {"name", one.name}});
  }
  return status;
}

/// Of an EdgeRemoteCluster and of the kinds of the SD-WAN: whether they are connected the connection itself tells.
Json remote_cluster_status(const Case& c) {
  std::vector<Condition> conditions = compiler::conditions_of(c.object.key.kind, c.stored);
  std::erase_if(conditions, [](const Condition& condition) {
    return condition.type != compiler::condition::kAccepted && condition.type != compiler::condition::kResolvedRefs;
  });
  return {{"conditions", conditions_json(conditions, c.generation())}};
}

Json service_export_status(const Case& c) {
  if (c.stored == nullptr) return {};
  return {{"conditions", conditions_json(c.stored->conditions, c.generation())}};
}

/// Whether the status takes nothing of other objects but what the compiler says of this one.
bool stands_by_itself(std::string_view kind) {
  static constexpr std::array<std::string_view, 6> kKinds{"Gateway",  "ListenerSet",       "GatewayClass",
                                                          "ProxyVIP", "EdgeRemoteCluster", "ServiceExport"};
  return std::ranges::find(kKinds, kind) != kKinds.end() || is_wan_kind(kind);
}

/// Of a kind that stands by itself.
Json status_by_itself(const Case& c, DesiredStatus& desired) {
  const std::string& kind = c.object.key.kind;
  if (kind == "Gateway") return api_gateway_status(c, desired);
  if (kind == "ListenerSet") return listener_set_status(c, desired);
  if (kind == "GatewayClass") return class_status(c);
  if (kind == "ProxyVIP") return vip_status(c);
  if (c.stored != nullptr) desired.rejection = rejection_in(c.stored->conditions);
  return kind == "ServiceExport" ? service_export_status(c) : remote_cluster_status(c);
}

}  // namespace

std::set<std::size_t> StatusBuilder::parents_of_others(const ClusterObject& route) const {
  std::set<std::size_t> others;
  const Json refs = Json::parse(route.parent_refs, nullptr, false);
  for (std::size_t i = 0; refs.is_array() && i < refs.size(); ++i) {
    if (!refs[i].is_object()) continue;
    const std::string asked = text_in(refs[i], "namespace");
    const std::string space = with_cluster(route.key.cluster, asked.empty() ? route.key.name_space : asked);
    const std::string name = text_in(refs[i], "name");
    const auto of_others = std::ranges::any_of(config_.gateways, [&](const compiler::LinkedGateway& gateway) {
      return gateway.identity.name_space == space && gateway.identity.name == name && is_of_others(gateway, statuses_);
    });
    if (of_others) others.insert(i);
  }
  return others;
}

bool StatusBuilder::has_parent_of_ours(const ClusterObject& route) const {
  const Json refs = Json::parse(route.parent_refs, nullptr, false);
  if (!refs.is_array()) return false;
  if (!is_api_route(route.key.kind)) return parents_of_others(route).size() < refs.size();
  const Case c{route, nullptr, options_, config_, statuses_};
  return std::ranges::any_of(refs, [&](const Json& parent) { return is_ours(parent, c); });
}

bool StatusBuilder::remove_other_controllers(const ClusterObject& route, ResourceStatus& stored) const {
  const std::set<std::size_t> others = parents_of_others(route);
  std::erase_if(stored.parents,
                [&](const compiler::ParentStatus& parent) { return others.contains(parent.parent_ref); });
  const Json refs = Json::parse(route.parent_refs, nullptr, false);
  return !refs.is_array() || refs.empty() || others.size() < refs.size();
}

bool StatusBuilder::is_left_to_others(const ResourceId& backend) {
  if (!left_) {
    std::set<std::string> ours;
    left_.emplace();
    if (!has_gateways_of_others(config_, statuses_)) return false;
    for (const compiler::LinkedRoute& route : config_.routes) {
      const compiler::Identity& identity = route.identity;
      if (identity.name.empty()) continue;
      if (route.listeners.empty()) {
        const ClusterObject* object = find_(ResourceId::of(identity.kind, identity.name_space, identity.name));
        if (identity.kind != "ProxyRoute" || object == nullptr || parents_of_others(*object).empty()) continue;
      }
      std::set<std::string>& users = route.listeners.empty() ? *left_ : ours;
      for (const compiler::LinkedRule& rule : route.rules) {
        for (const compiler::WeightedBackend& to : rule.backends) {
          if (to.backend) users.insert(config_.backends[*to.backend].identity.text());
        }
      }
    }
    for (const std::string& used : ours) left_->erase(used);
  }
  return left_->contains(backend.text());
}

std::string StatusBuilder::without_gateway(const ClusterObject& route) const {
  const Json refs = Json::parse(route.parent_refs, nullptr, false);
  if (!refs.is_array() || refs.empty()) return "NoMatchingParent: it names no parent in spec.parentRefs";
  std::string missing;
  for (const Json& ref : refs) {
    if (!ref.is_object()) continue;
    const std::string kind = text_in(ref, "kind");
    // Of meshes and others nothing is known.
    if (!kind.empty() && kind != "Gateway" && kind != "ListenerSet") return {};
    const std::string asked = text_in(ref, "namespace");
    const std::string space = with_cluster(route.key.cluster, asked.empty() ? route.key.name_space : asked);
    const std::string name = text_in(ref, "name");
    const std::string of_kind = kind.empty() ? "Gateway" : kind;
    if (find_(ResourceId::of(of_kind, space, name)) != nullptr) return {};
    missing += (missing.empty() ? "" : ", ") + resource_text(of_kind, space, name);
  }
  return ("NoMatchingParent: there is no " + missing).substr(0, kMaxMessage);
}

DesiredStatus StatusBuilder::build(const ClusterObject& object, const ResourceStatus* stored) {
  const ResourceId& key = object.key;
  DesiredStatus desired;
  desired.key = key;
  desired.generation = object.generation;
  if (stored == nullptr) stored = compiler::find_status(statuses_, key.kind, key.qualified_namespace(), key.name);
  const Case c{object, stored, options_, config_, statuses_};
  Json status;
  if (is_api_route(key.kind)) {
    status = api_route_status(c, desired);
    if (status["parents"].empty()) {
      desired.rejection = without_gateway(object);
      desired.told_by_event = !desired.rejection.empty();
    }
  } else if (key.kind == "BackendTLSPolicy") {
    status = backend_tls_status(c, service_users());
    desired.rejection = stored == nullptr ? "" : rejection_in(stored->conditions);
  } else if (key.kind == "Ingress") {
    status = ingress_status(c, gateways_of(object));
    if (stored != nullptr) desired.rejection = rejection_in(stored->conditions);
    desired.told_by_event = true;
  } else if (stands_by_itself(key.kind)) {
    status = status_by_itself(c, desired);
  } else if (is_own_with_status(key.kind)) {
    ResourceStatus ours;
    if (key.kind == "ProxyRoute" && stored != nullptr) {
      ours = *stored;
      if (!remove_other_controllers(object, ours)) return desired;
      stored = &ours;
    }
    if (key.kind == "ProxyGateway") status = own_gateway_status(c);
    if (key.kind == "ProxyRoute") status = own_route_status(c, route(key));
    if (key.kind == "ProxyBackend" && !is_left_to_others(key)) status = backend_status(endpoints(key));
    if (key.kind == "ProxyPolicy") {
      status = Json{{"target", object.target}, {"ancestors", parse_json(policy_ancestors(object, stored))}};
    }
    if (status.is_null()) return desired;
    const std::vector<Condition> conditions = compiler::conditions_of(key.kind, stored);
    desired.servable = holds(conditions, compiler::condition::kProgrammed);
    desired.rejection = rejection_in(conditions);
    status["conditions"] = conditions_json(conditions, c.generation());
  }
  if (status.is_null()) return desired;
  const schemas::Kind* kind = schemas::find_kind(key.kind);
  if (kind != nullptr && kind->own) status["observedGeneration"] = object.generation;
  desired.status = json_line(status);
  return desired;
}

}  // namespace edge::controller
