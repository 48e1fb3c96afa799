// The marks, tables and preferences of packets and rules that the SD-WAN has for itself: docs/sdwan.md lists them for
// those who have marks of their own. Bits outside of the two masks are left as they are.
#pragma once

#include <cstdint>

namespace edge::agent::wan {

/// Which tunnel carries a packet: the number of the tunnel among those to a site. Of a connection: of the packets in
/// its original direction.
inline constexpr unsigned kSlotShift = 16;
inline constexpr std::uint32_t kSlotMask = 0x007f'0000;
/// Packets with this one are dropped.
inline constexpr std::uint32_t kDropSlot = 127;
/// Of a packet that carries a tunnel: the link that it leaves by, [1, 63]. Of a connection of the proxy before it is
/// steered: its gateway, [64, 127]. Of a connection in the kernel's table: the tunnel of packets in reply direction.
inline constexpr unsigned kLinkShift = 23;
inline constexpr std::uint32_t kLinkMask = 0x3f80'0000;
inline constexpr std::uint32_t kFirstGateway = 64;
inline constexpr std::uint32_t kMostGateways = 64;

constexpr std::uint32_t slot_mark(std::uint32_t slot) { return slot << kSlotShift; }
constexpr std::uint32_t link_mark(std::uint32_t number) { return number << kLinkShift; }

/// Tables of routes.
inline constexpr std::uint32_t kTables = 0x4544'0000;
constexpr std::uint32_t slot_table(std::uint32_t slot) { return kTables + slot; }
constexpr std::uint32_t link_table(std::uint32_t number) { return kTables + 0x100 + number; }
/// For packets that have no mark yet: networks of other sites, which gives the node's own packets their source; and the
/// addresses of peers in every tunnel, for sockets that are bound to one.
inline constexpr std::uint32_t kSiteTable = kTables + 0x200;

/// Preferences of rules: what is dropped comes first.
inline constexpr std::uint32_t kDropRule = 5200;
constexpr std::uint32_t link_rule(std::uint32_t number) { return kDropRule + number; }
constexpr std::uint32_t slot_rule(std::uint32_t slot) { return kDropRule + 100 + slot; }
inline constexpr std::uint32_t kSiteRule = kDropRule + 300;

}  // namespace edge::agent::wan
