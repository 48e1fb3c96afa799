#include "agent/bgp/configuration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

namespace edge::agent::bgp {
namespace {

constexpr std::size_t kMaxPassword = 80;  // TCP_MD5SIG_MAXKEYLEN
constexpr std::string_view kGracefulShutdown = "(65535,0)";
constexpr std::pair<std::string_view, std::string_view> kWellKnown[] = {{"graceful-shutdown", kGracefulShutdown},
                                                                        {"no-export", "(65535,65281)"},
                                                                        {"no-advertise", "(65535,65282)"},
                                                                        {"no-peer", "(65535,65284)"}};

std::string hex(const IpAddress& address) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kMapped = 12;
  std::string text;
  for (std::size_t i = address.is_v4() ? kMapped : 0; i < address.bytes.size(); ++i) {
    text += kDigits[address.bytes[i] >> 4];
    text += kDigits[address.bytes[i] & 15];
  }
  return text;
}

std::string session_name(const Peer& peer) { return "peer_" + hex(peer.address) + "_" + std::to_string(peer.port); }

std::string dotted(std::uint32_t id) {
  return std::to_string(id >> 24) + "." + std::to_string(id >> 16 & 255) + "." + std::to_string(id >> 8 & 255) + "." +
         std::to_string(id & 255);
}

std::string prefix_of(const IpAddress& address) { return to_string(address) + (address.is_v4() ? "/32" : "/128"); }

bool is_link_local(const IpAddress& address) { return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80; }

/// Why there can be no session; empty: there can.
std::string unfit(const Peer& peer, const Settings& settings) {
  if (!peer.fault.empty()) return peer.fault;
  if (!peer.password.empty() && !is_password(peer.password)) {
    return "its password is not at most 80 printable characters of ASCII without quotes";
  }
  if (peer.address == IpAddress() || to_string(peer.address) == "0.0.0.0") return "it has no address";
  if (is_link_local(peer.address)) return "a link-local address names no link";
  if (peer.source && peer.source->is_v4() != peer.address.is_v4()) return "its sourceAddress is of the other family";
  if (settings.local_as == 0 || peer.as_number == 0 || peer.port == 0)
    return "it has no number of an autonomous system";
  return {};
}

/// A number that BIRD takes in that place, whatever was said.
std::string bounded(std::uint32_t value, std::uint32_t least, std::uint32_t most) {
  return std::to_string(std::clamp(value, least, most));
}

/// Everything that makes the session, and that an address cannot say otherwise.
std::string session_text(const Session& session, const Settings& settings, std::uint32_t router_id) {
  constexpr std::uint32_t kMost = 65535;
  const Peer& peer = session.peer;
  const std::uint32_t hold = std::clamp(settings.hold_seconds, 3U, kMost);
  const std::uint32_t keepalive = settings.keepalive_seconds == 0 ? std::max(hold / 3, 1U) : settings.keepalive_seconds;
  std::string text = "protocol bgp " + session.name + " {\n";
  const auto line = [&](const std::string& words) { text += "  " + words + ";\n"; };
  line("router id " + dotted(settings.router_id == 0 ? router_id : settings.router_id));
  line("local " + (peer.source ? to_string(*peer.source) + " " : std::string()) + "as " +
       std::to_string(settings.local_as));
  line("neighbor " + to_string(peer.address) + " port " + std::to_string(peer.port) + " as " +
       std::to_string(peer.as_number));
  line(peer.multihop == 0 ? std::string("direct") : "multihop " + std::to_string(peer.multihop));
  if (!peer.password.empty()) line("password \"" + peer.password + "\"");
  line("hold time " + std::to_string(hold));
  line("keepalive time " + bounded(keepalive, 1, kMost));
  line("connect retry time " + bounded(settings.connect_retry_seconds, 1, kMost));
  line("connect delay time 1");
  line("error wait time 1, 30");
  if (settings.bfd) {
    const std::string interval = bounded(settings.bfd_interval_ms, 10, 60'000);
    line("bfd { min rx interval " + interval + " ms; min tx interval " + interval + " ms; idle tx interval 1000 ms; " +
         "multiplier " + bounded(settings.bfd_multiplier, 1, 255) + "; }");
  }
  if (settings.graceful_restart) {
    line("graceful restart on");
    line("graceful restart time " + bounded(settings.graceful_restart_seconds, 1, 4095));
  }
  return text;
}

std::string channel_text(const Session& session, bool v4) {
  const std::string family = v4 ? "ipv4" : "ipv6";
  return "  " + family + " { import none; next hop self; export filter to_" + session.name + "_" + family + "; };\n";
}

std::string route_text(const Announcement& one, std::string& fault) {
  std::string text = "  route " + prefix_of(one.address) + " blackhole {";
  for (std::size_t i = 0; i < one.settings.communities.size() && i < kMaxCommunities; ++i) {
    const std::string community = community_in_bird(one.settings.communities[i]);
    if (community.empty()) {
      fault = "communities[" + std::to_string(i) + "] is none";
      continue;
    }
    const bool large = std::ranges::count(community, ',') == 2;
    text += std::string(" bgp_") + (large ? "large_" : "") + "community.add(" + community + ");";
  }
  // RFC 8326 §4.1: within the own autonomous system the preference says it.
  if (one.graceful_shutdown) {
    text += " bgp_community.add(" + std::string(kGracefulShutdown) + "); bgp_local_pref = 0;";
  } else if (one.settings.local_preference) {
    text += " bgp_local_pref = " + std::to_string(*one.settings.local_preference) + ";";
  }
  return text + " };\n";
}

std::string static_text(bool v4, const std::vector<Announcement>& announcements, Configuration& into) {
  const std::string family = v4 ? "ipv4" : "ipv6";
  std::string text = "protocol static vips_" + family + " {\n  " + family + ";\n";
  std::vector<IpAddress> known;
  for (const Announcement& one : announcements) {
    if (!one.announced || one.address.is_v4() != v4) continue;
    if (std::ranges::find(known, one.address) != known.end()) continue;
    known.push_back(one.address);
    std::string fault;
    text += route_text(one, fault);
    if (!fault.empty()) into.faults[one.vip] = fault;
  }
  return text + "}\n";
}

/// Which routes go to a peer: those of the addresses that name it.
std::string filter_text(const Session& session, bool v4, const std::vector<Announcement>& announcements) {
  std::string prefixes;
  std::string metrics;
  for (const Announcement& one : announcements) {
    if (!one.announced || one.address.is_v4() != v4) continue;
    if (!std::ranges::binary_search(session.vips, one.vip)) continue;
    prefixes += (prefixes.empty() ? "" : ", ") + prefix_of(one.address);
    // A MULTI_EXIT_DISC goes to another autonomous system only if it is set on the way out.
    if (one.settings.med) {
      metrics += "if net = " + prefix_of(one.address) + " then bgp_med = " + std::to_string(*one.settings.med) + "; ";
    }
  }
  const std::string name = "filter to_" + session.name + "_" + (v4 ? "ipv4" : "ipv6");
  if (prefixes.empty()) return name + " { reject; }\n";
  return name + " { " + metrics + "if net ~ [ " + prefixes + " ] then accept; reject; }\n";
}

struct Built {
  Session session;
  std::string text;  ///< what makes it, but for its channels
  bool v4 = false;
  bool v6 = false;
};

void add_peers(const Announcement& one, std::uint32_t router_id, std::vector<Built>& sessions, Configuration& into) {
  for (std::size_t i = 0; i < one.settings.peers.size() && i < kMaxPeers; ++i) {
    const Peer& peer = one.settings.peers[i];
    const auto leave_out = [&](const std::string& why) {
      into.faults.try_emplace(one.vip, "peer " + peer_text(peer) + ": " + why);
    };
    if (const std::string why = unfit(peer, one.settings); !why.empty()) {
      leave_out(why);
      continue;
    }
    Built fresh{.session = {.name = session_name(peer), .peer = peer, .bfd = one.settings.bfd, .vips = {}}, .text = {}};
    fresh.text = session_text(fresh.session, one.settings, router_id);
    const auto found =
        std::ranges::find(sessions, fresh.session.name, [](const Built& built) { return built.session.name; });
    const bool known = found != sessions.end();
    if (!known && sessions.size() >= kMaxSessions) {
      leave_out("there are too many peers");
      continue;
    }
    if (known && found->text != fresh.text) {
      leave_out("has other settings in " + found->session.vips.front());
      continue;
    }
    Built& built = known ? *found : sessions.emplace_back(std::move(fresh));
    std::vector<std::string>& vips = built.session.vips;
    if (vips.empty() || vips.back() != one.vip) vips.push_back(one.vip);
    (one.address.is_v4() ? built.v4 : built.v6) = true;
    into.graceful_restart = into.graceful_restart || one.settings.graceful_restart;
  }
}

}  // namespace

std::string peer_text(const Peer& peer) {
  constexpr std::uint16_t kPort = 179;
  const std::string address = to_string(peer.address);
  if (peer.port == kPort) return address;
  return (peer.address.is_v4() ? address : "[" + address + "]") + ":" + std::to_string(peer.port);
}

bool is_password(std::string_view text) {
  return !text.empty() && text.size() <= kMaxPassword &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '"'; });
}

