#include "agent/wan/stamp.h"

#include <algorithm>
#include <array>

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace edge::agent::wan {
namespace {

/// From 1900, NTP's era, to 1970.
constexpr std::uint64_t kNtpOffset = 2'208'988'800;
constexpr std::uint64_t kNanoseconds = 1'000'000'000;
constexpr std::uint16_t kSynchronized = 0x8000;
/// Z: the time is one of PTP, whose lower half counts nanoseconds.
constexpr std::uint16_t kPtp = 0x4000;
/// An error of 2^-12 s, with a multiplier other than 0 as section 4.2.1 asks for: what NTP keeps over the internet. It
/// is sent for the sake of other implementations; ours compare times of one clock only.
constexpr std::uint16_t kError = 20U << 8U | 1U;

/// The HMAC is over six blocks of 16 octets, and has the length of one (section 4.4).
constexpr std::size_t kCovered = 96;
constexpr std::size_t kMac = 16;

/// Offsets of fields in both modes.
struct Layout {
  std::size_t sent, error, session, received, query_number, query_sent, query_error, ttl;
};
constexpr Layout kOpenLayout{.sent = 4,
                             .error = 12,
                             .session = 14,
                             .received = 16,
                             .query_number = 24,
                             .query_sent = 28,
                             .query_error = 36,
                             .ttl = 40};
constexpr Layout kAuthenticatedLayout{.sent = 16,
                                      .error = 24,
                                      .session = 26,
                                      .received = 32,
                                      .query_number = 48,
                                      .query_sent = 64,
                                      .query_error = 72,
                                      .ttl = 80};

const Layout& layout(std::string_view key) { return key.empty() ? kOpenLayout : kAuthenticatedLayout; }

template <typename Number>
void put(std::string& packet, std::size_t at, Number number) {
  for (std::size_t i = sizeof number; i-- > 0; number = static_cast<Number>(number >> 8U)) {
    packet[at + i] = static_cast<char>(number & 0xffU);
  }
}

template <typename Number>
Number get(std::string_view packet, std::size_t at) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) {
    number = static_cast<Number>(number << 8U | static_cast<std::uint8_t>(packet[at + i]));
  }
  return number;
}

void put_time(std::string& packet, std::size_t at, std::size_t error, const StampTime& time) {
  const auto nanoseconds = static_cast<std::uint64_t>(time.nanoseconds);
  const std::uint64_t seconds = nanoseconds / kNanoseconds + kNtpOffset;
  const std::uint64_t fraction = (nanoseconds % kNanoseconds << 32U) / kNanoseconds;
  put(packet, at, seconds << 32U | fraction);
  if (error != 0) {
    put(packet, error, static_cast<std::uint16_t>(kError | (time.synchronized ? kSynchronized : 0)));
  }
}

StampTime get_time(std::string_view packet, std::size_t at, std::size_t error) {
  const auto estimate = get<std::uint16_t>(packet, error);
  const auto value = get<std::uint64_t>(packet, at);
  std::uint64_t seconds = value >> 32U;
  std::uint64_t rest = value & 0xffff'ffffU;
  if ((estimate & kPtp) == 0) {
    // Seconds below the offset belong to NTP's next era, which begins in 2036.
    seconds = (seconds >= kNtpOffset ? seconds : seconds + (std::uint64_t{1} << 32U)) - kNtpOffset;
    rest = (rest * kNanoseconds + (std::uint64_t{1} << 31U)) >> 32U;
  }
  return {static_cast<std::int64_t>(seconds * kNanoseconds + rest), (estimate & kSynchronized) != 0};
}

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

/// SHA-256 of a block of HMAC's and what follows it.
Digest digest_of(const std::array<unsigned char, SHA256_CBLOCK>& block, const void* data, std::size_t size) {
  Digest digest{};
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, block.data(), block.size());
  SHA256_Update(&context, data, size);
  SHA256_Final(digest.data(), &context);
  return digest;
}

