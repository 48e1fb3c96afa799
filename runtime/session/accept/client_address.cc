#include "runtime/session/accept/client_address.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/text/ascii.h"

namespace edge::runtime {
namespace {

using net::http1::KnownField;

bool inside(const program::CidrRecord& block, const IpAddress& address) {
  const std::size_t whole = block.prefix_length / 8;
  const unsigned bits = block.prefix_length % 8;
  if (std::memcmp(block.address, address.bytes.data(), whole) != 0) return false;
  if (bits == 0) return true;
  const unsigned mask = 0xff00u >> bits;
  return ((block.address[whole] ^ address.bytes[whole]) & mask & 0xff) == 0;
}

// An element of X-Forwarded-For: an address, in brackets or with a port as some proxies write it.
std::optional<IpAddress> parse_element(std::string_view text) {
  text = trim_blanks(text);
  if (!text.empty() && text.front() == '[') {
    const std::size_t close = text.find(']');
    return close == std::string_view::npos ? std::nullopt : parse_ip(text.substr(1, close - 1));
  }
  if (std::count(text.begin(), text.end(), ':') == 1) text = text.substr(0, text.find(':'));
  return parse_ip(text);
}

}  // namespace

bool trusted(std::span<const program::CidrRecord> proxies, const IpAddress& peer) {
  return std::any_of(proxies.begin(), proxies.end(), [&](const auto& block) { return inside(block, peer); });
}

IpAddress client_address(std::span<const program::CidrRecord> proxies, const IpAddress& peer,
                         const net::http1::HeadFields& fields) {
  IpAddress client = peer;
  if (!fields.has(KnownField::kXForwardedFor) || !trusted(proxies, peer)) return client;
  // From the right: each address was written by the one before it, as long as those are trusted.
  for (std::size_t i = fields.size(); i-- > 0;) {
    if (fields.known(i) != KnownField::kXForwardedFor) continue;
    std::string_view rest = fields[i].value;
    while (!rest.empty()) {
      const std::size_t comma = rest.rfind(',');
      const std::string_view element = comma == std::string_view::npos ? rest : rest.substr(comma + 1);
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(0, comma);
      const std::optional<IpAddress> address = parse_element(element);
      if (!address) return client;
      client = *address;
      if (!trusted(proxies, client)) return client;
    }
  }
  return client;
}

}  // namespace edge::runtime
