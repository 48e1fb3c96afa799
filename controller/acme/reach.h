// Listeners that agents do not reach, as controllers tell each other: lines `GATEWAY-ID LISTENER REASON`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/acme/certificate_events.h"

namespace edge::controller::acme {

/// At most 64.
std::string write_unreached(const std::vector<UnreachedListener>& listeners);
/// Lines that are none are passed over.
std::vector<UnreachedListener> read_unreached(std::string_view lines);

}  // namespace edge::controller::acme
