// Worlds so small that every request in them can be listed: what the exact answers of compiler/analyze are held
// against.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "compiler/link/linked_config.h"
#include "tests/reference/request.h"

namespace edge::worlds {

/// The only source of chance: equal seed, equal world, on every machine.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(engine_() % bound); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  template <typename T>
  const T& of(const std::vector<T>& values) {
    return values[below(static_cast<std::uint32_t>(values.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

/// One listener on port 80; a few routes whose conditions are all about the values that `every_request` goes through.
compiler::LinkedConfig small_config(Chance& chance);

/// An expression of rule D5 over the same values.
std::string small_expression(Chance& chance, int depth);

/// Hosts, paths of up to three bytes after the slash, methods, one header, one query key and sources: every combination
/// of some values that conditions name and some that none does.
std::vector<reference::OwnedRequest> every_request();

}  // namespace edge::worlds
