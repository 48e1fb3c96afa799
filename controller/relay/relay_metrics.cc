#include "controller/relay/relay_metrics.h"

namespace edge::controller::relay {

using metrics::Family;

void write_figures(metrics::Exposition& out, const RelayFigures& figures) {
  out.one(Family::kRelayInSession, std::uint64_t{figures.in_session ? 1U : 0U});
  out.one(Family::kRelaySessions, figures.sessions);
  out.one(Family::kRelayGroups, std::uint64_t{figures.groups});
  out.one(Family::kRelayWithout, std::uint64_t{figures.groups - figures.programs});
  out.one(Family::kRelayIncomplete, std::uint64_t{figures.incomplete});
  out.one(Family::kRelayPrograms, figures.programs_taken);
  out.one(Family::kRelayReceived, figures.received_bytes);
  out.one(Family::kRelaySections, std::uint64_t{figures.store.sections});
  out.one(Family::kRelayStored, figures.store.bytes);
  out.one(Family::kRelayEvicted, figures.store.evicted);
  out.one(Family::kRelayCorrupt, figures.store.corrupt);
}

}  // namespace edge::controller::relay
