#include "edgectl/web/api/views/topology.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/ascii.h"
#include "base/text/json.h"

namespace edge::edgectl::web {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

enum class Layer : std::uint8_t { kAddress, kGateway, kHost, kRoute, kBackend, kEndpoint };

constexpr std::string_view kAny = "*";
/// Hosts of one route; a route with more shows the first.
constexpr std::size_t kMostHosts = 64;

struct Node {
  Layer layer = Layer::kAddress;
  std::string kind{}, plural{}, name_space{}, name{};
  Health health = Health::kUnknown;
  std::string problem{}, detail{};
};

/// Host and port of a URL: what stands before `@` is a credential.
std::string authority_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const std::size_t user = url.rfind('@');
  return std::string(user == std::string_view::npos ? url : url.substr(user + 1));
}

class Graph {
 public:
  Graph(const StoreView& view, const TopologyQuery& query, const TopologyBounds& bounds)
      : view_(view), query_(query), search_(ascii_lower(query.search)), bounds_(bounds) {}

  void add_routes() {
    for (const std::string_view name : route_kinds()) {
      const StoredKind* kind = view_.find_kind(name);
      if (kind == nullptr) continue;
      view_.each(*kind, [&](const std::string&, const StoredObject& route) {
        if (query_.name_space.empty() || route.name_space == query_.name_space) add_route(*kind, route);
      });
    }
  }

  /// What no route uses.
  void add_rest() {
    if (!search_.empty()) return;
    for (const std::string_view name : gateway_kinds()) {
      for_each(name, [&](const StoredKind& kind, const StoredObject& object) {
        gateway({std::string(kind.kind.kind), object.name_space, object.name, {}});
      });
    }
    for_each("ProxyVIP", [&](const StoredKind& kind, const StoredObject& object) {
      object_node(Layer::kAddress, {std::string(kind.kind.kind), object.name_space, object.name, {}});
    });
    for_each("ProxyBackend", [&](const StoredKind& kind, const StoredObject& object) {
      backend({std::string(kind.kind.kind), object.name_space, object.name, {}});
    });
  }

  OrderedJson json() const {
    OrderedJson nodes = OrderedJson::array();
    for (const Node& node : nodes_) {
      nodes.push_back({{"layer", static_cast<int>(node.layer)},
                       {"kind", node.kind},
                       {"plural", node.plural},
                       {"namespace", node.name_space},
                       {"name", node.name},
                       {"health", word_of(node.health)},
                       {"problem", node.problem},
                       {"detail", node.detail}});
    }
    OrderedJson edges = OrderedJson::array();
    for (const auto& [from, to] : edges_) edges.push_back({from, to});
    return {{"nodes", std::move(nodes)}, {"edges", std::move(edges)}, {"leftOut", left_out_}};
  }

 private:
  template <typename Each>
  void for_each(std::string_view name, Each each) {
    const StoredKind* kind = view_.find_kind(name);
    if (kind == nullptr) return;
    view_.each(*kind, [&](const std::string&, const StoredObject& object) {
      if (!query_.name_space.empty() && object.name_space != query_.name_space) return;
      if (full()) {
        ++left_out_;
      } else {
        each(*kind, object);
      }
    });
  }

  bool full() const { return nodes_.size() >= bounds_.nodes || edges_.size() >= bounds_.edges; }

  std::pair<std::size_t, bool> put(Node node) {
    std::string id = std::to_string(static_cast<int>(node.layer)) + node.kind + " " + node.name_space + "/" + node.name;
    const auto [at, added] = ids_.emplace(std::move(id), nodes_.size());
    if (added) nodes_.push_back(std::move(node));
    return {at->second, added};
  }

  void link(std::size_t from, std::size_t to) {
    if (linked_.emplace(from, to).second) edges_.emplace_back(from, to);
  }

  const StoredObject* stored(const Reference& of) const {
    const StoredKind* kind = view_.find_kind(of.kind);
    if (kind == nullptr) return nullptr;
    return view_.find_object(*kind, of.name_space.empty() ? of.name : of.name_space + "/" + of.name);
  }

