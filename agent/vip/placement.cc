#include "agent/vip/placement.h"

#include <algorithm>
#include <charconv>

#include "base/os/file.h"

namespace edge::agent::vip {
namespace {

// Of linux/capability.h.
constexpr unsigned kNetAdmin = 12;
constexpr unsigned kNetRaw = 13;
constexpr std::size_t kMaxProcFile = 64 << 10;

Placement unfit(Unfit why, std::string reason) {
  Placement placement;
  placement.unfit = why;
  placement.reason = std::move(reason);
  return placement;
}

Serves served_here(const IpAddress& address, const std::vector<ServedAddress>& served) {
  Serves best = Serves::kNone;
  for (const ServedAddress& one : served) {
    if (!one.any && one.address != address) continue;
    best = std::max(best, one.serves);
  }
  return best;
}

/// The link, or why there is none.
Placement link_for(const VirtualAddress& address, Netlink& netlink, int kept) {
  const Link* link = nullptr;
  if (!address.interface.empty()) {
    link = netlink.link(address.interface);
    if (link == nullptr) return unfit(Unfit::kNoInterface, "there is no interface " + address.interface);
  } else {
    // An address that is here leads to itself; it stays where it is.
    const auto index = kept != 0 ? Result<int>(kept) : netlink.on_link(address.address);
    if (!index) return unfit(Unfit::kNoInterface, index.error().text + "; give `interface`");
    const auto found = netlink.links().find(*index);
    if (found == netlink.links().end()) return unfit(Unfit::kNoInterface, "its interface is gone");
    link = &found->second;
  }
  if (!link->running) return unfit(Unfit::kInterfaceDown, "the interface " + link->name + " is down");
  Placement placement;
  placement.link = link->index;
  // Of a subnet that is reached already one address is added; else the subnet comes with it.
  const bool routed = kept != 0 || netlink.on_link(address.address).ok();
  placement.prefix_length = routed || kept != 0 ? 128 : address.prefix_length;
  return placement;
}

/// An address that routers lead here is on no link.
Placement loopback(const Netlink& netlink) {
  const Link* const link = netlink.link("lo");
  if (link == nullptr) return unfit(Unfit::kNoInterface, "there is no interface lo");
  if (!link->running) return unfit(Unfit::kInterfaceDown, "the interface lo is down");
  Placement placement;
  placement.link = link->index;
  return placement;
}

}  // namespace

std::string_view to_string(Unfit unfit) {
  switch (unfit) {
    case Unfit::kNo:
      return "";
    case Unfit::kNotSelected:
      return "NotSelected";
    case Unfit::kNoListener:
      return "NoListener";
    case Unfit::kNoInterface:
      return "NoInterface";
    case Unfit::kInterfaceDown:
      return "InterfaceDown";
    case Unfit::kNotPermitted:
      return "NotPermitted";
    case Unfit::kConflict:
      return "AddressConflict";
    case Unfit::kDeaf:
      return "CannotHear";
    case Unfit::kNoSpeaker:
      return "NoBird";
    case Unfit::kNoSession:
      return "NoSession";
    case Unfit::kWithdrawn:
      return "Withdrawn";
  }
  return "Unknown";
}

Rights own_rights() {
  std::uint64_t effective = ~std::uint64_t{0};
  if (const auto status = read_file("/proc/self/status", kMaxProcFile)) {
    constexpr std::string_view kLine = "\nCapEff:\t";
    const std::size_t at = status->find(kLine);
    if (at != std::string::npos) {
      std::from_chars(status->data() + at + kLine.size(), status->data() + status->size(), effective, 16);
    }
  }
  return {(effective >> kNetAdmin & 1) != 0, (effective >> kNetRaw & 1) != 0};
}

Placement place(const VirtualAddress& address, const Labels& labels, const std::vector<ServedAddress>& served,
                const Rights& rights, Netlink& netlink, int kept) {
  if (!selects(address.node_selector, labels)) {
    return unfit(Unfit::kNotSelected,
                 "neither the agent nor its Node has the labels " + labels_text(address.node_selector));
  }
  if (address.mode == Mode::kSite) {
    Placement site;
    site.serves = Serves::kFull;
    return site;
  }
  const Serves serves = served_here(address.address, served);
  if (serves == Serves::kNone) {
    return unfit(Unfit::kNoListener, "no listener of this agent is open at " + to_string(address.address));
  }
  const LocalAddress* const local = netlink.address(address.address);
  const bool own = kept == 0 && (local != nullptr ? local->lasting : net::address_present(address.address));
  const auto on = netlink.links().find(local == nullptr ? 0 : local->link);
  // Where a process before this one left it.
  const int left = on == netlink.links().end() || !on->second.ethernet ? 0 : on->first;
  Placement placement;
  if (own) {
    placement.serves = Serves::kOwn;
    return placement;
  }
  const bool bgp = address.mode == Mode::kBgp;
  if (!rights.net_admin || (!rights.net_raw && !bgp)) {
    return unfit(Unfit::kNotPermitted, std::string("the agent lacks ") +
                                           (rights.net_admin ? "CAP_NET_RAW" : "CAP_NET_ADMIN") +
                                           ", which holding an address takes");
  }
  if (bgp) {
    placement = loopback(netlink);
    if (placement.unfit == Unfit::kNo) placement.serves = serves;
    return placement;
  }
  // One that a process before left, and that ends by itself, is as good as none.
  placement = link_for(address, netlink, kept != 0 ? kept : left);
  if (placement.unfit == Unfit::kNo) placement.serves = serves;
  return placement;
}

}  // namespace edge::agent::vip
