#include "program/values/endpoints.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text/json.h"
#include "base/text/json_sax.h"
#include "program/json_events.h"

namespace edge::program {
namespace {

constexpr std::size_t kMaxEndpointsBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxEndpoints = 1'000'000;

/// The place in the document is the stack of what is open: `{"backends":[{..."endpoints":[{`.
class EndpointsReader : public JsonEvents {
 public:
  EndpointSet take() { return std::move(set_); }

  bool start_object(std::size_t) override {
    switch (place_) {
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
      default:
        return unexpected("an object");
    }
  }
  bool end_object() override {
    switch (place_) {
      case Level::kEndpoint:
        if (!has_address_ || endpoint_.port == 0) return fail("an endpoint needs `address` and `port`");
        set_.backends.back().endpoints.push_back(endpoint_);
        return enter(Level::kEndpoints);
      case Level::kBackend:
        if (set_.backends.back().name_space.empty() || set_.backends.back().name.empty())
          return fail("a backend needs `namespace` and `name`");
        return enter(Level::kBackends);
      default:
        return enter(Level::kEnd);
    }
  }
  bool key(string_t& name) override {
    const bool known = (place_ == Level::kRoot && name == "backends") ||
                       (place_ == Level::kBackend && (name == "namespace" || name == "name" || name == "endpoints")) ||
                       (place_ == Level::kEndpoint && (name == "address" || name == "port" || name == "ready"));
    return take_key(name, known);
  }
  bool start_array(std::size_t) override {
    if (place_ == Level::kRoot) return enter(Level::kBackends);
    if (place_ == Level::kBackend && at() == "endpoints") return enter(Level::kEndpoints);
    return unexpected("a list");
  }
  bool end_array() override { return enter(place_ == Level::kEndpoints ? Level::kBackend : Level::kRoot); }

  bool string(string_t& text) override {
    if (place_ == Level::kBackend && at() == "namespace") return set_.backends.back().name_space = text, true;
    if (place_ == Level::kBackend && at() == "name") return set_.backends.back().name = text, true;
    if (place_ != Level::kEndpoint || at() != "address") return unexpected("a string");
    const auto address = parse_ip(text);
    if (!address) return fail("`" + text.substr(0, kShown) + "` is no IP address");
    endpoint_.address = *address;
    return has_address_ = true;
  }
  bool boolean(bool value) override {
    if (place_ != Level::kEndpoint || at() != "ready") return unexpected("a boolean");
    endpoint_.ready = value;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Level::kEndpoint || at() != "port") return unexpected("a number");
    if (value == 0 || value > 65535) return fail("a port is 1 to 65535");
    endpoint_.port = static_cast<std::uint16_t>(value);
    return true;
  }

 private:
  enum class Level { kStart, kRoot, kBackends, kBackend, kEndpoints, kEndpoint, kEnd };

  bool enter(Level place) {
    place_ = place;
    return true;
  }

  EndpointSet set_;
  Endpoint endpoint_;
  bool has_address_ = false;
  std::size_t endpoints_ = 0;
  Level place_ = Level::kStart;
};

}  // namespace

Result<EndpointSet> read_endpoints(std::string_view json) {
  const auto invalid = [](const std::string& what) { return Error{ErrorCode::kInvalidArgument, "endpoints: " + what}; };
  if (json.size() > kMaxEndpointsBytes) return invalid("larger than 64 MiB");
  EndpointsReader reader;
  if (!parse_events(json, reader)) return invalid(reader.fault());

  EndpointSet set = reader.take();
  for (BackendEndpoints& backend : set.backends) {
    backend.backend_id = stable_id("ProxyBackend", backend.name_space, backend.name);
    auto& all = backend.endpoints;
    // Of doubles the ready one stays.
    std::sort(all.begin(), all.end(), [](const Endpoint& a, const Endpoint& b) {
      return std::tie(a.address, a.port, b.ready) < std::tie(b.address, b.port, a.ready);
    });
    all.erase(
        std::unique(all.begin(), all.end(),
                    [](const Endpoint& a, const Endpoint& b) { return a.address == b.address && a.port == b.port; }),
        all.end());
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
    for (const Endpoint& endpoint : backend.endpoints)
      list.push_back({{"address", to_string(endpoint.address)}, {"port", endpoint.port}, {"ready", endpoint.ready}});
    backends.push_back({{"namespace", backend.name_space}, {"name", backend.name}, {"endpoints", std::move(list)}});
  }
  const nlohmann::ordered_json document = {{"backends", std::move(backends)}};
  // Names are checked long before; were one not UTF-8, it must not throw here.
  return indented_json(document, 1);
}

}  // namespace edge::program
