#include "program/values/endpoints.h"

#include <algorithm>
#include <initializer_list>
#include <tuple>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/labels.h"
#include "base/text/json.h"
#include "base/text/json_sax.h"
#include "program/json_events.h"

namespace edge::program {
namespace {

constexpr std::size_t kMaxEndpointsBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxEndpoints = 1'000'000;

/// Parses endpoints. The position in the document is the stack of open elements: `{"backends":[{..."endpoints":[{`.
class EndpointsReader : public JsonEvents {
 public:
  EndpointSet take() { return std::move(set_); }

  bool start_object(std::size_t) override {
    switch (position_) {
      case Level::kStart:
        return enter(Level::kRoot);
      case Level::kBackends:
        set_.backends.emplace_back();
        return enter(Level::kBackend);
      case Level::kEndpoints:
        if (++endpoints_ > kMaxEndpoints) return fail("more than 1,000,000 endpoints");
        endpoint_ = {};
        has_address_ = false;
        return enter(Level::kEndpoint);
      case Level::kNames:
        if (++endpoints_ > kMaxEndpoints) return fail("more than 1,000,000 endpoints");
        if (set_.backends.back().names.size() >= kMostEndpointNames) return fail("more than 256 names of a backend");
        set_.backends.back().names.emplace_back();
        return enter(Level::kName);
      default:
        return unexpected("an object");
    }
  }
  bool end_object() override {
    switch (position_) {
      case Level::kEndpoint:
        if (!has_address_ || endpoint_.port == 0) return fail("an endpoint needs `address` and `port`");
        set_.backends.back().endpoints.push_back(endpoint_);
        return enter(Level::kEndpoints);
      case Level::kName:
        if (set_.backends.back().names.back().host.empty()) return fail("a name needs `host`");
        return enter(Level::kNames);
      case Level::kBackend:
        if (set_.backends.back().name_space.empty() || set_.backends.back().name.empty())
          return fail("a backend needs `namespace` and `name`");
        return enter(Level::kBackends);
      default:
        return enter(Level::kEnd);
    }
  }
  bool key(string_t& name) override {
    const auto one_of = [&](std::initializer_list<std::string_view> names) {
      return std::ranges::find(names, std::string_view(name)) != names.end();
    };
    const bool known = (position_ == Level::kRoot && one_of({"backends"})) ||
                       (position_ == Level::kBackend && one_of({"namespace", "name", "endpoints", "names"})) ||
                       (position_ == Level::kEndpoint &&
                        one_of({"address", "port", "ready", "weight", "zones", "cluster", "healthyPercent"})) ||
                       (position_ == Level::kName && one_of({"host", "port", "weight", "zones"}));
    return take_key(name, known);
  }
  bool start_array(std::size_t) override {
    if (position_ == Level::kRoot) return enter(Level::kBackends);
    if (position_ == Level::kBackend && at() == "endpoints") return enter(Level::kEndpoints);
    if (position_ == Level::kBackend && at() == "names") return enter(Level::kNames);
    if (at() != "zones") return unexpected("a list");
    if (position_ == Level::kEndpoint) return enter(Level::kEndpointZones);
    return position_ == Level::kName ? enter(Level::kNameZones) : unexpected("a list");
  }
  bool end_array() override {
    if (position_ == Level::kEndpointZones) return enter(Level::kEndpoint);
    if (position_ == Level::kNameZones) return enter(Level::kName);
    return enter(position_ == Level::kBackends ? Level::kRoot : Level::kBackend);
  }

  bool string(string_t& text) override {
    if (position_ == Level::kEndpointZones) return add_zone(text, endpoint_.zones);
    if (position_ == Level::kNameZones) return add_zone(text, set_.backends.back().names.back().zones);
    if (position_ == Level::kBackend && at() == "namespace") return set_.backends.back().name_space = text, true;
    if (position_ == Level::kBackend && at() == "name") return set_.backends.back().name = text, true;
    if (position_ == Level::kName && at() == "host") {
      if (!is_endpoint_name(text)) return fail("`" + text.substr(0, kShown) + "` is no name of a host");
      return set_.backends.back().names.back().host = text, true;
    }
    if (position_ == Level::kEndpoint && at() == "cluster") {
      if (!is_cluster_name(text)) return fail("`" + text.substr(0, kShown) + "` is no name of a cluster");
      return endpoint_.cluster = text, true;
    }
    if (position_ != Level::kEndpoint || at() != "address") return unexpected("a string");
    const auto address = parse_ip(text);
    if (!address) return fail("`" + text.substr(0, kShown) + "` is no IP address");
    endpoint_.address = *address;
    return has_address_ = true;
  }
  bool boolean(bool value) override {
    if (position_ != Level::kEndpoint || at() != "ready") return unexpected("a boolean");
    endpoint_.ready = value;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    const bool names = position_ == Level::kName;
    if (!names && position_ != Level::kEndpoint) return unexpected("a number");
    EndpointName* const name = names ? &set_.backends.back().names.back() : nullptr;
    if (at() == "weight") {
      if (value == 0 || value > kMostEndpointWeight) return fail("a weight is 1 to 256");
      (names ? name->weight : endpoint_.weight) = static_cast<std::uint16_t>(value);
      return true;
    }
    if (!names && at() == "healthyPercent") {
      if (value > 100) return fail("a share is 0 to 100");
      endpoint_.healthy_percent = static_cast<std::uint8_t>(value);
      return true;
    }
    if (at() != "port") return unexpected("a number");
    // Of a name, 0 stands for the ports that its SRV records say.
    if ((value == 0 && !names) || value > 65535) return fail("a port is 1 to 65535");
    (names ? name->port : endpoint_.port) = static_cast<std::uint16_t>(value);
    return true;
  }

