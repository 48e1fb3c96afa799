#include "agent/vip/announcer.h"

#include <algorithm>
#include <utility>

namespace edge::agent::vip {
namespace {

constexpr std::uint8_t kWholeAddress = 128;

std::string full_name(const std::string& name_space, const std::string& name) { return name_space + "/" + name; }

bool names(const bgp::SessionState& session, const std::string& vip) {
  return std::ranges::find(session.vips, vip) != session.vips.end();
}

std::string down_text(const bgp::SessionState& session) {
  return "peer " + session.peer + ": the session is " + session.state +
         (session.last_error.empty() ? std::string() : ", " + session.last_error);
}

}  // namespace

bool still_announced(Departure& departure, const Candidate& candidate, Time now) {
  if (!candidate.fit) return false;
  if (!candidate.departs) {
    departure = {};
    return true;
  }
  if (departure.since == Time(0)) departure.since = now;
  // The last that serves it goes on to the end: its connections are drained over the address.
  if (!candidate.others) {
    departure.withdrawn = {};
    return true;
  }
  if (now - departure.since < kNotice) return true;
  if (departure.withdrawn == Time(0)) departure.withdrawn = now;
  return false;
}

bool Announcer::start() {
  auto started = bgp::Speaker::start(options_);
  const std::string fault = started ? std::string() : started.error().text;
  if (fault != fault_ && !fault.empty()) options_.log.error("announces nothing by BGP: " + fault);
  fault_ = fault;
  if (!started) return false;
  speaker_ = std::move(*started);
  return true;
}

void Announcer::begin() {
  if (bgp::Speaker::runs(options_.directory)) start();
}

bool Announcer::hold(const VirtualAddress& address, Placement& placement, Netlink& netlink) {
  const auto mine = kept_.find(address.id);
  const bool fit = placement.unfit == Unfit::kNo;
  if (mine != kept_.end() && (!fit || mine->second.address != address.address)) {
    [[maybe_unused]] const Status removed = netlink.remove(mine->second.link, mine->second.address, kWholeAddress);
    kept_.erase(mine);
  }
  fit ? void(fit_.insert(address.id)) : void(fit_.erase(address.id));
  const bool selected = placement.unfit != Unfit::kNotSelected;
  selected ? void(excluded_.erase(address.id)) : void(excluded_.insert(address.id));
  // One that the machine has in any case is used as it is.
  if (!fit || placement.link == 0) return false;
  const Status kept = netlink.keep(placement.link, address.address, kWholeAddress);
  if (kept) return kept_.insert_or_assign(address.id, Kept{placement.link, address.address}).second;
  const bool denied = kept.error().code == ErrorCode::kPermissionDenied;
  placement = {.serves = Serves::kNone,
               .unfit = denied ? Unfit::kNotPermitted : Unfit::kNoInterface,
               .reason = kept.error().text};
  fit_.erase(address.id);
  return false;
}

int Announcer::link(std::uint64_t id) const {
  const auto mine = kept_.find(id);
  return mine == kept_.end() ? 0 : mine->second.link;
}

void Announcer::sweep(const std::vector<VirtualAddress>& addresses, Netlink& netlink) {
  const auto known = [&](std::uint64_t id) {
    const auto found = std::ranges::lower_bound(addresses, id, {}, &VirtualAddress::id);
    return found != addresses.end() && found->id == id && found->mode == Mode::kBgp;
  };
  for (auto mine = kept_.begin(); mine != kept_.end();) {
    if (known(mine->first)) {
      ++mine;
      continue;
    }
    [[maybe_unused]] const Status removed = netlink.remove(mine->second.link, mine->second.address, kWholeAddress);
    mine = kept_.erase(mine);
  }
  std::erase_if(excluded_, [&](std::uint64_t id) { return !known(id); });
  std::erase_if(fit_, [&](std::uint64_t id) { return !known(id); });
  std::erase_if(departures_, [&](const auto& one) { return !known(one.first); });
}

void Announcer::step(const std::vector<VirtualAddress>& addresses, const Assignment& assignment, bool departs,
                     Time now) {
  std::vector<bgp::Announcement> next;
  waits_ = false;
  departs_ = departs;
  for (const VirtualAddress& address : addresses) {
    if (address.mode != Mode::kBgp || excluded_.contains(address.id)) continue;
    const Candidate candidate{.fit = fit_.contains(address.id) && assignment.enough(address.id),
                              .departs = departs,
                              .others = departs && assignment.healthy_nodes(address.id) > 0};
    Departure& departure = departures_[address.id];
    bgp::Announcement& one = next.emplace_back();
    one = {.vip = full_name(address.name_space, address.name), .address = address.address, .settings = address.bgp};
    one.announced = still_announced(departure, candidate, now);
    one.graceful_shutdown = one.announced && departs;
    const bool over = !one.announced && now - departure.withdrawn >= kWithdrawal;
    // Nodes that this one does not hear may serve it, too: routers are given the time to choose them.
    const bool told = now - departure.since >= kNotice;
    waits_ = waits_ || (candidate.fit && departs && !(candidate.others ? over : told));
  }
  std::ranges::sort(next, {}, &bgp::Announcement::vip);
  announcements_ = std::move(next);
  if (announcements_.empty() && speaker_ == nullptr) return;
  if (speaker_ == nullptr && !start()) return;
  speaker_->announce(announcements_);
}

void Announcer::stop(Netlink& netlink) {
  speaker_.reset();
  sweep({}, netlink);
}

void Announcer::hand_over() {
  if (speaker_ != nullptr) speaker_->hand_over();
}

void Announcer::fill(AddressState& state) const {
  const std::string vip = full_name(state.name_space, state.name);
  const auto found = std::ranges::find(announcements_, vip, &bgp::Announcement::vip);
  if (found == announcements_.end() || state.unfit != Unfit::kNo) return;
  const bgp::SpeakerState now =
      speaker_ == nullptr ? bgp::SpeakerState{.fault = fault_, .sessions = {}, .faults = {}} : speaker_->state();
  state.graceful_shutdown = found->graceful_shutdown;
  for (const bgp::SessionState& session : now.sessions) {
    if (!names(session, vip)) continue;
    state.sessions.push_back(session);
    state.held = state.held || (found->announced && session.established());
    if (!session.established() && state.reason.empty()) state.reason = down_text(session);
  }
  if (const auto fault = now.faults.find(vip); fault != now.faults.end()) state.reason = fault->second;
  if (!now.fault.empty()) state.reason = now.fault;
  if (!found->announced) {
    state.unfit = Unfit::kWithdrawn;
    state.reason = "this agent is drained, or too few agents serve the address";
    return;
  }
  if (state.held) return;
  state.unfit = now.running ? Unfit::kNoSession : Unfit::kNoSpeaker;
  if (state.reason.empty()) state.reason = now.running ? "no peer can be spoken to" : "BIRD is being started";
}

void Announcer::write_metrics(const std::vector<AddressState>& states, metrics::Exposition& out) {
  // A session is one of the node, whichever addresses are announced on it.
  std::map<std::string, const bgp::SessionState*> sessions;
  for (const AddressState& state : states) {
    for (const bgp::SessionState& session : state.sessions) sessions.try_emplace(session.peer, &session);
  }
  out.begin(metrics::Family::kBgpSessionUp);
  for (const auto& [peer, session] : sessions) {
    out.sample(std::uint64_t{session->established()}, metrics::labels({{"peer", peer}}));
  }
  out.begin(metrics::Family::kBgpAnnounced);
  for (const auto& [peer, session] : sessions) out.sample(session->announced, metrics::labels({{"peer", peer}}));
  out.begin(metrics::Family::kBfdUp);
  for (const auto& [peer, session] : sessions) {
    if (!session->bfd.empty()) out.sample(std::uint64_t{session->bfd == "Up"}, metrics::labels({{"peer", peer}}));
  }
}

}  // namespace edge::agent::vip
