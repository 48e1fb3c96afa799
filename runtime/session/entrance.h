// How connections to a listening socket begin: found out once a program, so that a connection need not ask.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ip.h"
#include "runtime/match/load.h"

namespace edge::runtime {

struct Entrance {
  /// Index of the BindRecord; kNone where the program listens no more.
  std::uint32_t bind = program::kNone;
  program::Protocol protocol = program::Protocol::kHttp;
  /// A PROXY header comes first, from trusted proxies alone.
  bool proxy_header = false;
  /// Some listener does not decrypt: what the client asks for is looked at before anything is answered.
  bool looks_for_name = false;
  /// The largest of the gateways', none where one has none: they share the socket.
  std::uint32_t max_connections_per_source = 0;
  std::uint32_t max_streams_per_source = 0;
  /// Of the listeners; each a peer has to be trusted by.
  std::vector<const program::GatewayRecord*> gateways;

  /// HTTP from the first byte on.
  bool plain() const { return protocol == program::Protocol::kHttp && !proxy_header; }
  /// TLS from the first byte on, for us.
  bool decrypts() const {
    const bool encrypted = protocol == program::Protocol::kHttps || protocol == program::Protocol::kTls;
    return encrypted && !proxy_header && !looks_for_name;
  }
  bool raw() const { return protocol == program::Protocol::kTcp || protocol == program::Protocol::kTls; }
  /// Whether each gateway that a connection may be of has switched X-Edge-Reason off.
  bool hides_reasons() const;
  /// Whether a peer may send a PROXY header here.
  bool trusts(const LoadedProgram& program, const IpAddress& peer) const;
};

/// Whether a listener forwards TLS without decrypting it.
bool passes_through(const LoadedProgram& program, const LoadedListener& listener);

/// One a listening slot.
std::vector<Entrance> entrances_of(const LoadedProgram& program, const std::vector<std::uint32_t>& bind_of_slot);

}  // namespace edge::runtime
