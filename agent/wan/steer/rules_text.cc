#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>

#include "agent/wan/steer/steering.h"

namespace edge::agent::wan {
namespace {

/// Shares are of so many parts: enough for ratios of bandwidths, few enough for a short map.
constexpr std::uint64_t kParts = 1000;
/// Before what other tables do with packets to be forwarded or sent.
constexpr std::string_view kPriority = "mangle + 5";
/// tc's class of a packet (skb->priority), as agent/wan/steer/shape makes them.
constexpr std::array<std::string_view, 3> kClasses = {"ed0e:10", "ed0e:20", "ed0e:30"};

std::string hex(std::uint32_t value) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[value >> shift & 15];
  return text;
}

/// `{ a, b }`.
template <typename List, typename Text>
std::string set_of(const List& list, Text text) {
  std::string all = "{ ";
  for (const auto& one : list) all += (all.size() > 2 ? ", " : "") + std::string(text(one));
  return all + " }";
}

/// Without the networks that a longer one contains already: a set takes none twice.
std::vector<Cidr> apart(const std::vector<Cidr>& cidrs, bool v4) {
  std::vector<Cidr> kept;
  for (const Cidr& one : cidrs) {
    const auto covers = [&](const Cidr& other) {
      const bool same = other == one;
      return same ? &other < &one : other.prefix_length <= one.prefix_length && other.contains(one.address);
    };
    if (one.address.is_v4() == v4 && std::ranges::none_of(cidrs, covers)) kept.push_back(one);
  }
  return kept;
}

std::string cidr_text(const Cidr& cidr) {
  const bool v4 = cidr.address.is_v4();
  return to_string(cidr.address) + "/" + std::to_string(v4 ? cidr.prefix_length - 96 : cidr.prefix_length);
}

std::string slot_chain(std::uint32_t slot) { return "slot_" + std::to_string(slot); }

std::string weighted(const SteerChoice& choice) {
  std::uint64_t total = 0;
  for (const SteerShare& share : choice.shares) total += std::max<std::uint32_t>(share.weight, 1);
  std::string map;
  std::uint64_t sum = 0;
  std::uint64_t from = 0;
  for (const SteerShare& share : choice.shares) {
    sum += std::max<std::uint32_t>(share.weight, 1);
    const std::uint64_t to = sum * kParts / total;
    if (to <= from) continue;
    map += (map.empty() ? "" : ", ") + std::to_string(from) + "-" + std::to_string(to - 1) + " : goto " +
           slot_chain(share.slot);
    from = to;
  }
  return "numgen random mod " + std::to_string(kParts) + " vmap { " + map + " }";
}

class Text {
 public:
  explicit Text(const Steering& steering) : steering_(steering), ranges_(site_ranges(steering)) {}

  std::string write() {
    for (const SteerDevice& device : steering_.devices) slots_.insert(device.slot);
    for (const SteerSite& site : steering_.sites) slots_.insert(site.alive.begin(), site.alive.end());
    for (const SteerPolicy& policy : steering_.policies) {
      for (const SteerChoice& choice : policy.choices) {
        for (const SteerShare& share : choice.shares) slots_.insert(share.slot);
      }
    }
    slots_.erase(0);
    write_ends();
    write_stay();
    for (std::size_t i = 0; i < steering_.policies.size(); ++i) write_policy(i);
    write_classify();
    write_hooks();
    return no_rules_text() + "table inet " + kSteerTable + " {\n" + out_ + "}\n";
  }

 private:
  void line(const std::string& text) { out_ += "    " + text + "\n"; }
  void chain(const std::string& name, const std::function<void()>& inside) {
    out_ += "  chain " + name + " {\n";
    inside();
    out_ += "  }\n";
  }

  /// Where a packet's way ends: its mark says the tunnel, that of its connection too.
  void write_ends() {
    for (const std::uint32_t slot : slots_) {
      chain("mark_" + std::to_string(slot), [&] { line(set_mark(slot)); });
      chain(slot_chain(slot), [&] {
        line("ct direction original ct mark set ct mark & " + hex(~kSlotMask) + " | " + hex(slot_mark(slot)));
        line("ct direction reply ct mark set ct mark & " + hex(~kLinkMask) + " | " + hex(link_mark(slot)));
        line(set_mark(slot));
      });
    }
    chain("drop_it", [&] { line(set_mark(kDropSlot)); });
  }
  static std::string set_mark(std::uint32_t slot) {
    return "meta mark set meta mark & " + hex(~(kSlotMask | kLinkMask)) + " | " + hex(slot_mark(slot));
  }

