// Virtual addresses: which node holds or announces each, by their statuses, and which gateways listen on it.
#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

#include "edgectl/web/access/store_view.h"

namespace edge::edgectl::web {

/// Limit of a reply; further ones are counted.
inline constexpr std::size_t kMostAddresses = 2'000;

nlohmann::ordered_json addresses_json(const StoreView& view);

}  // namespace edge::edgectl::web
