// How connections to a listening socket begin: determined once per program, so that connections need not compute it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ip.h"
#include "runtime/match/load.h"

namespace edge::runtime {

struct Entrance {
  /// Index of the BindRecord; kNone where the program does not listen any more.
  std::uint32_t bind = program::kNone;
  program::Protocol protocol = program::Protocol::kHttp;
  /// A PROXY header comes first, accepted from trusted proxies only.
  bool proxy_header = false;
  /// Some listener does not decrypt: the ClientHello is parsed before anything is answered.
  bool looks_for_name = false;
  /// The highest limit among the gateways that share the socket, none where one has none.
  std::uint32_t max_connections_per_source = 0;
  std::uint32_t max_streams_per_source = 0;
  /// The gateways of the listeners; a peer must be trusted by all of them.
  std::vector<const program::GatewayRecord*> gateways;

  /// Whether connections are HTTP from the first byte on.
  bool plain() const { return protocol == program::Protocol::kHttp && !proxy_header; }
  /// Whether connections are TLS from the first byte on, and are decrypted here.
  bool decrypts() const {
    const bool encrypted = protocol == program::Protocol::kHttps || protocol == program::Protocol::kTls;
    return encrypted && !proxy_header && !looks_for_name;
  }
  bool raw() const { return protocol >= program::Protocol::kTcp; }
  /// Returns whether all gateways that a connection may belong to have X-Edge-Reason switched off.
  bool hides_reasons() const;
  /// Returns whether a peer may send a PROXY header here.
  bool trusts(const LoadedProgram& program, const IpAddress& peer) const;
};

/// Returns whether a listener forwards TLS without decrypting it.
bool passes_through(const LoadedProgram& program, const LoadedListener& listener);

/// Returns one Entrance per listening slot.
std::vector<Entrance> entrances_of(const LoadedProgram& program, const std::vector<std::uint32_t>& bind_of_slot);

}  // namespace edge::runtime
