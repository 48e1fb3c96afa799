#include "agent/vip/moved_connections.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "agent/vip/flows.h"

namespace edge::agent::vip {
namespace {

/// Packets that were on their way when the address moved may open connections yet.
constexpr Time kLeast = std::chrono::seconds(1);
/// Whether there are connections left: the kernel goes over all that it has.
constexpr Time kBetweenQuestions = std::chrono::seconds(1);
constexpr std::uint8_t kHostPrefix = 128;
constexpr const char* kLoopback = "lo";

/// An IPv4 address that the link has by itself; without one none, which asks as a probe does (RFC 5227).
IpAddress own_address(const Link& link, const Netlink& netlink) {
  for (const LocalAddress& local : netlink.addresses()) {
    if (local.link == link.index && local.lasting && local.address.is_v4()) return local.address;
  }
  return *parse_ip("0.0.0.0");
}

}  // namespace

Nftables* MovedConnections::nftables() {
  if (nftables_) return &*nftables_;
  auto opened = Nftables::open();
  if (!opened) {
    tell_missing(opened.error().text);
    return nullptr;
  }
  return &nftables_.emplace(std::move(*opened));
}

void MovedConnections::tell_missing(const std::string& why) {
  if (std::exchange(told_, true)) return;
  log_.warn("connections to a virtual address break when it moves: " + why);
}

bool MovedConnections::keep(std::uint64_t id, const IpAddress& address, const Link& link, Netlink& netlink, Time now) {
  const Link* const loopback = netlink.link(kLoopback);
  Nftables* const rules = nftables();
  if (loopback == nullptr || rules == nullptr || !link.ethernet) return false;
  end_keeping(id, netlink);
  // First: nobody may answer for it from here once it is no address of the link.
  if (address.is_v4()) {
    if (Status status = rules->hush(id, address, own_address(link, netlink)); !status) {
      tell_missing(status.error().text);
      return false;
    }
  }
  if (Status status = netlink.keep(loopback->index, address, kHostPrefix); !status) {
    tell_missing(status.error().text);
    rules->end_hush(id);
    return false;
  }
  kept_[id] = {.address = address, .link = link.index, .since = now};
  return true;
}

void MovedConnections::end_keeping(std::uint64_t id, Netlink& netlink) {
  const auto found = kept_.find(id);
  if (found == kept_.end()) return;
  if (const Link* const loopback = netlink.link(kLoopback)) {
    // It ends by itself where it cannot be removed.
    [[maybe_unused]] const Status status = netlink.remove(loopback->index, found->second.address, kHostPrefix);
  }
  if (nftables_ && found->second.address.is_v4()) nftables_->end_hush(id);
  kept_.erase(found);
}

bool MovedConnections::expects_connections(Time now) const {
  return std::ranges::any_of(kept_, [now](const auto& entry) { return now - entry.second.since < kLeast; });
}

int MovedConnections::link(std::uint64_t id) const {
  const auto found = kept_.find(id);
  return found == kept_.end() ? 0 : found->second.link;
}

void MovedConnections::send_on(std::uint64_t id, const IpAddress& address, const Link& link, const std::string& node,
                               const std::array<std::uint8_t, 6>& mac) {
  Nftables* const rules = nftables();
  if (rules == nullptr || !link.ethernet || mac == std::array<std::uint8_t, 6>{}) return;
  // Those that this node kept of an earlier time.
  const auto own = kept_.contains(id) ? flows_to(address, kMaxFlows) : Result<std::vector<Flow>>(std::vector<Flow>());
  if (!own) return tell_missing(own.error().text);
  end_sending_on(id);
  if (Status status = rules->send_on(id, address, link, mac, *own); !status) return tell_missing(status.error().text);
  sent_on_[id] = {.node = node};
}

void MovedConnections::end_sending_on(std::uint64_t id) {
  if (sent_on_.erase(id) != 0 && nftables_) nftables_->end_send_on(id);
}

void MovedConnections::look_at_nodes(const Assignment& assignment) {
  std::vector<std::uint64_t> over;
  for (const auto& [id, sent] : sent_on_) {
    const AddressWord* const word = assignment.word_of_node(sent.node, id);
    // Its word of before says yet that it holds it. Where it does so again, packets would go round.
    const bool holds = word != nullptr && word->epoch != 0;
    const bool again = holds && !assignment.held().contains(id);
    if (word == nullptr || again || !(holds || word->keeps)) over.push_back(id);
  }
  for (const std::uint64_t id : over) end_sending_on(id);
}

void MovedConnections::refresh(Netlink& netlink, Time now) {
  const Link* const loopback = netlink.link(kLoopback);
  const bool asks = !kept_.empty() && now - asked_ >= kBetweenQuestions;
  if (asks) asked_ = now;
  const auto with_flows =
      asks ? addresses_with_flows() : Result<std::set<IpAddress>>(Error{ErrorCode::kUnavailable, {}});
  std::vector<std::uint64_t> over;
  for (const auto& [id, kept] : kept_) {
    const Time age = now - kept.since;
    // Those of a node before this one come by here.
    const bool ended = age > kLeast && with_flows && !with_flows->contains(kept.address) && !sent_on_.contains(id);
    if (age > longest_ || ended || loopback == nullptr || !netlink.keep(loopback->index, kept.address, kHostPrefix)) {
      over.push_back(id);
    }
  }
  for (const std::uint64_t id : over) end_keeping(id, netlink);
  for (auto& [id, sent] : sent_on_) {
    if (sent.full || !nftables_ || !nftables_->is_full(id)) continue;
    sent.full = true;
    log_.warn("too many new connections to a virtual address: those of its previous node, " + sent.node +
              ", are no longer preserved");
  }
}

}  // namespace edge::agent::vip
