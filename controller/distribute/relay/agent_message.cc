#include "controller/distribute/relay/agent_message.h"

#include <iterator>

#include "base/labels.h"
#include "base/resource_id.h"
#include "controller/distribute/protocol.h"
#include "schemas/relay.pb.h"

namespace edge::controller {
namespace {

constexpr std::size_t kMostText = 253;
constexpr std::size_t kMostReason = 1024;

}  // namespace

AgentRegistry::Relayed read_agent_change(const edge::relay::v1::AgentChange& from, const std::string& cluster) {
  agent::v1::Agent without = from.state();
  without.clear_backends();
  // A relay passes none on: addresses of a site are no matter of the hub's.
  without.clear_vips();
  AgentRegistry::Relayed change{.state = read_agent(without), .backends = {}, .removed = {}};
  AgentState& state = change.state;
  state.name = with_cluster(cluster, state.name);
  for (std::string* const text :
       {&state.node, &state.version, &state.cpu, &state.program, &state.published, &state.refused.program}) {
    *text = printable(*text, kMostText);
  }
  state.refused.reason = printable(state.refused.reason, kMostReason);
  std::erase_if(state.labels,
                [](const auto& label) { return !is_label_key(label.first) || !is_label_value(label.second); });
  while (state.labels.size() > kMaxLabels) state.labels.erase(std::prev(state.labels.end()));
  state.values = from.values();
  for (const auto& backend : from.backends()) change.backends.push_back(read_backend(backend));
  for (const auto& name : from.removed_backends()) {
    change.removed.emplace_back(printable(name.namespace_(), kMostText), printable(name.name(), kMostText));
  }
  return change;
}

}  // namespace edge::controller
