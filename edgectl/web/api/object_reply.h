// Stored objects as the API's JSON, those that the viewer may list. Values that may be secret are left out.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "edgectl/web/access/store_view.h"

namespace edge::edgectl::web {

nlohmann::ordered_json kind_json(const StoreView& view, const StoredKind& kind);
/// One line of JSON: of thousands of objects a tree would take several times its text.
std::string objects_text(const StoreView& view, const StoredKind& kind);
/// The worst first, at most 200.
nlohmann::ordered_json problems_json(const StoreView& view);
/// Without events.
nlohmann::ordered_json object_json(const StoreView& view, const StoredKind& kind, const StoredObject& stored);
/// The latest first. Omits those of an earlier object of the same name.
nlohmann::ordered_json events_json(const std::vector<kube::Object>& events, const std::string& uid);

}  // namespace edge::edgectl::web
