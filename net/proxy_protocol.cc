#include "net/proxy_protocol.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace edge::net {
namespace {

using State = ProxyHeaderState;

// Chosen by the protocol's author to be no request of any protocol that was known.
constexpr std::string_view kSignature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::string_view kLineStart = "PROXY ";
constexpr std::string_view kUnknownLine = "PROXY UNKNOWN\r\n";
constexpr std::size_t kFixed = 16;  // of version 2, before the addresses
constexpr std::size_t kV4Addresses = 12;
constexpr std::size_t kV6Addresses = 36;

enum class Family : std::uint8_t { kUnspecified = 0, kV4 = 1, kV6 = 2, kUnix = 3 };

/// Of a stream connection; datagrams are none of ours.
constexpr std::uint8_t kStream = 1;
constexpr std::uint8_t kDatagram = 2;
constexpr std::uint8_t kVersion2 = 0x20;
enum Command : std::uint8_t { kLocal = 0, kProxy = 1 };

std::uint8_t byte_at(std::string_view bytes, std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); }

std::uint16_t number_at(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint16_t>(byte_at(bytes, i) << 8 | byte_at(bytes, i + 1));
}

IpAddress mapped(std::string_view four) {
  IpAddress address;
  address.bytes[10] = address.bytes[11] = 0xff;
  std::memcpy(address.bytes.data() + 12, four.data(), 4);
  return address;
}

// ---- Version 1 ------------------------------------------------------------------------------------------------------

/// Cuts the text up to the next space, or all of it.
std::string_view take_word(std::string_view& line) {
  const std::size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  line = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
  return word;
}

/// Decimal, without sign or leading zeros.
std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return port;
}

/// An address of the family that the line names.
std::optional<IpAddress> parse_address(std::string_view text, bool v4) {
  const auto address = parse_ip(text);
  const bool dotted = text.find(':') == std::string_view::npos;
  if (!address || dotted != v4) return std::nullopt;
  return address;
}

bool parse_line(std::string_view line, ProxyHeader& out) {
  const std::string_view family = take_word(line);
  out.ends.reset();
  if (family == "UNKNOWN") return true;  // what follows it is to be ignored
  const bool v4 = family == "TCP4";
  if (!v4 && family != "TCP6") return false;
  const auto source = parse_address(take_word(line), v4);
  const auto destination = parse_address(take_word(line), v4);
  const auto source_port = parse_port(take_word(line));
  const auto destination_port = parse_port(line);
  if (!source || !destination || !source_port || !destination_port) return false;
  out.ends = ProxyHeader::Ends{{*source, *source_port}, {*destination, *destination_port}};
  return true;
}

State parse_v1(std::string_view bytes, ProxyHeader& out) {
  const std::string_view seen = bytes.substr(0, kMaxProxyLine);
  const std::size_t end = seen.find('\n');
  if (end == std::string_view::npos) return seen.size() == kMaxProxyLine ? State::kFault : State::kIncomplete;
  if (end < kLineStart.size() + 1 || seen[end - 1] != '\r') return State::kFault;
  out.size = end + 1;
  return parse_line(seen.substr(kLineStart.size(), end - 1 - kLineStart.size()), out) ? State::kComplete
                                                                                      : State::kFault;
}

// ---- Version 2 ------------------------------------------------------------------------------------------------------

bool parse_addresses(Family family, std::string_view block, ProxyHeader& out) {
  if (family == Family::kV4) {
    if (block.size() < kV4Addresses) return false;
    out.ends = ProxyHeader::Ends{{mapped(block), number_at(block, 8)}, {mapped(block.substr(4)), number_at(block, 10)}};
  } else if (family == Family::kV6) {
    if (block.size() < kV6Addresses) return false;
    out.ends.emplace();
    std::memcpy(out.ends->source.address.bytes.data(), block.data(), 16);
    std::memcpy(out.ends->destination.address.bytes.data(), block.data() + 16, 16);
    out.ends->source.port = number_at(block, 32);
    out.ends->destination.port = number_at(block, 34);
  }
  return true;
}

