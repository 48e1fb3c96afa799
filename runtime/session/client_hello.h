// The first message of a TLS client, read for the host that it wants: what is needed to forward a connection that is
// not decrypted here (RFC 8446 §4.1.2, RFC 6066 §3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace edge::runtime {

/// The largest ClientHello that is read: message and record headers together. Clients of today send up to 2 KiB.
inline constexpr std::size_t kMaxClientHello = 16 * 1024;

struct ClientHello {
  /// The name that the client asks for, canonical (base/hostname.h); empty: none. With Encrypted Client Hello it is the
  /// outer name, the only one that can be seen.
  std::string_view server_name() const { return {name.data(), name_size}; }

  std::array<char, 256> name;
  std::uint8_t name_size = 0;
};

enum class HelloState : std::uint8_t { kComplete, kIncomplete, kFault };

/// Reads a ClientHello at the start of a connection's `bytes`, in however many records it comes. kIncomplete: all of
/// `bytes` may be the beginning of one. Keeps nothing, so that a connection whose hello is not whole costs no memory.
/// `out` is valid when the state is kComplete.
HelloState parse_client_hello(std::string_view bytes, ClientHello& out);

}  // namespace edge::runtime