/// HMAC-SHA256 (RFC 2104) by the functions below those that look up algorithms by name: that costs a probe more than
/// all the rest of its computation.
Digest mac_of(std::string_view packet, std::string_view key) {
  std::array<unsigned char, SHA256_CBLOCK> inner{};
  std::array<unsigned char, SHA256_CBLOCK> outer{};
  std::ranges::fill(inner, 0x36);
  std::ranges::fill(outer, 0x5c);
  for (std::size_t i = 0; i < std::min(key.size(), inner.size()); ++i) {
    inner[i] ^= static_cast<unsigned char>(key[i]);
    outer[i] ^= static_cast<unsigned char>(key[i]);
  }
  const Digest first = digest_of(inner, packet.data(), kCovered);
  return digest_of(outer, first.data(), first.size());
}

void authenticate(std::string& packet, std::string_view key) {
  if (key.empty()) return;
  const auto mac = mac_of(packet, key);
  packet.replace(kCovered, kMac, reinterpret_cast<const char*>(mac.data()), kMac);
}

bool authentic(std::string_view packet, std::string_view key) {
  if (packet.size() < stamp_base(key) || packet.size() > kStampLongest) return false;
  return key.empty() || CRYPTO_memcmp(mac_of(packet, key).data(), packet.data() + kCovered, kMac) == 0;
}

}  // namespace

std::string write_query(const StampQuery& query, std::string_view key) {
  const Layout& at = layout(key);
  std::string packet(stamp_base(key), '\0');
  put(packet, 0, query.number);
  put_time(packet, at.sent, at.error, query.sent);
  put(packet, at.session, query.session);
  authenticate(packet, key);
  return packet;
}

std::string write_reply(const StampReply& reply, std::string_view tail, std::string_view key) {
  const Layout& at = layout(key);
  std::string packet(stamp_base(key), '\0');
  put(packet, 0, reply.number);
  put_time(packet, at.sent, at.error, reply.sent);
  put(packet, at.session, reply.query.session);
  // Both times of a reflector are of one clock, and share the error estimate.
  put_time(packet, at.received, 0, reply.received);
  put(packet, at.query_number, reply.query.number);
  put_time(packet, at.query_sent, at.query_error, reply.query.sent);
  put(packet, at.ttl, reply.ttl);
  authenticate(packet, key);
  packet += tail;
  return packet;
}

/// An open packet has zeros where an authenticated one has its number, unless it is padded with something else.
std::optional<std::uint16_t> session_number(std::string_view packet) {
  if (packet.size() < kStampOpen) return std::nullopt;
  const auto open = get<std::uint16_t>(packet, kOpenLayout.session);
  if (packet.size() < kStampAuthenticated) return open;
  const auto authenticated = get<std::uint16_t>(packet, kAuthenticatedLayout.session);
  return authenticated != 0 ? authenticated : open;
}

std::optional<StampQuery> read_query(std::string_view packet, std::string_view key) {
  if (!authentic(packet, key)) return std::nullopt;
  const Layout& at = layout(key);
  return StampQuery{.number = get<std::uint32_t>(packet, 0),
                    .sent = get_time(packet, at.sent, at.error),
                    .session = get<std::uint16_t>(packet, at.session)};
}

std::optional<StampReply> read_reply(std::string_view packet, std::string_view key) {
  if (!authentic(packet, key)) return std::nullopt;
  const Layout& at = layout(key);
  return StampReply{.number = get<std::uint32_t>(packet, 0),
                    .sent = get_time(packet, at.sent, at.error),
                    .received = get_time(packet, at.received, at.error),
                    .query = {.number = get<std::uint32_t>(packet, at.query_number),
                              .sent = get_time(packet, at.query_sent, at.query_error),
                              .session = get<std::uint16_t>(packet, at.session)},
                    .ttl = get<std::uint8_t>(packet, at.ttl)};
}

}  // namespace edge::agent::wan
