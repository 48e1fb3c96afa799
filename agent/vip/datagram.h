// Words of agents to each other as datagrams of UDP, authenticated by a key that the controller gives all of its
// agents:
//
//   magic `EVW2`, instance, number, flags, node, the nodes that are offered something, the addresses, HMAC-SHA256
//
// Numbers are little-endian. A datagram that the key did not make is read no further than its length.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "agent/vip/assignment.h"

namespace edge::agent::vip {

/// Addresses that one controller gives to its agents.
inline constexpr std::size_t kMaxAddresses = 1000;
inline constexpr std::size_t kMaxNodeName = 253;
/// Of the nodes that a word offers addresses to.
inline constexpr std::size_t kMaxOffered = 64;
/// Of a datagram: a word with as much as it may have is smaller.
inline constexpr std::size_t kMaxDatagram = 48 << 10;

/// Empty when the word has more than a datagram may have, or no HMAC can be made.
std::string write_datagram(const Word& word, std::string_view key);
/// nullopt for anything but what `write_datagram` made with this key.
std::optional<Word> read_datagram(std::string_view datagram, std::string_view key);

}  // namespace edge::agent::vip
