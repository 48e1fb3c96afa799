// Agents' messages as UDP datagrams, authenticated by a key that the controller gives to all its agents:
//
//   magic `EVW2`, instance, number, flags, node, the nodes with offers, the addresses, HMAC-SHA256
//
// Numbers are little-endian. Of a datagram that fails authentication only the length is read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "agent/vip/assignment.h"

namespace edge::agent::vip {

/// Limit of addresses from one controller.
inline constexpr std::size_t kMaxAddresses = 1000;
inline constexpr std::size_t kMaxNodeName = 253;
/// Limit of nodes that one message offers addresses to.
inline constexpr std::size_t kMaxOffered = 64;
/// Limit of a datagram: the largest message is smaller.
inline constexpr std::size_t kMaxDatagram = 48 << 10;

/// Returns a datagram; empty when the message exceeds the limits, or the HMAC fails.
std::string write_datagram(const Word& word, std::string_view key);
/// Parses a datagram; nullopt for anything but the result of `write_datagram` with this key.
std::optional<Word> read_datagram(std::string_view datagram, std::string_view key);

}  // namespace edge::agent::vip
