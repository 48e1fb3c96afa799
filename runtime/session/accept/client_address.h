// Determines the client's address, and which forwarding fields are trusted.
#pragma once

#include <span>

#include "base/hash.h"
#include "base/ip.h"
#include "net/http1/head.h"
#include "program/format/format.h"

namespace edge::runtime {

bool trusted(std::span<const program::CidrRecord> proxies, const IpAddress& peer);

/// Returns the client's address: the peer's, unless the peer is a trusted proxy; then the last address in
/// X-Forwarded-For that is not a trusted proxy's (docs/decisions: a list with invalid entries is used up to the first
/// of them).
IpAddress client_address(std::span<const program::CidrRecord> proxies, const IpAddress& peer,
                         const net::http1::HeadFields& fields);

/// Returns the hash by which SourceIP balancing distinguishes clients.
inline std::uint64_t client_key(const IpAddress& client) {
  return hash_bytes(0, {reinterpret_cast<const char*>(client.bytes.data()), client.bytes.size()});
}

}  // namespace edge::runtime
