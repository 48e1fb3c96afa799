// Who the client is, and which forwarding fields of its head may be believed.
#pragma once

#include <span>

#include "base/hash.h"
#include "base/ip.h"
#include "net/http1/head.h"
#include "program/format/format.h"

namespace edge::runtime {

bool trusted(std::span<const program::CidrRecord> proxies, const IpAddress& peer);

/// The client's address: the peer's, unless it is a trusted proxy; then the last address in X-Forwarded-For that is not
/// a trusted proxy's (docs/decisions: a list that does not parse is believed up to there).
IpAddress client_address(std::span<const program::CidrRecord> proxies, const IpAddress& peer,
                         const net::http1::HeadFields& fields);

/// By which a balancer of SourceIP tells clients apart.
inline std::uint64_t client_key(const IpAddress& client) {
  return hash_bytes(0, {reinterpret_cast<const char*>(client.bytes.data()), client.bytes.size()});
}

}  // namespace edge::runtime
