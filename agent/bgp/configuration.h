// Writes the configuration of BIRD 2 for announcements. Two texts: the sessions, and the routes, which the first one
// includes, so that a change of routes affects no session.
//
// All values are untrusted: a value that BIRD would not parse as a single value excludes its peer or route, with a
// message.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agent/bgp/settings.h"

namespace edge::agent::bgp {

inline constexpr const char* kRoutesFile = "routes.conf";

/// A session with a peer. Where several addresses have different settings for one peer, those of the first by name
/// apply.
struct Session {
  std::string name;  ///< of the protocol in BIRD: made only from the peer's address and port
  Peer peer;
  bool bfd = false;
  std::vector<std::string> vips;  ///< announced on it, ascending
};

struct Configuration {
  std::string sessions;
  std::string routes;
  std::vector<Session> all;
  std::map<std::string, std::string> faults;  ///< by VIP: what was excluded, and why
  bool graceful_restart = false;              ///< in any session
};

/// `router_id`: of the node. `announcements` are sorted by name.
Configuration write_configuration(const std::vector<Announcement>& announcements, std::uint32_t router_id);

/// `198.51.100.1`, `198.51.100.1:1179`, `[fd00::1]:1179`.
std::string peer_text(const Peer& peer);
/// Returns whether BIRD parses the text as one string: printable ASCII without quotes, at most 80 bytes.
bool is_password(std::string_view text);
/// Returns a community in BIRD's syntax: `(64512,100)`; empty: invalid.
std::string community_in_bird(std::string_view text);

}  // namespace edge::agent::bgp
