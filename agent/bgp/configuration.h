// Announcements -> the configuration of BIRD 2. Two texts: the sessions, and the routes, which the first one includes,
// so that a route that comes or goes changes no session.
//
// Every value is hostile: what BIRD would not read as the one value that it is makes its peer, or its route, be left
// out, and is told.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agent/bgp/settings.h"

namespace edge::agent::bgp {

inline constexpr const char* kRoutesFile = "routes.conf";

/// A session with a peer. Where several addresses say otherwise of one peer, the first by name is right.
struct Session {
  std::string name;  ///< of the protocol in BIRD: the peer's address and port alone make it
  Peer peer;
  bool bfd = false;
  std::vector<std::string> vips;  ///< that are announced on it, ascending
};

struct Configuration {
  std::string sessions;
  std::string routes;
  std::vector<Session> all;
  std::map<std::string, std::string> faults;  ///< by VIP: what was left out of it, and why
  bool graceful_restart = false;              ///< of any session
};

/// `router_id`: of the node. `announcements` in the order of their names.
Configuration write_configuration(const std::vector<Announcement>& announcements, std::uint32_t router_id);

/// `198.51.100.1`, `198.51.100.1:1179`, `[fd00::1]:1179`.
std::string peer_text(const Peer& peer);
/// Whether BIRD reads it as one text: printable ASCII without quotes, at most 80 bytes.
bool is_password(std::string_view text);
/// In the syntax of BIRD: `(64512,100)`; empty: it is no community.
std::string community_in_bird(std::string_view text);

}  // namespace edge::agent::bgp
