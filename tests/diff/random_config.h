// Random configurations and requests over alphabets so small that everything collides: hosts under the same wildcards,
// nested prefixes, headers that several rules test, equal timestamps.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/link/linked_config.h"
#include "tests/reference/request.h"

namespace edge::diff {

/// The only source of chance: equal seed, equal case, on every machine (no std distributions, whose results vary).
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}
  /// 0..bound-1. Precondition: bound > 0.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(engine_() % bound); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  template <typename T>
  const T& of(const std::vector<T>& values) {
    return values[below(static_cast<std::uint32_t>(values.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

compiler::LinkedConfig random_config(Chance& chance);
/// Another route in place of `config.routes[index]`, with its identity.
void replace_route(Chance& chance, compiler::LinkedConfig& config, std::uint32_t index);
/// Half of them are made to fit some rule of `config`, save for a condition or two.
std::vector<reference::OwnedRequest> random_requests(Chance& chance, const compiler::LinkedConfig& config,
                                                     std::size_t count);

}  // namespace edge::diff