  /// Flows that have a tunnel keep it while it lives.
  void write_stay() {
    for (std::size_t i = 0; i < steering_.sites.size(); ++i) {
      chain("stay_" + std::to_string(i), [&] {
        std::string original;
        std::string reply;
        for (const std::uint32_t slot : steering_.sites[i].alive) {
          if (slot == 0) continue;
          const std::string end = " : goto mark_" + std::to_string(slot);
          original += (original.empty() ? "" : ", ") + hex(slot_mark(slot)) + end;
          reply += (reply.empty() ? "" : ", ") + hex(link_mark(slot)) + end;
        }
        if (original.empty()) return;
        // A connection that nobody has answered yet is no flow: when its first packet is sent again, it takes what is
        // chosen by then.
        line("meta l4proto tcp ct direction original ct status & seen-reply == 0 return");
        line("ct direction original ct mark & " + hex(kSlotMask) + " vmap { " + original + " }");
        line("ct direction reply ct mark & " + hex(kLinkMask) + " vmap { " + reply + " }");
      });
    }
    chain("stay", [&] { by_site([](std::size_t site) { return "goto stay_" + std::to_string(site); }); });
  }

  /// A verdict for each range of addresses; `verdict` returns an empty text where there is none.
  void by_site(const std::function<std::string(std::size_t)>& verdict) {
    std::string v4;
    std::string v6;
    for (const SiteRange& range : ranges_) {
      const std::string what = verdict(range.site);
      if (what.empty()) continue;
      std::string& map = range.first.is_v4() ? v4 : v6;
      map += map.empty() ? "" : ", ";
      map += to_string(range.first);
      if (range.first != range.last) map += "-" + to_string(range.last);
      map += " : " + what;
    }
    if (!v4.empty()) line("ip daddr vmap { " + v4 + " }");
    if (!v6.empty()) line("ip6 daddr vmap { " + v6 + " }");
  }

  void write_policy(std::size_t number) {
    const SteerPolicy& policy = steering_.policies[number];
    const std::string name = "policy_" + std::to_string(number);
    const auto choice = [&](std::size_t site) {
      return site < policy.choices.size() ? policy.choices[site] : SteerChoice();
    };
    for (std::size_t site = 0; site < steering_.sites.size(); ++site) {
      if (choice(site).shares.size() < 2) continue;
      chain(name + "_" + std::to_string(site), [&] { line(weighted(choice(site))); });
    }
    chain(name, [&] {
      if (policy.traffic_class) {
        line("meta priority set " + std::string(kClasses.at(static_cast<std::size_t>(*policy.traffic_class))));
      } else {
        line("ip dscp { 46, 44 } meta priority set " + std::string(kClasses[0]));
        line("ip6 dscp { 46, 44 } meta priority set " + std::string(kClasses[0]));
        line("ip dscp { 8, 1 } meta priority set " + std::string(kClasses[2]));
        line("ip6 dscp { 8, 1 } meta priority set " + std::string(kClasses[2]));
      }
      if (policy.dscp) {
        line("ip dscp set " + std::to_string(*policy.dscp));
        line("ip6 dscp set " + std::to_string(*policy.dscp));
      }
      by_site([&](std::size_t site) { return choice(site).dropped ? std::string("goto drop_it") : std::string(); });
      line("jump stay");
      line("meta mark & " + hex(kSlotMask) + " != 0 return");
      by_site([&](std::size_t site) -> std::string {
        const SteerChoice one = choice(site);
        if (one.dropped || one.shares.empty()) return {};
        if (one.shares.size() == 1) return "goto " + slot_chain(one.shares.front().slot);
        return "goto " + name + "_" + std::to_string(site);
      });
    });
  }

  static std::string protocols_text(const SteerRule& rule) {
    std::set<std::string> protocols;
    for (const SteerProtocol protocol : rule.protocols) {
      if (protocol == SteerProtocol::kTcp) protocols.insert("tcp");
      if (protocol == SteerProtocol::kUdp) protocols.insert("udp");
      if (protocol != SteerProtocol::kIcmp || !rule.ports.empty()) continue;
      protocols.insert({"icmp", "ipv6-icmp"});
    }
    if (!rule.ports.empty() && rule.protocols.empty()) protocols = {"tcp", "udp"};
    // Ports of protocols that have none: no packet.
    if (!rule.ports.empty() && protocols.empty()) return {};
    std::string text;
    if (!protocols.empty()) text += "meta l4proto " + set_of(protocols, std::identity()) + " ";
    const std::set<std::uint16_t> ports(rule.ports.begin(), rule.ports.end());
    if (!ports.empty())
      text += "th dport " + set_of(ports, [](std::uint16_t port) { return std::to_string(port); }) + " ";
    return text;
  }

