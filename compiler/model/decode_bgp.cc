// Decodes `spec.bgp` of a ProxyVIP.
#include <chrono>
#include <utility>

#include "compiler/model/decode_kinds.h"

namespace edge::compiler::model {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string peer_field(std::size_t index, std::string_view field) {
  return "spec.bgp.peers[" + std::to_string(index) + "]." + std::string(field);
}

struct Bounds {
  std::chrono::nanoseconds least{};
  std::chrono::nanoseconds most{};
  std::string_view text;
};

/// What the protocols have room for. A time of 0 would be none at all.
Maybe<std::chrono::nanoseconds> bounded(const Fields& bgp, std::string_view name, const Bounds& bounds,
                                        Report& report) {
  const auto time = bgp.duration(name);
  if (time && (time->value < bounds.least || time->value > bounds.most)) {
    report.fault(DiagnosticCode::kOutOfRange, time->span, "spec.bgp." + std::string(name),
                 "`" + std::string(name) + "` is " + std::string(bounds.text));
  }
  return time;
}

BgpPeer decode_peer(const Fields& peer, std::size_t index, Report& report) {
  BgpPeer out{.address = peer.ip("address").value_or(Located<IpAddress>()),
              .as_number = peer.needed_integer("as").value,
              .port = peer.integer("port"),
              .password = peer.text("password"),
              .multihop = peer.integer("multihop"),
              .source_address = peer.ip("sourceAddress")};
  if (const Fields secret = peer.object("passwordSecretRef")) {
    out.password_secret = secret.needed_text("name");
    out.password_key = secret.text("key");
    if (out.password) {
      report.fault(DiagnosticCode::kExclusiveFields, out.password->span, peer_field(index, "password"),
                   "`password` and `passwordSecretRef` are two forms of one setting", "leave `password` out");
    }
  }
  if (out.source_address && out.source_address->value.is_v4() != out.address.value.is_v4()) {
    report.fault(DiagnosticCode::kInvalidValue, out.source_address->span, peer_field(index, "sourceAddress"),
                 "the peer's address is of the other family");
  }
  return out;
}

}  // namespace

std::optional<Bgp> decode_bgp(const Fields& bgp, Report& report) {
  if (!bgp) return std::nullopt;
  constexpr Bounds kHold{seconds(3), seconds(65535), "between 3s and 65535s"};
  constexpr Bounds kTimer{seconds(1), seconds(65535), "between 1s and 65535s"};
  constexpr Bounds kBfd{milliseconds(10), seconds(60), "between 10ms and 60s"};
  constexpr Bounds kRestart{seconds(1), seconds(4095), "between 1s and 4095s"};
  Bgp out{.local_as = bgp.integer("localAS"),
          .router_id = bgp.ip("routerID"),
          .communities = bgp.strings("communities"),
          .med = bgp.integer("med"),
          .local_preference = bgp.integer("localPreference"),
          .hold_time = bounded(bgp, "holdTime", kHold, report),
          .keepalive_time = bounded(bgp, "keepaliveTime", kTimer, report),
          .connect_retry_time = bounded(bgp, "connectRetryTime", kTimer, report),
          .bfd = bgp.boolean("bfd"),
          .bfd_interval = bounded(bgp, "bfdInterval", kBfd, report),
          .bfd_multiplier = bgp.integer("bfdMultiplier"),
          .graceful_restart = bgp.boolean("gracefulRestart"),
          .graceful_restart_time = bounded(bgp, "gracefulRestartTime", kRestart, report)};
  if (out.router_id && (!out.router_id->value.is_v4() || to_string(out.router_id->value) == "0.0.0.0")) {
    report.fault(DiagnosticCode::kInvalidValue, out.router_id->span, "spec.bgp.routerID",
                 "a BGP identifier is an IPv4 address other than 0.0.0.0");
  }
  bgp.entries("peers", [&](const Fields& peer) { out.peers.push_back(decode_peer(peer, out.peers.size(), report)); });
  if (out.peers.empty()) {
    report.fault(DiagnosticCode::kMissingField, bgp.span(), "spec.bgp.peers", "`peers` must have an entry");
  }
  return out;
}

}  // namespace edge::compiler::model
