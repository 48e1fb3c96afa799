// Test packets of STAMP (RFC 8762): what a session-sender sends and a session-reflector answers.
//
// Every measured path is one session with a key of its own; packets are in authenticated mode (section 4.4) when the
// session has a key. Packets longer than the base format (TLVs of RFC 8972, padding of TWAMP Light) are accepted, and
// what follows the base is not interpreted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace edge::agent::wan {

/// Default UDP port of reflectors (RFC 8762 section 4.1).
inline constexpr std::uint16_t kStampPort = 862;
/// Lengths of packets in octets; those of sender and reflector are equal, so that a reflector never amplifies.
inline constexpr std::size_t kStampOpen = 44;
inline constexpr std::size_t kStampAuthenticated = 112;
/// Longer packets are ignored: no sender needs them, and a reflector answers with the length of the question.
inline constexpr std::size_t kStampLongest = 1500;

/// A time as packets have it: nanoseconds since 1970. The format on the wire is NTP's 64 bits (section 4.2.1, Z = 0),
/// which has a resolution of 233 ps and is ambiguous after 136 years.
struct StampTime {
  std::int64_t nanoseconds = 0;
  bool synchronized = false;  ///< the S bit: the clock follows an external source
};

/// A session-sender's packet.
struct StampQuery {
  std::uint32_t number = 0;
  StampTime sent{};
  std::uint16_t session = 0;  ///< SSID (RFC 8972 section 3); 0: the sender has none
};

/// A session-reflector's packet.
struct StampReply {
  std::uint32_t number = 0;  ///< of the reflector: counts what it received of the session, or repeats the sender's
  StampTime sent{};          ///< by the reflector
  StampTime received{};      ///< by the reflector
  StampQuery query{};        ///< what it answers
  std::uint8_t ttl = 0;      ///< of the query as it arrived
};

/// Returns a packet. `key`: 32 bytes of the session for authenticated mode; empty: open mode.
std::string write_query(const StampQuery& query, std::string_view key);
/// Returns the answer to a query. `tail`: what followed the query's base, at most kStampLongest octets with it; it is
/// repeated, which tells senders of TLVs that none was recognised (RFC 8972 section 4), and keeps the lengths equal
/// (section 4.3).
std::string write_reply(const StampReply& reply, std::string_view tail, std::string_view key);
/// Returns the length of a packet's base in the mode of `key`.
constexpr std::size_t stamp_base(std::string_view key) { return key.empty() ? kStampOpen : kStampAuthenticated; }

/// Returns the number of the session that a packet says it is of, whatever mode its length allows; nullopt: it is too
/// short. Not authenticated.
std::optional<std::uint16_t> session_number(std::string_view packet);
/// Parses a packet; nullopt when it is too short or too long, or its HMAC is not the key's.
std::optional<StampQuery> read_query(std::string_view packet, std::string_view key);
std::optional<StampReply> read_reply(std::string_view packet, std::string_view key);

}  // namespace edge::agent::wan