  void write_rule(const SteerRule& rule) {
    const std::string protocols = protocols_text(rule);
    if (protocols.empty() && !rule.ports.empty()) return;
    std::string gateways;
    if (!rule.gateways.empty()) {
      const std::set<std::uint32_t> marks(rule.gateways.begin(), rule.gateways.end());
      const auto mark = [](std::uint32_t gateway) { return hex(link_mark(kFirstGateway + gateway)); };
      gateways = "meta mark & " + hex(kLinkMask) + " " + set_of(marks, mark) + " ";
    }
    const std::string verdict = "goto policy_" + std::to_string(rule.policy);
    if (rule.sources.empty() && rule.destinations.empty() && rule.dscp.empty()) {
      line(gateways + protocols + verdict);
      return;
    }
    const std::set<std::uint8_t> dscp(rule.dscp.begin(), rule.dscp.end());
    for (const bool v4 : {true, false}) {
      const std::string family = v4 ? "ip " : "ip6 ";
      const std::vector<Cidr> sources = apart(rule.sources, v4);
      const std::vector<Cidr> destinations = apart(rule.destinations, v4);
      if ((sources.empty() && !rule.sources.empty()) || (destinations.empty() && !rule.destinations.empty())) continue;
      std::string text = gateways;
      if (!sources.empty()) text += family + "saddr " + set_of(sources, cidr_text) + " ";
      if (!destinations.empty()) text += family + "daddr " + set_of(destinations, cidr_text) + " ";
      if (!dscp.empty()) {
        text += family + "dscp " + set_of(dscp, [](std::uint8_t point) { return std::to_string(point); }) + " ";
      }
      line(text + protocols + verdict);
    }
  }

  void write_classify() {
    chain("classify", [&] {
      for (const SteerRule& rule : steering_.rules) write_rule(rule);
      if (!steering_.policies.empty()) line("goto policy_" + std::to_string(steering_.policies.size() - 1));
    });
    chain("steer", [&] { by_site([](std::size_t) { return std::string("goto classify"); }); });
  }

  std::string devices_text() const {
    return set_of(steering_.devices, [](const SteerDevice& device) { return "\"" + device.name + "\""; });
  }

  void write_hooks() {
    const bool devices = !steering_.devices.empty();
    chain("arrived", [&] {
      // Packets that begin a flow say which tunnel its answers take.
      for (const std::uint32_t slot : slots_) {
        std::vector<SteerDevice> of;
        std::ranges::copy_if(steering_.devices, std::back_inserter(of),
                             [&](const SteerDevice& device) { return device.slot == slot; });
        if (of.empty()) continue;
        line("iifname " + set_of(of, [](const SteerDevice& one) { return "\"" + one.name + "\""; }) +
             " ct direction original ct mark set ct mark & " + hex(~kLinkMask) + " | " + hex(link_mark(slot)));
      }
    });
    chain("prerouting", [&] {
      line("type filter hook prerouting priority " + std::string(kPriority) + "; policy accept;");
      if (devices) line("iifname " + devices_text() + " jump arrived");
      line("goto steer");
    });
    chain("output", [&] {
      line("type route hook output priority " + std::string(kPriority) + "; policy accept;");
      // The agent's own: packets that carry tunnels, and probes of one, which answers take, too.
      line("meta mark & " + hex(kSlotMask) + " != 0 return");
      line("meta mark & " + hex(kLinkMask) + " " + hex(link_mark(1)) + "-" + hex(link_mark(kFirstGateway - 1)) +
           " return");
      for (const bool v4 : {true, false}) {
        std::vector<IpAddress> ends;
        std::ranges::copy_if(steering_.overlays, std::back_inserter(ends),
                             [&](const IpAddress& end) { return end.is_v4() == v4; });
        if (ends.empty()) continue;
        const std::string to = set_of(ends, [](const IpAddress& end) { return to_string(end); });
        const std::string daddr = std::string(v4 ? "ip" : "ip6") + " daddr " + to;
        line(daddr + " meta l4proto udp return");
        line(daddr + " meta l4proto { icmp, ipv6-icmp } goto stay");
      }
      line("jump steer");
      // A gateway that no policy of these networks names.
      line("meta mark & " + hex(kLinkMask) + " >= " + hex(link_mark(kFirstGateway)) + " meta mark set meta mark & " +
           hex(~kLinkMask));
    });
    if (devices) {
      chain("forward", [&] {
        line("type filter hook forward priority " + std::string(kPriority) + "; policy accept;");
        line("oifname " + devices_text() + " tcp flags & (syn | rst) == syn tcp option maxseg size set rt mtu");
        line("iifname " + devices_text() + " tcp flags & (syn | rst) == syn tcp option maxseg size set rt mtu");
      });
    }
    // What was given a tunnel leaves by one, also where another program has changed the rules of routing.
    chain("postrouting", [&] {
      line("type filter hook postrouting priority " + std::string(kPriority) + "; policy accept;");
      line("meta mark & " + hex(kSlotMask) + " == 0 return");
      if (devices) line("oifname " + devices_text() + " return");
      line("drop");
    });
  }

  const Steering& steering_;
  const std::vector<SiteRange> ranges_;
  std::set<std::uint32_t> slots_;
  std::string out_;
};

}  // namespace

std::string no_rules_text() {
  const std::string table = std::string("table inet ") + kSteerTable;
  // Deleting what is not there is an error.
  return table + "\ndelete " + table + "\n";
}

std::string rules_text(const Steering& steering) { return Text(steering).write(); }

}  // namespace edge::agent::wan
