// Writes and parses netlink(7) messages, for rtnetlink, nfnetlink and sock_diag.
#pragma once

#include <linux/netlink.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/ip.h"

namespace edge::net::netlink {

/// Buffer size for what the kernel sends at once.
inline constexpr std::size_t kDatagram = 64 << 10;
/// Microseconds. The kernel answers immediately: a later answer was lost.
inline constexpr int kPatience = 500'000;
/// Offset of the four bytes of an IPv4 address in an IpAddress.
inline constexpr std::size_t kV4At = 12;
/// What the length of an IPv4 prefix is less than that of its IPv4-mapped form.
inline constexpr std::uint8_t kMappedBits = 96;

/// An address as the kernel has it, of 4 or 16 bytes; `::` for another size.
inline IpAddress address_of(const void* bytes, std::size_t size) {
  IpAddress address;
  if (size == 4) {
    address.bytes[kV4At - 2] = address.bytes[kV4At - 1] = 0xff;
    std::memcpy(address.bytes.data() + kV4At, bytes, 4);
  } else if (size == 16) {
    std::memcpy(address.bytes.data(), bytes, 16);
  }
  return address;
}

/// One request, or several that are sent together.
class Messages {
 public:
  /// Begins a request, which lasts until the next one begins, or `finish`.
  void begin(std::uint16_t type, std::uint16_t flags, std::uint32_t sequence) {
    end();
    begun_ = bytes_.size();
    open_ = true;
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    header.nlmsg_seq = sequence;
    add(&header, sizeof header);
  }
  void add(const void* bytes, std::size_t size) {
    const auto* const from = static_cast<const char*>(bytes);
    bytes_.insert(bytes_.end(), from, from + size);
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
  }
  void attribute(std::uint16_t type, const void* bytes, std::size_t size) {
    const nlattr head{static_cast<std::uint16_t>(sizeof(nlattr) + size), type};
    add(&head, sizeof head);
    add(bytes, size);
  }
  void number(std::uint16_t type, std::uint32_t value) { attribute(type, &value, sizeof value); }
  /// The 4 or 16 bytes of its family.
  void address(std::uint16_t type, const IpAddress& value) {
    const std::size_t from = value.is_v4() ? kV4At : 0;
    attribute(type, value.bytes.data() + from, value.bytes.size() - from);
  }
  /// Adds a string with its terminating zero.
  void text(std::uint16_t type, std::string_view value) {
    const nlattr head{static_cast<std::uint16_t>(sizeof(nlattr) + value.size() + 1), type};
    add(&head, sizeof head);
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    bytes_.push_back(0);
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
  }
  /// Nests the attributes that `inside` adds. They must be shorter than 64 KiB.
  template <typename Inside>
  void nest(std::uint16_t type, Inside inside) {
    const std::size_t at = bytes_.size();
    nlattr head{0, static_cast<std::uint16_t>(type | NLA_F_NESTED)};
    add(&head, sizeof head);
    inside();
    head.nla_len = static_cast<std::uint16_t>(bytes_.size() - at);
    std::memcpy(bytes_.data() + at, &head, sizeof head);
  }
  const std::vector<char>& finish() {
    end();
    return bytes_;
  }

 private:
  void end() {
    if (!open_) return;
    open_ = false;
    const auto size = static_cast<std::uint32_t>(bytes_.size() - begun_);
    std::memcpy(bytes_.data() + begun_, &size, sizeof size);
  }

  std::vector<char> bytes_;
  std::size_t begun_ = 0;
  bool open_ = false;
};

template <typename Value>
Value value_of(const char* bytes, std::size_t size) {
  Value value{};
  std::memcpy(&value, bytes, std::min(size, sizeof value));
  return value;
}

/// Calls `take(type, bytes, size)` for each attribute.
template <typename Take>
void each_attribute(const char* at, std::size_t size, Take take) {
  while (size >= sizeof(nlattr)) {
    const auto head = value_of<nlattr>(at, size);
    if (head.nla_len < sizeof head || head.nla_len > size) return;
    take(static_cast<std::uint16_t>(head.nla_type & NLA_TYPE_MASK), at + sizeof head, head.nla_len - sizeof head);
    const std::size_t step = std::min<std::size_t>(NLA_ALIGN(head.nla_len), size);
    at += step;
    size -= step;
  }
}

/// Calls `take(header, body, size)` for each message of a datagram, for as long as it returns true.
template <typename Take>
void each_message(const char* at, std::size_t left, Take take) {
  while (left >= sizeof(nlmsghdr)) {
    const auto header = value_of<nlmsghdr>(at, left);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > left) return;
    if (!take(header, at + sizeof header, header.nlmsg_len - sizeof header)) return;
    const std::size_t step = std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), left);
    at += step;
    left -= step;
  }
}

}  // namespace edge::net::netlink
