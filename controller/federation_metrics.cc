#include "controller/federation_metrics.h"

#include <algorithm>
#include <string>
#include <vector>

namespace edge::controller {
namespace {

using federation::KindView;
using federation::PeerView;
using federation::RefusedView;
using federation::StatusView;
using metrics::Exposition;
using metrics::Family;

void write_status(Exposition& out, const StatusView* status) {
  const auto by_kind = [&](Family family, std::size_t KindView::* member) {
    out.begin(family);
    if (status == nullptr) return;
    for (const KindView& kind : status->by_kind) {
      out.sample(std::uint64_t{kind.*member}, metrics::labels({{"kind", kind.kind}}));
    }
  };
  by_kind(Family::kFederationObjects, &KindView::objects);
  by_kind(Family::kFederationDeletions, &KindView::tombstones);
  by_kind(Family::kFederationConflicts, &KindView::conflicts);
  const auto one = [&](Family family, const auto& value) {
    out.begin(family);
    if (status != nullptr) out.sample(std::uint64_t{value(*status)}, {});
  };
  one(Family::kFederationUnapplied, [](const StatusView& all) { return all.unapplied; });
  one(Family::kFederationState, [](const StatusView& all) { return all.state_bytes; });
  one(Family::kFederationDropped, [](const StatusView& all) { return all.dropped; });
}

/// UIDs where a peer has no name.
std::string peer_name(const PeerView& peer) { return peer.name.empty() ? peer.cluster : peer.name; }

std::uint64_t total_of(const std::vector<RefusedView>& all) {
  std::uint64_t sum = 0;
  for (const RefusedView& one : all) sum += one.count;
  return sum;
}

double used_of(const PeerView& peer) {
  const auto share = [](auto used, auto limit) {
    return limit == 0 ? 0.0 : static_cast<double>(used) / static_cast<double>(limit);
  };
  return std::max(share(peer.objects, peer.objects_limit), share(peer.bytes, peer.bytes_limit));
}

void write_peers(Exposition& out, const std::vector<PeerView>& peers) {
  const auto each = [&](Family family, const auto& value) {
    out.begin(family);
    for (const PeerView& peer : peers) out.sample(value(peer), metrics::labels({{"peer", peer_name(peer)}}));
  };
  each(Family::kFederationConnected, [](const PeerView& peer) { return std::uint64_t{peer.connected ? 1U : 0U}; });
  each(Family::kFederationLagVersions, [](const PeerView& peer) { return peer.lag_versions; });
  each(Family::kFederationLag, [](const PeerView& peer) { return static_cast<double>(peer.lag_ms) / 1000; });
  each(Family::kFederationComparisons, [](const PeerView& peer) { return peer.comparisons; });
  each(Family::kFederationDifferences, [](const PeerView& peer) { return peer.differences; });
  each(Family::kFederationSentBytes, [](const PeerView& peer) { return peer.sent_bytes; });
  each(Family::kFederationReceivedBytes, [](const PeerView& peer) { return peer.received_bytes; });
  each(Family::kFederationSentVersions, [](const PeerView& peer) { return peer.sent_versions; });
  each(Family::kFederationReceivedVersions, [](const PeerView& peer) { return peer.received_versions; });
  out.begin(Family::kFederationRefused);
  for (const PeerView& peer : peers) {
    out.sample(total_of(peer.refused), metrics::labels({{"peer", peer_name(peer)}, {"by", "here"}}));
    out.sample(total_of(peer.refused_by_peer), metrics::labels({{"peer", peer_name(peer)}, {"by", "peer"}}));
  }
  each(Family::kFederationQuota, used_of);
}

}  // namespace

void write_federation(Exposition& out, const federation::View& view) {
  const auto status = view.status ? view.status() : Result<StatusView>(Error{ErrorCode::kUnimplemented, {}});
  write_status(out, status ? &*status : nullptr);
  const auto peers = status && view.peers ? view.peers() : Result<std::vector<PeerView>>(std::vector<PeerView>());
  write_peers(out, peers ? *peers : std::vector<PeerView>());
}

}  // namespace edge::controller
