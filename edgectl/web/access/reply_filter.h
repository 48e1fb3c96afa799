// Takes out of replies that are not made from the live copy (explanations, traffic, agents, history) what a viewer may
// not list. For a viewer who may list everything they stay as they are.
#pragma once

#include <string>

#include "edgectl/web/access/store_view.h"

namespace edge::edgectl::web {

/// Each takes and returns one line of JSON. What cannot be told to be visible is left out.
std::string visible_explanation(std::string json, const StoreView& view);
std::string visible_traffic(std::string json, const StoreView& view);
/// One agent, or the list of them.
std::string visible_agents(std::string json, const StoreView& view);
std::string visible_history(std::string json, const StoreView& view);
std::string visible_endpoints(std::string json, const StoreView& view);
/// Traces do not say whose they are until they are read whole: those who may not list everything see none in lists, and
/// a trace alone whose routes they may list.
std::string visible_traces(std::string json, const StoreView& view);
std::string visible_trace(std::string json, const StoreView& view);
/// Checked, Difference, Proven or Analysis without notes. The diagnostics of the draft, or of the object, stay at their
/// places; those that name what may not be listed lose their words. Requests that are
/// treated otherwise are shown where both rules may be listed, and counted otherwise; of claims the result alone.
std::string visible_difference(std::string json, const StoreView& view);

}  // namespace edge::edgectl::web
