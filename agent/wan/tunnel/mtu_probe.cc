#include "agent/wan/tunnel/mtu_probe.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <unistd.h>

namespace edge::agent::wan {
namespace {

/// RFC 791: what every network of IPv4 carries whole, in practice.
constexpr std::uint32_t kLeastMtu = 576;
/// Not worth another probe.
constexpr std::uint32_t kStep = 8;
constexpr auto kProbePatience = std::chrono::seconds(1);
constexpr auto kSearchAgain = std::chrono::minutes(10);
constexpr std::size_t kIpHeader = 20;
constexpr std::size_t kIp6Header = 40;
constexpr std::size_t kEchoHeader = 8;

std::uint16_t checksum(const std::vector<unsigned char>& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    sum += static_cast<std::uint32_t>(bytes[i]) << 8;
    if (i + 1 < bytes.size()) sum += bytes[i + 1];
  }
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace

std::optional<std::uint32_t> MtuSearch::next() const { return over_ ? std::nullopt : std::optional(size_); }

void MtuSearch::passed() {
  good_ = size_;
  over_ = bad_ == 0 || bad_ - good_ <= kStep;
  if (!over_) size_ = good_ + (bad_ - good_) / 2;
}

void MtuSearch::lost() {
  bad_ = size_;
  const std::uint32_t least = std::min(kLeastMtu, most_);
  // Nothing has passed yet: the smallest first, as the tunnel itself may be silent.
  over_ = size_ == least || (good_ != 0 && bad_ - good_ <= kStep);
  if (!over_) size_ = good_ == 0 ? least : good_ + (bad_ - good_) / 2;
}

std::optional<std::uint32_t> MtuSearch::found() const {
  return over_ && good_ != 0 ? std::optional(good_) : std::nullopt;
}

MtuProber::MtuProber() : identity_(static_cast<std::uint16_t>(::getpid())) {
  v4_ = net::Fd(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMP));
  v6_ = net::Fd(::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMPV6));
  const int probe = IP_PMTUDISC_PROBE;
  const int probe6 = IPV6_PMTUDISC_PROBE;
  ::setsockopt(v4_.get(), IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof probe);
  ::setsockopt(v6_.get(), IPPROTO_IPV6, IPV6_MTU_DISCOVER, &probe6, sizeof probe6);
}

bool MtuProber::send(std::uint16_t sequence, std::uint32_t mark, const IpAddress& peer, std::uint32_t size) const {
  const bool v4 = peer.is_v4();
  const net::Fd& fd = v4 ? v4_ : v6_;
  if (!fd.valid()) return false;
  std::vector<unsigned char> packet(std::max<std::size_t>(size - (v4 ? kIpHeader : kIp6Header), kEchoHeader), 0);
  packet[0] = v4 ? ICMP_ECHO : ICMP6_ECHO_REQUEST;
  packet[4] = static_cast<unsigned char>(identity_ >> 8);
  packet[5] = static_cast<unsigned char>(identity_);
  packet[6] = static_cast<unsigned char>(sequence >> 8);
  packet[7] = static_cast<unsigned char>(sequence);
  // Of ICMPv6 the kernel makes it.
  const std::uint16_t sum = v4 ? checksum(packet) : std::uint16_t{0};
  packet[2] = static_cast<unsigned char>(sum >> 8);
  packet[3] = static_cast<unsigned char>(sum);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_MARK, &mark, sizeof mark);
  if (v4) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    std::memcpy(&to.sin_addr, peer.bytes.data() + 12, sizeof to.sin_addr);
    return ::sendto(fd.get(), packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) > 0;
  }
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  std::memcpy(&to.sin6_addr, peer.bytes.data(), sizeof to.sin6_addr);
  return ::sendto(fd.get(), packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) > 0;
}

void MtuProber::work(const std::string& name, std::uint32_t mark, const IpAddress& peer, std::uint32_t most, Time now) {
  auto [found, made] = tunnels_.try_emplace(name, Tunnel{.search = MtuSearch(most)});
  Tunnel& tunnel = found->second;
  const bool again = tunnel.known && now >= tunnel.next;
  if (!made && (tunnel.search.most() != most || again)) {
    tunnel.search = MtuSearch(most);
    tunnel.known = false;
    tunnel.sequence = 0;
    tunnel.tries = 0;
  }
  if (tunnel.sequence != 0 && now - tunnel.sent >= kProbePatience) {
    tunnel.sequence = 0;
    if (tunnel.tries >= MtuSearch::kTries) {
      tunnel.search.lost();
      tunnel.tries = 0;
    }
  }
  const auto size = tunnel.search.next();
  if (!size && !tunnel.known) {
    tunnel.known = true;
    tunnel.mtu = tunnel.search.found();
    tunnel.next = now + kSearchAgain;
  }
  if (!size || tunnel.sequence != 0) return;
  if (++sequence_ == 0) ++sequence_;
  tunnel.sequence = sequence_;
  tunnel.sent = now;
  ++tunnel.tries;
  // One that cannot be sent is lost, too.
  send(tunnel.sequence, mark, peer, *size);
}

void MtuProber::take(const unsigned char* icmp, std::size_t size, unsigned char reply) {
  if (size < kEchoHeader || icmp[0] != reply) return;
  const auto identity = static_cast<std::uint16_t>(icmp[4] << 8 | icmp[5]);
  const auto sequence = static_cast<std::uint16_t>(icmp[6] << 8 | icmp[7]);
  if (identity != identity_ || sequence == 0) return;
  for (auto& [name, tunnel] : tunnels_) {
    if (tunnel.sequence != sequence) continue;
    tunnel.sequence = 0;
    tunnel.tries = 0;
    tunnel.search.passed();
  }
}

void MtuProber::take_answers() {
  std::array<unsigned char, 10'000> buffer{};
  // Other programs' echoes come here, too: no more at a time than a beat has use for.
  for (int i = 0; i < 1000; ++i) {
    const ssize_t size = ::recv(v4_.get(), buffer.data(), buffer.size(), 0);
    if (size < static_cast<ssize_t>(kIpHeader)) break;
    const std::size_t header = static_cast<std::size_t>(buffer[0] & 15) * 4;
    if (header > static_cast<std::size_t>(size)) continue;
    take(buffer.data() + header, static_cast<std::size_t>(size) - header, ICMP_ECHOREPLY);
  }
  for (int i = 0; i < 1000; ++i) {
    const ssize_t size = ::recv(v6_.get(), buffer.data(), buffer.size(), 0);
    if (size <= 0) break;
    take(buffer.data(), static_cast<std::size_t>(size), ICMP6_ECHO_REPLY);
  }
}

std::uint32_t MtuProber::mtu(const std::string& name, std::uint32_t most) const {
  const auto found = tunnels_.find(name);
  if (found == tunnels_.end()) return std::min(most, kSafeMtu);
  const Tunnel& tunnel = found->second;
  if (tunnel.mtu) return std::min(*tunnel.mtu, most);
  // Who answers nothing may carry everything.
  return tunnel.known ? most : std::min(most, kSafeMtu);
}

bool MtuProber::searching() const {
  return std::ranges::any_of(tunnels_, [](const auto& entry) { return !entry.second.known; });
}

}  // namespace edge::agent::wan
