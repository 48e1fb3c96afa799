// Parses a TLS ClientHello for its server name: what is needed to forward a connection without decrypting it (RFC 8446
// §4.1.2, RFC 6066 §3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace edge::runtime {

/// Largest accepted ClientHello in bytes: message and record headers together. Current clients send up to 2 KiB.
inline constexpr std::size_t kMaxClientHello = 16 * 1024;

struct ClientHello {
  /// Returns the server name (SNI), canonical (base/hostname.h); empty: none. With Encrypted Client Hello it is the
  /// outer name, the only visible one.
  std::string_view server_name() const { return {name.data(), name_size}; }

  std::array<char, 256> name;
  std::uint8_t name_size = 0;
};

enum class HelloState : std::uint8_t { kComplete, kIncomplete, kFault };

/// Parses a ClientHello at the start of a connection's `bytes`, across any number of records. kIncomplete: all of
/// `bytes` may be the beginning of one. Keeps no state, so that a connection with an incomplete hello uses no memory.
/// `out` is valid when the state is kComplete.
HelloState parse_client_hello(std::string_view bytes, ClientHello& out);

}  // namespace edge::runtime