 private:
  enum class Level {
    kStart,
    kRoot,
    kBackends,
    kBackend,
    kEndpoints,
    kEndpoint,
    kEndpointZones,
    kNames,
    kName,
    kNameZones,
    kEnd
  };

  bool add_zone(const std::string& text, EndpointZones& zones) {
    if (!is_zone(text)) return fail("`" + text.substr(0, kShown) + "` is no name of a zone");
    if (zones.size() >= kMostEndpointZones) return fail("more than 8 zones of an endpoint");
    zones.push_back(text);
    return true;
  }

  bool enter(Level position) {
    position_ = position;
    return true;
  }

  EndpointSet set_;
  Endpoint endpoint_;
  bool has_address_ = false;
  std::size_t endpoints_ = 0;
  Level position_ = Level::kStart;
};

}  // namespace

void sort(BackendEndpoints& backend) {
  const auto position = [](const Endpoint& endpoint) { return std::tie(endpoint.address, endpoint.port); };
  std::ranges::sort(backend.endpoints, [](const Endpoint& a, const Endpoint& b) {
    return std::tie(a.address, a.port, a.cluster, b.ready, b.weight, a.zones) <
           std::tie(b.address, b.port, b.cluster, a.ready, a.weight, b.zones);
  });
  const auto doubles = std::ranges::unique(backend.endpoints, {}, position);
  backend.endpoints.erase(doubles.begin(), doubles.end());
  std::ranges::sort(backend.names, [](const EndpointName& a, const EndpointName& b) {
    return std::tie(a.host, a.port, b.weight, a.zones) < std::tie(b.host, b.port, a.weight, b.zones);
  });
  const auto twice =
      std::ranges::unique(backend.names, {}, [](const EndpointName& name) { return std::tie(name.host, name.port); });
  backend.names.erase(twice.begin(), twice.end());
}

bool is_endpoint_name(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty() || host.size() > 253) return false;
  for (std::size_t begin = 0; begin <= host.size();) {
    const std::size_t end = std::min(host.find('.', begin), host.size());
    const std::string_view label = host.substr(begin, end - begin);
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') return false;
    for (const char c : label) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
      if (!plain) return false;
    }
    begin = end + 1;
  }
  return true;
}

bool is_cluster_name(std::string_view name) {
  return !name.empty() && name.size() <= 63 && name.front() != '-' && name.back() != '-' &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool is_zone(std::string_view zone) { return !zone.empty() && is_label_value(zone); }

std::string zones_text(const EndpointZones& zones) {
  std::string text;
  for (const std::string& zone : zones) text += (text.empty() ? "" : ", ") + zone;
  return text;
}

Result<EndpointSet> read_endpoints(std::string_view json) {
  const auto invalid = [](const std::string& what) { return Error{ErrorCode::kInvalidArgument, "endpoints: " + what}; };
  if (json.size() > kMaxEndpointsBytes) return invalid("larger than 64 MiB");
  EndpointsReader reader;
  if (!parse_events(json, reader)) return invalid(reader.fault());

  EndpointSet set = reader.take();
  for (BackendEndpoints& backend : set.backends) {
    backend.backend_id = stable_id("ProxyBackend", backend.name_space, backend.name);
    sort(backend);
  }
  std::sort(set.backends.begin(), set.backends.end(),
            [](const BackendEndpoints& a, const BackendEndpoints& b) { return a.backend_id < b.backend_id; });
  const auto twice = std::adjacent_find(
      set.backends.begin(), set.backends.end(),
      [](const BackendEndpoints& a, const BackendEndpoints& b) { return a.backend_id == b.backend_id; });
  if (twice != set.backends.end()) return invalid("backend " + twice->name_space + "/" + twice->name + " stands twice");
  return set;
}

std::string write_endpoints(const EndpointSet& endpoints) {
  nlohmann::ordered_json backends = nlohmann::ordered_json::array();
  for (const BackendEndpoints& backend : endpoints.backends) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Endpoint& endpoint : backend.endpoints) {
      list.push_back({{"address", to_string(endpoint.address)}, {"port", endpoint.port}, {"ready", endpoint.ready}});
      if (endpoint.weight != 1) list.back()["weight"] = endpoint.weight;
      if (!endpoint.zones.empty()) list.back()["zones"] = endpoint.zones;
      if (!endpoint.cluster.empty()) list.back()["cluster"] = endpoint.cluster;
      if (endpoint.healthy_percent != 100) list.back()["healthyPercent"] = endpoint.healthy_percent;
    }
    backends.push_back({{"namespace", backend.name_space}, {"name", backend.name}, {"endpoints", std::move(list)}});
    if (backend.names.empty()) continue;
    nlohmann::ordered_json names = nlohmann::ordered_json::array();
    for (const EndpointName& name : backend.names) {
      names.push_back({{"host", name.host}, {"port", name.port}});
      if (name.weight != 1) names.back()["weight"] = name.weight;
      if (!name.zones.empty()) names.back()["zones"] = name.zones;
    }
    backends.back()["names"] = std::move(names);
  }
  const nlohmann::ordered_json document = {{"backends", std::move(backends)}};
  // Names are checked long before; were one not UTF-8, it must not throw here.
  return indented_json(document, 1);
}

}  // namespace edge::program
