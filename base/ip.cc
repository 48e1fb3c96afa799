#include "base/ip.h"

#include <arpa/inet.h>

#include <charconv>
#include <cstring>

namespace edge {
namespace {

constexpr std::uint8_t kMappedPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::uint8_t kMappedBits = 96;

}  // namespace

bool IpAddress::is_v4() const { return std::memcmp(bytes.data(), kMappedPrefix, sizeof(kMappedPrefix)) == 0; }

std::optional<IpAddress> parse_ip(std::string_view text) {
  char terminated[INET6_ADDRSTRLEN];
  if (text.empty() || text.size() >= sizeof(terminated) || text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::memcpy(terminated, text.data(), text.size());
  terminated[text.size()] = '\0';

  IpAddress address;
  if (inet_pton(AF_INET, terminated, address.bytes.data() + sizeof(kMappedPrefix)) == 1) {
    std::memcpy(address.bytes.data(), kMappedPrefix, sizeof(kMappedPrefix));
    return address;
  }
  if (inet_pton(AF_INET6, terminated, address.bytes.data()) == 1) return address;
  return std::nullopt;
}

std::string to_string(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN];
  if (address.is_v4()) {
    // By hand: inet_ntop takes ten times as long, and a line of the access log has two of them.
    char* at = text;
    for (std::size_t i = sizeof(kMappedPrefix); i < address.bytes.size(); ++i) {
      at = std::to_chars(at, text + sizeof(text), address.bytes[i]).ptr;
      *at++ = '.';
    }
    return std::string(text, at - 1);
  }
  const char* written = inet_ntop(AF_INET6, address.bytes.data(), text, sizeof(text));
  return written == nullptr ? std::string() : std::string(written);
}

bool Cidr::contains(const IpAddress& candidate) const {
  const std::size_t whole = prefix_length / 8;
  if (std::memcmp(address.bytes.data(), candidate.bytes.data(), whole) != 0) return false;
  const int rest = prefix_length % 8;
  if (rest == 0) return true;
  return ((address.bytes[whole] ^ candidate.bytes[whole]) >> (8 - rest)) == 0;
}

std::optional<Cidr> parse_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_ip(text.substr(0, slash));
  if (!address) return std::nullopt;
  // The family is the text's: `::ffff:0:0/96` is an IPv6 block although its address is a mapped one.
  const bool v4 = text.substr(0, slash).find(':') == std::string_view::npos;
  const std::uint8_t longest = v4 ? 32 : 128;
  std::uint8_t length = longest;
  if (slash != std::string_view::npos) {
    const std::string_view digits = text.substr(slash + 1);
    const bool shape = !digits.empty() && digits.size() <= 3 && !(digits.size() > 1 && digits[0] == '0');
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (!shape || error != std::errc() || end != digits.data() + digits.size() || length > longest) {
      return std::nullopt;
    }
  }
  Cidr cidr{.address = *address, .prefix_length = static_cast<std::uint8_t>(v4 ? length + kMappedBits : length)};
  for (int bit = cidr.prefix_length; bit < 128; ++bit) {
    cidr.address.bytes[bit / 8] &= static_cast<std::uint8_t>(~(0x80 >> (bit % 8)));
  }
  return cidr;
}

std::string to_string(const Cidr& cidr) {
  const bool v4 = cidr.address.is_v4() && cidr.prefix_length >= kMappedBits;
  return to_string(cidr.address) + "/" + std::to_string(v4 ? cidr.prefix_length - kMappedBits : cidr.prefix_length);
}

}  // namespace edge
