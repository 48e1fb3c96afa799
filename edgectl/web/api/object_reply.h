// Stored objects as the API's JSON. Values that may be secret are left out.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "edgectl/web/api/object_store.h"

namespace edge::edgectl::web {

nlohmann::ordered_json kind_json(const StoredKind& kind);
nlohmann::ordered_json objects_json(const StoredKind& kind);
/// The worst first, at most 200.
nlohmann::ordered_json problems_json(const ObjectStore& store);
/// Without events.
nlohmann::ordered_json object_json(const ObjectStore& store, const StoredKind& kind, const StoredObject& stored);
/// The latest first. Omits those of an earlier object of the same name.
nlohmann::ordered_json events_json(const std::vector<kube::Object>& events, const std::string& uid);

}  // namespace edge::edgectl::web
