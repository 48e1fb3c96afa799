#include "bench/compile/configuration.h"

#include <algorithm>

namespace edge::bench {
namespace {

using compiler::LinkedConfig;
using compiler::MatchType;
using compiler::PathMatch;

enum class Kind { kExact, kPrefix, kPattern, kHeader, kMethod };

/// Of every hundred routes: 60, 35, 4, and 1 that is a header and a method in turn. Spread over the hosts: a host holds
/// consecutive routes, so the kind goes by a number that is coprime to 100 ahead.
Kind kind_of(const Shape& shape, std::uint32_t route) {
  const std::uint32_t hundredth = route * 37 % 100;
  if (hundredth < 60) return Kind::kExact;
  if (hundredth < 95) return Kind::kPrefix;
  if (hundredth < 99) return shape.patterns == Patterns::kDistinct ? Kind::kPattern : Kind::kExact;
  return route / 100 % 2 == 0 ? Kind::kHeader : Kind::kMethod;
}

std::uint32_t host_of(const Shape& shape, std::uint32_t route) { return route / (shape.routes / shape.hosts); }
std::string path_of(std::uint32_t route) {
  return "/api/v" + std::to_string(route % 3 + 1) + "/service-" + std::to_string(route);
}

}  // namespace

std::string backend_name(std::uint32_t backend) { return "backend-" + std::to_string(1000 + backend); }

std::uint32_t backend_of(const Shape& shape, std::uint32_t route) {
  constexpr std::uint32_t kBackendsOfHost = 10;
  return (host_of(shape, route) * kBackendsOfHost + route % kBackendsOfHost) % kBackends;
}

std::string host_name(const Shape& shape, std::uint32_t route) {
  return "shop-" + std::to_string(host_of(shape, route)) + ".example.com";
}

compiler::RuleMatch match_of(const Shape& shape, std::uint32_t route) {
  compiler::RuleMatch match;
  match.path = {PathMatch::Type::kExact, {path_of(route) + "/items", {}}};
  switch (kind_of(shape, route)) {
    case Kind::kExact:
      break;
    case Kind::kPrefix:
      match.path = {PathMatch::Type::kPrefix, {path_of(route), {}}};
      break;
    case Kind::kPattern:
      match.path = {PathMatch::Type::kRegex, {"^" + path_of(route) + "/[0-9]+/(detail|edit)$", {}}};
      break;
    case Kind::kHeader:
      match.path.type = PathMatch::Type::kPrefix;
      match.headers.push_back({{"x-tenant", {}}, {"tenant-" + std::to_string(route), {}}, MatchType::kExact});
      break;
    case Kind::kMethod:
      match.method = {"POST", {}};
      break;
  }
  return match;
}

LinkedConfig make_config(const Shape& shape) {
  LinkedConfig config;
  config.gateways.emplace_back().identity = {"ProxyGateway", "edge", "main", 0, {}};
  auto& listener = config.listeners.emplace_back();
  listener.name = "http";
  listener.port = 80;
  for (std::uint32_t i = 0; i < kBackends; ++i) {
    config.backends.emplace_back().identity = {"ProxyBackend", "edge", backend_name(i), 0, {}};
  }
  config.routes.reserve(shape.routes);
  for (std::uint32_t i = 0; i < shape.routes; ++i) {
    auto& route = config.routes.emplace_back();
    std::string number = std::to_string(i);
    number.insert(0, 6 - std::min<std::size_t>(6, number.size()), '0');
    route.identity = {"ProxyRoute", "team-" + std::to_string(host_of(shape, i) / 100 + 100), "route-" + number, i, {}};
    route.hostnames.push_back({*HostPattern::parse(host_name(shape, i)), {}});
    route.listeners = {0};
    auto& rule = route.rules.emplace_back();
    rule.matches.push_back(match_of(shape, i));
    rule.backends.push_back({backend_of(shape, i), 1});
  }
  return config;
}

OwnRequest request_for(const Shape& shape, std::uint32_t route) {
  OwnRequest request;
  request.host = host_name(shape, route);
  const auto match = match_of(shape, route);
  if (match.method) request.method = match.method->value;
  request.path = path_of(route) + "/items";
  if (kind_of(shape, route) == Kind::kPattern) request.path = path_of(route) + "/7/edit";
  if (!match.headers.empty()) request.tenant = match.headers[0].value.value;
  return request;
}

bool is_pattern(const Shape& shape, std::uint32_t route) { return kind_of(shape, route) == Kind::kPattern; }

}  // namespace edge::bench