  /// One that does not exist is failing, where it would be seen.
  std::pair<std::size_t, bool> object_node(Layer layer, const Reference& of, std::string detail = {}) {
    const StoredKind* kind = view_.find_kind(of.kind);
    const StoredObject* object = stored(of);
    Node node{.layer = layer, .kind = of.kind, .plural = {}, .name_space = of.name_space, .name = of.name};
    node.detail = std::move(detail);
    if (object != nullptr) {
      node.plural = kind->kind.plural;
      node.health = object->verdict.health;
      node.problem = object->verdict.problem;
      if (of.kind == "ProxyVIP") {
        node.detail = text_in(member_in(parse_json(object->text), "spec"), "address");
      }
    } else if (kind != nullptr && kind->synced && view_.visible().may_list(kind->kind, of.name_space)) {
      node.health = Health::kBad;
      node.problem = "does not exist";
    }
    return put(std::move(node));
  }

  void add_addresses(std::size_t gateway, const Reference& of, const StoredObject& object, const Json& json) {
    bool any = false;
    const auto add = [&](std::size_t address) {
      link(address, gateway);
      any = true;
    };
    for (const Reference& reference : object.references) {
      if (reference.field == "vipRef") add(object_node(Layer::kAddress, reference).first);
    }
    const Json& spec = member_in(json, "spec");
    for (const Json& address : list_in(spec, "addresses")) {
      const std::string& value = text_in(address, "value");
      if (value.empty()) continue;
      if (text_in(address, "type") == "edgeproxy.io/vip") {
        const std::size_t slash = value.find('/');
        const bool named = slash != std::string::npos;
        add(object_node(Layer::kAddress, {"ProxyVIP", named ? value.substr(0, slash) : of.name_space,
                                          named ? value.substr(slash + 1) : value, "addresses"})
                .first);
      } else {
        add(put({.layer = Layer::kAddress, .kind = "Address", .name = value}).first);
      }
    }
    if (!any) {
      for (const Json& address : list_in(member_in(json, "status"), "addresses")) {
        const std::string& value = text_in(address, "value");
        if (!value.empty()) add(put({.layer = Layer::kAddress, .kind = "Address", .name = value}).first);
      }
    }
    if (!any) add(put({.layer = Layer::kAddress, .kind = "Address", .name = std::string(kAny)}).first);
  }

  std::size_t gateway(const Reference& of) {
    const auto [at, added] = object_node(Layer::kGateway, of);
    const StoredObject* object = added ? stored(of) : nullptr;
    if (object == nullptr || of.kind == "IngressClass") return at;
    const Json json = parse_json(object->text);
    std::vector<std::string>& hosts = listener_hosts_[at];
    std::set<std::int64_t> ports;
    for (const Json& listener : list_in(member_in(json, "spec"), "listeners")) {
      ports.insert(integer_in(listener, "port"));
      if (const std::string& one = text_in(listener, "hostname"); !one.empty()) hosts.push_back(one);
      for (const Json& host : list_in(listener, "hostnames")) hosts.push_back(text_value(host));
    }
    for (const std::int64_t port : ports) {
      nodes_[at].detail += (nodes_[at].detail.empty() ? ":" : ", :") + std::to_string(port);
    }
    add_addresses(at, of, *object, json);
    return at;
  }

  void backend(const Reference& of, std::size_t from = kNoNode) {
    const auto [at, added] = object_node(Layer::kBackend, of);
    if (from != kNoNode) link(from, at);
    const StoredObject* object = added && of.kind == "ProxyBackend" ? stored(of) : nullptr;
    if (object == nullptr) return;
    const Json json = parse_json(object->text);
    const Json& spec = member_in(json, "spec");
    nodes_[at].detail = text_in(spec, "protocol");
    const auto endpoint = [&](std::string name, std::string kind) {
      if (name.empty() || full()) return;
      Node node{
          .layer = Layer::kEndpoint, .kind = std::move(kind), .name_space = of.name_space, .name = std::move(name)};
      link(at, put(std::move(node)).first);
    };
    for (const Json& one : list_in(spec, "endpoints")) endpoint(authority_of(text_in(one, "address")), "Endpoint");
    endpoint(authority_of(text_in(spec, "url")), "Endpoint");
    for (const Reference& reference : object->references) {
      if (reference.field == "serviceRef") link(at, object_node(Layer::kEndpoint, reference).first);
    }
  }

