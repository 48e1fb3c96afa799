// Random configurations and requests over alphabets so small that everything collides: hosts under the same wildcards,
// nested prefixes, headers that several rules test, equal timestamps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/link/linked_config.h"
#include "tests/reference/chance.h"
#include "tests/reference/request.h"

namespace edge::diff {

compiler::LinkedConfig random_config(Chance& chance);
/// Another route in place of `config.routes[index]`, with its identity.
void replace_route(Chance& chance, compiler::LinkedConfig& config, std::uint32_t index);
/// Half of them are made to fit some rule of `config`, save for a condition or two.
std::vector<reference::OwnedRequest> random_requests(Chance& chance, const compiler::LinkedConfig& config,
                                                     std::size_t count);

}  // namespace edge::diff
