// IP addresses and CIDR blocks. IPv4 is stored in its IPv4-mapped IPv6 form (::ffff:a.b.c.d), so that one comparison
// serves both families.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace edge {

struct IpAddress {
  /// Network byte order. The default is `::`.
  std::array<std::uint8_t, 16> bytes{};

  bool is_v4() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

/// Parses dotted quads and RFC 4291 text, nothing else: no zone, port, brackets or shortened quads.
std::optional<IpAddress> parse_ip(std::string_view text);
/// RFC 5952 text; IPv4 as a dotted quad.
std::string to_string(const IpAddress& address);

struct Cidr {
  IpAddress address;
  /// 0..128, counted in the mapped form: an IPv4 /24 is 120.
  std::uint8_t prefix_length = 128;

  bool contains(const IpAddress& candidate) const;
  friend bool operator==(const Cidr&, const Cidr&) = default;
};

/// Parses `10.0.0.0/8`, `fd00::/8`; a bare address is a full-length block. Bits after the prefix are cleared.
std::optional<Cidr> parse_cidr(std::string_view text);
std::string to_string(const Cidr& cidr);

}  // namespace edge
