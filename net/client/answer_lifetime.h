// How long an answer of a name server holds, by its bytes: c-ares 1.18 does not return the TTL of SRV records.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

namespace edge::net::client {

/// Records of one answer that are read.
inline constexpr std::size_t kMostRecords = 1024;

/// Returns the least TTL of the records of an answer (RFC 1035 §4.1), of the first kMostRecords; 0 where the message is
/// none, and 2^31 - 1 seconds where it has no record. A longer TTL counts as that.
std::chrono::seconds least_lifetime(std::span<const unsigned char> message);

}  // namespace edge::net::client
