// Lints of `spec.bgp` of ProxyVIPs. One node has one session with a peer, whichever addresses are announced on it.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/lint/finding.h"
#include "compiler/lint/lint.h"

namespace edge::compiler::lint {
namespace {

using model::Bgp;
using model::BgpPeer;
using model::ProxyVip;

struct Place {
  const ProxyVip* vip = nullptr;
  std::size_t peer = 0;
};

std::string peer_field(std::size_t index) { return indexed("spec.bgp.peers", index); }

template <typename Value>
std::optional<Value> value_of(const model::Maybe<Value>& field) {
  return field ? std::optional(field->value) : std::nullopt;
}

/// Whether both make the same session.
bool alike(const Place& a, const Place& b) {
  const auto settings = [](const Place& position) {
    const Bgp& bgp = *position.vip->bgp;
    const BgpPeer& peer = bgp.peers[position.peer];
    const auto secret = value_of(peer.password_secret);
    return std::tuple(
        value_of(bgp.local_as), value_of(bgp.router_id), value_of(bgp.hold_time), value_of(bgp.keepalive_time),
        value_of(bgp.connect_retry_time),
        std::tuple(value_of(bgp.bfd).value_or(false), value_of(bgp.bfd_interval), value_of(bgp.bfd_multiplier),
                   value_of(bgp.graceful_restart).value_or(false), value_of(bgp.graceful_restart_time)),
        std::tuple(peer.as_number, value_of(peer.password), secret,
                   secret ? position.vip->metadata.name_space : std::string(), value_of(peer.password_key),
                   value_of(peer.multihop), value_of(peer.source_address)));
  };
  return settings(a) == settings(b);
}

class BgpLinter {
 public:
  explicit BgpLinter(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void lint(const ProxyVip& vip) {
    const bool announces = vip.mode && vip.mode->value == "BGP";
    if (!announces && !vip.bgp->peers.empty()) {
      add(vip, {.code = DiagnosticCode::kIdleBgp,
                .span = vip.bgp->peers.front().address.span,
                .field = "spec.bgp",
                .message = "the address is not announced to the peers: its mode is not BGP",
                .fix = "set `mode` to BGP, or leave `bgp` out"});
    }
    for (std::size_t i = 0; i < vip.bgp->peers.size(); ++i) {
      password(vip, i);
      if (announces) session({&vip, i});
    }
  }

 private:
  void add(const ProxyVip& vip, Finding finding) { diagnostics_.add(warning(vip.metadata, std::move(finding))); }

  void password(const ProxyVip& vip, std::size_t index) {
    const BgpPeer& peer = vip.bgp->peers[index];
    if (!peer.password) return;
    add(vip, {.code = DiagnosticCode::kPasswordInResource,
              .span = peer.password->span,
              .field = peer_field(index) + ".password",
              .message = "whoever may read the ProxyVIP may read the password of its peer",
              .fix = "put it into a Secret, and name that in `passwordSecretRef`"});
  }

  void session(const Place& position) {
    const BgpPeer& peer = position.vip->bgp->peers[position.peer];
    constexpr std::int64_t kPort = 179;
    const auto key = std::pair(to_string(peer.address.value), value_of(peer.port).value_or(kPort));
    const auto [known, fresh] = sessions_.try_emplace(key, position);
    if (fresh) return;
    const Place& first = known->second;
    const bool twice = first.vip == position.vip;
    if (!twice && alike(first, position)) return;
    Diagnostic found = warning(
        position.vip->metadata,
        {.code = DiagnosticCode::kIdleBgp,
         .span = peer.address.span,
         .field = peer_field(position.peer),
         .message = twice ? "the peer " + in_quotes(key.first) + " is given twice"
                          : "the peer " + in_quotes(key.first) + " has other settings in " + first.vip->metadata.text(),
         .fix = twice ? "leave one of them out" : "give both the same `bgp` settings"});
    found.notes.emplace_back("a node has one session with a peer");
    found.labels.push_back({first.vip->bgp->peers[first.peer].address.span, "this one is in force"});
    diagnostics_.add(std::move(found));
  }

  Diagnostics& diagnostics_;
  std::map<std::pair<std::string, std::int64_t>, Place> sessions_;
};

}  // namespace

void lint_bgp(const model::ResourceSet& resources, Diagnostics& diagnostics) {
  std::vector<const ProxyVip*> vips;
  for (const ProxyVip& vip : resources.vips) {
    if (vip.bgp) vips.push_back(&vip);
  }
  // In the order in which agents look at them.
  std::ranges::sort(vips, {},
                    [](const ProxyVip* vip) { return std::tie(vip->metadata.name_space, vip->metadata.name); });
  BgpLinter linter(diagnostics);
  for (const ProxyVip* const vip : vips) linter.lint(*vip);
}

}  // namespace edge::compiler::lint