State parse_v2(std::string_view bytes, ProxyHeader& out) {
  if (bytes.size() < kFixed) return State::kIncomplete;
  const std::uint8_t command = byte_at(bytes, 12);
  const std::uint8_t family = byte_at(bytes, 13);
  const std::size_t size = kFixed + number_at(bytes, 14);
  if ((command & 0xf0) != kVersion2 || (command & 0x0f) > kProxy || size > kMaxProxyHeader) return State::kFault;
  if ((family >> 4) > static_cast<std::uint8_t>(Family::kUnix) || (family & 0x0f) > 2) return State::kFault;
  if (bytes.size() < size) return State::kIncomplete;
  out.ends.reset();
  out.size = size;
  // What a local connection says of addresses is to be ignored; type-length-values behind them are passed over.
  if ((command & 0x0f) == kLocal) return State::kComplete;
  if ((family & 0x0f) != kStream) return family == 0 ? State::kComplete : State::kFault;
  const bool sound = parse_addresses(static_cast<Family>(family >> 4), bytes.substr(kFixed, size - kFixed), out);
  return sound ? State::kComplete : State::kFault;
}

// ---- Writing --------------------------------------------------------------------------------------------------------

std::string write_v1(const SocketAddress& source, const SocketAddress& destination) {
  // Two families cannot be said in one line.
  if (source.address.is_v4() != destination.address.is_v4()) return std::string(kUnknownLine);
  return std::string(source.address.is_v4() ? "PROXY TCP4 " : "PROXY TCP6 ") + to_string(source.address) + " " +
         to_string(destination.address) + " " + std::to_string(source.port) + " " + std::to_string(destination.port) +
         "\r\n";
}

void append_number(std::string& out, std::size_t number) {
  out.push_back(static_cast<char>(number >> 8 & 0xff));
  out.push_back(static_cast<char>(number & 0xff));
}

std::string write_v2(const SocketAddress& source, const SocketAddress& destination, ProxyTransport transport) {
  const bool v4 = source.address.is_v4() && destination.address.is_v4();
  const std::size_t skipped = v4 ? 12 : 0;  // of the mapped form
  const Family family = v4 ? Family::kV4 : Family::kV6;
  std::string out(kSignature);
  out.push_back(static_cast<char>(kVersion2 | kProxy));
  const std::uint8_t carried = transport == ProxyTransport::kDatagram ? kDatagram : kStream;
  out.push_back(static_cast<char>(static_cast<std::uint8_t>(family) << 4 | carried));
  append_number(out, v4 ? kV4Addresses : kV6Addresses);
  for (const SocketAddress* end : {&source, &destination}) {
    const auto& bytes = end->address.bytes;
    out.append(reinterpret_cast<const char*>(bytes.data()) + skipped, bytes.size() - skipped);
  }
  append_number(out, source.port);
  append_number(out, destination.port);
  return out;
}

}  // namespace

ProxyHeaderState parse_proxy_header(std::string_view bytes, ProxyHeader& out) {
  const auto begins_with = [&](std::string_view start) {
    return bytes.substr(0, start.size()) == start.substr(0, bytes.size());
  };
  if (begins_with(kSignature)) return parse_v2(bytes, out);
  if (!begins_with(kLineStart)) return State::kFault;
  return bytes.size() < kLineStart.size() ? State::kIncomplete : parse_v1(bytes, out);
}

std::string write_proxy_header(ProxyVersion version, const SocketAddress& source, const SocketAddress& destination,
                               ProxyTransport transport) {
  return version == ProxyVersion::kV1 ? write_v1(source, destination) : write_v2(source, destination, transport);
}

std::string write_own_proxy_header(ProxyVersion version) {
  if (version == ProxyVersion::kV1) return std::string(kUnknownLine);
  std::string out(kSignature);
  out.push_back(static_cast<char>(kVersion2 | kLocal));
  out.push_back('\0');  // of no family, over no transport
  append_number(out, 0);
  return out;
}

}  // namespace edge::net
