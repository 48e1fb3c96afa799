#include <algorithm>
#include <array>
#include <tuple>

#include "agent/vip/holder_impl.h"

namespace edge::agent::vip {
namespace {

constexpr std::array<std::string_view, kCauseCount> kCauses = {"Vacant", "NodeLost",    "Offered", "Taken",
                                                               "Unfit",  "TooFewNodes", "Removed", "Stopped"};

}  // namespace

std::vector<AddressState> Holder::states() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<AddressState> states;
  for (const VirtualAddress& address : impl_->addresses.addresses) {
    if (address.mode == Mode::kSite) continue;
    AddressState& state = states.emplace_back();
    state.name_space = address.name_space;
    state.name = address.name;
    state.address = to_string(address.address);
    const auto held = impl_->assignment.held().find(address.id);
    state.held = held != impl_->assignment.held().end();
    state.epoch = state.held ? held->second.epoch : impl_->assignment.epoch(address.id);
    state.holder = impl_->assignment.holder(address.id);
    state.successor = impl_->assignment.successor(address.id);
    const auto fact = impl_->facts.find(address.id);
    if (fact == impl_->facts.end()) continue;
    const Impl::Facts& known = fact->second;
    state.unfit = known.placement.unfit;
    state.reason = known.placement.reason.empty() ? known.conflict : known.placement.reason;
    state.cause = known.cause;
    state.from = known.from;
    state.conflicts = known.conflicts;
    const auto mine = impl_->kept.find(address.id);
    if (mine == impl_->kept.end()) continue;
    const auto link = impl_->netlink.links().find(mine->second.link);
    if (link != impl_->netlink.links().end()) state.interface = link->second.name;
  }
  for (AddressState& state : states) impl_->announcer.fill(state);
  std::ranges::sort(states, {}, [](const AddressState& state) { return std::tie(state.name_space, state.name); });
  return states;
}

bool Holder::holds_site(const std::string& site) const {
  const std::lock_guard lock(impl_->mutex);
  const auto& all = impl_->addresses.addresses;
  const auto found = std::ranges::find_if(all, [&](const VirtualAddress& one) {
    return one.mode == Mode::kSite && one.name_space + "/" + one.name == site;
  });
  return found != all.end() && impl_->assignment.held().contains(found->id);
}

std::vector<std::string> Holder::live_nodes() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->assignment.live_nodes();
}

void Holder::write_metrics(metrics::Exposition& out) const {
  const std::vector<AddressState> all = states();
  out.begin(metrics::Family::kVipHeld);
  for (const AddressState& state : all) {
    out.sample(std::uint64_t{state.held},
               metrics::labels({{"vip", state.name_space + "/" + state.name}, {"address", state.address}}));
  }
  Announcer::write_metrics(all, out);
  out.begin(metrics::Family::kVipConflicts);
  for (const AddressState& state : all) {
    out.sample(state.conflicts, metrics::labels({{"vip", state.name_space + "/" + state.name}}));
  }
  const std::lock_guard lock(impl_->mutex);
  out.begin(metrics::Family::kVipMoves);
  for (std::size_t i = 0; i < kCauseCount; ++i) {
    out.sample(impl_->moves[i], metrics::labels({{"cause", kCauses[i]}}));
  }
  out.one(metrics::Family::kVipPeers, std::uint64_t{impl_->assignment.live_nodes().size()});
  out.one(metrics::Family::kVipKept, std::uint64_t{impl_->connections.kept()});
  out.one(metrics::Family::kVipForwarding, std::uint64_t{impl_->connections.sent_on()});
}

}  // namespace edge::agent::vip