  /// A ListenerSet adds listeners to its Gateway.
  Reference gateway_of(const Reference& parent) const {
    if (parent.kind != "ListenerSet") return parent;
    const StoredObject* object = stored(parent);
    if (object == nullptr) return parent;
    const Json json = parse_json(object->text);
    const Json& of = member_in(member_in(json, "spec"), "parentRef");
    const std::string& name_space = text_in(of, "namespace");
    return {"Gateway", name_space.empty() ? parent.name_space : name_space, text_in(of, "name"), "parentRef"};
  }

  static std::vector<std::string> hosts_of(std::string_view kind, const Json& spec) {
    std::vector<std::string> hosts;
    if (kind == "Ingress") {
      for (const Json& rule : list_in(spec, "rules")) {
        const std::string& host = text_in(rule, "host");
        hosts.push_back(host.empty() ? std::string(kAny) : host);
      }
    } else {
      for (const Json& host : list_in(spec, "hostnames")) hosts.push_back(text_value(host));
    }
    std::ranges::sort(hosts);
    const auto twice = std::ranges::unique(hosts);
    hosts.erase(twice.begin(), twice.end());
    if (hosts.size() > kMostHosts) hosts.resize(kMostHosts);
    return hosts;
  }

  bool wanted(const StoredObject& route, const std::vector<std::string>& hosts) const {
    if (search_.empty()) return true;
    const auto has = [&](const std::string& text) { return ascii_lower(text).find(search_) != std::string::npos; };
    return has(route.name_space + "/" + route.name) || std::ranges::any_of(hosts, has) ||
           std::ranges::any_of(route.references,
                               [&](const Reference& one) { return is_backend(one) && has(one.name); });
  }

  static bool is_backend(const Reference& one) {
    return one.field == "backendRef" || one.field == "backendRefs" || one.field == "service";
  }

  void add_route(const StoredKind& kind, const StoredObject& object) {
    if (full() && search_.empty()) {
      ++left_out_;
      return;
    }
    const Json json = parse_json(object.text);
    const std::vector<std::string> hosts = hosts_of(kind.kind.kind, member_in(json, "spec"));
    if (!wanted(object, hosts)) return;
    if (full()) {
      ++left_out_;
      return;
    }
    const std::size_t route =
        object_node(Layer::kRoute, {std::string(kind.kind.kind), object.name_space, object.name, {}}).first;
    for (const Reference& reference : object.references) {
      if (is_backend(reference)) backend(reference, route);
      if (reference.field != "parentRefs" && reference.field != "ingressClassName") continue;
      const std::size_t from = gateway(gateway_of(reference));
      const std::vector<std::string>* served = &hosts;
      if (hosts.empty() && !listener_hosts_[from].empty()) served = &listener_hosts_[from];
      if (served->empty()) {
        add_host(from, route, std::string(kAny));
      } else {
        for (const std::string& host : *served) add_host(from, route, host);
      }
    }
  }

  /// A host is one of its gateway: the same name elsewhere leads to other routes.
  void add_host(std::size_t gateway, std::size_t route, std::string host) {
    const Node& of = nodes_[gateway];
    std::string detail = of.name_space.empty() ? of.name : of.name_space + "/" + of.name;
    std::string id = std::to_string(gateway) + " " + host;
    const auto [at, added] = hosts_.emplace(std::move(id), nodes_.size());
    if (added)
      nodes_.push_back({.layer = Layer::kHost, .kind = "Host", .name = std::move(host), .detail = std::move(detail)});
    link(gateway, at->second);
    link(at->second, route);
  }

  static constexpr std::size_t kNoNode = ~std::size_t{0};

  const StoreView& view_;
  const TopologyQuery& query_;
  const std::string search_;
  const TopologyBounds& bounds_;
  std::vector<Node> nodes_;
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
  std::set<std::pair<std::size_t, std::size_t>> linked_;
  std::map<std::string, std::size_t> ids_;
  std::map<std::string, std::size_t> hosts_;
  std::map<std::size_t, std::vector<std::string>> listener_hosts_;
  std::size_t left_out_ = 0;
};

}  // namespace

OrderedJson topology_json(const StoreView& view, const TopologyQuery& query, const TopologyBounds& bounds) {
  Graph graph(view, query, bounds);
  graph.add_routes();
  graph.add_rest();
  return graph.json();
}

}  // namespace edge::edgectl::web