std::string community_in_bird(std::string_view text) {
  for (const auto& [name, value] : kWellKnown) {
    if (text == name) return std::string(value);
  }
  std::array<std::uint64_t, 3> numbers{};
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    const std::string_view part = text.substr(0, text.find(':'));
    if (count == numbers.size()) return {};
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), numbers[count]);
    if (error != std::errc() || end != part.data() + part.size()) return {};
    more = part.size() != text.size();
    if (more) text.remove_prefix(part.size() + 1);
  }
  const std::uint64_t most = count == 2 ? 0xffff : 0xffff'ffff;
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    if (numbers[i] > most) return {};
    out += (i == 0 ? "(" : ",") + std::to_string(numbers[i]);
  }
  return count < 2 ? std::string() : out + ")";
}

Configuration write_configuration(const std::vector<Announcement>& announcements, std::uint32_t router_id) {
  Configuration out;
  std::vector<Built> sessions;
  for (const Announcement& one : announcements) add_peers(one, router_id, sessions, out);
  out.routes = static_text(true, announcements, out) + static_text(false, announcements, out);
  out.sessions =
      "log \"bird.log\" 262144 \"bird.log.1\" { info, warning, error, fatal, bug, auth };\n"
      "router id " +
      dotted(router_id) + ";\ntimeformat protocol iso long;\nprotocol device { scan time 10; }\n";
  if (std::ranges::any_of(sessions, [](const Built& built) { return built.session.bfd; })) {
    out.sessions += "protocol bfd {}\n";
  }
  out.sessions += "include \"" + std::string(kRoutesFile) + "\";\n";
  for (Built& built : sessions) {
    out.sessions += built.text;
    for (const bool v4 : {true, false}) {
      if (!(v4 ? built.v4 : built.v6)) continue;
      out.sessions += channel_text(built.session, v4);
      out.routes += filter_text(built.session, v4, announcements);
    }
    out.sessions += "}\n";
    out.all.push_back(std::move(built.session));
  }
  return out;
}

}  // namespace edge::agent::bgp
