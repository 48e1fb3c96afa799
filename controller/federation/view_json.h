// What people are shown of federation, as JSON: the same for commands, pages and files. Times are RFC 3339 in UTC.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "controller/federation/view.h"

namespace edge::federation {

nlohmann::ordered_json json_of(const StatusView& status);
nlohmann::ordered_json json_of(const PeerView& peer);
nlohmann::ordered_json json_of(const ConflictsView& conflicts);
nlohmann::ordered_json json_of(const ClockView& clock);
nlohmann::ordered_json json_of(const PreviewView& preview);
nlohmann::ordered_json json_of(const SyncStarted& started);

}  // namespace edge::federation
