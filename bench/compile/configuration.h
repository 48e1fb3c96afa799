// The configuration that the compiler is measured with: many hosts, and per host the mixture of rules that large users
// have: 60% exact paths, 35% prefixes, 4% patterns, 1% headers or a method.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/link/linked_config.h"

namespace edge::bench {

enum class Patterns : bool {
  kNone,      ///< exact paths stand where patterns would
  kDistinct,  ///< no two patterns are equal
};

struct Shape {
  std::uint32_t routes = 0;
  std::uint32_t hosts = 0;
  Patterns patterns = Patterns::kNone;
};

compiler::LinkedConfig make_config(const Shape& shape);

// Its parts.
inline constexpr std::uint32_t kBackends = 500;
std::string backend_name(std::uint32_t backend);
std::uint32_t backend_of(const Shape& shape, std::uint32_t route);
std::string host_name(const Shape& shape, std::uint32_t route);
compiler::RuleMatch match_of(const Shape& shape, std::uint32_t route);

struct OwnRequest {
  std::string method = "GET";
  std::string host;
  std::string path;
  std::string tenant;  ///< of the header X-Tenant; empty: none
};

/// A request that route `route` of make_config(shape) answers.
OwnRequest request_for(const Shape& shape, std::uint32_t route);
/// Whether the route's rule is a pattern: lookups are measured apart from these.
bool is_pattern(const Shape& shape, std::uint32_t route);

}  // namespace edge::bench
