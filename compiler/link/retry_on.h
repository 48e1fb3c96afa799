// The causes of retries as bits. `connection-failure` in a route equals `connect-failure` in a backend.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/source.h"

namespace edge::compiler::link {

/// program::RetryOn bits of the names; the default of defaults.h when there are none.
std::uint16_t retry_on_bits(const std::vector<Located<std::string>>& names);
/// The names of the bits, comma-separated.
std::string retry_on_text(std::uint16_t bits);

}  // namespace edge::compiler::link
