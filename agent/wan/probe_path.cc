#include "agent/wan/probe_path.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "agent/wan/stamp.h"

namespace edge::agent::wan {
namespace {

/// The quality is computed as often as a tenth of its window passes, and at least every ten seconds.
constexpr int kPartsOfWindow = 10;
constexpr Time kLongestUntilQuality = std::chrono::seconds(10);
constexpr Time kShortestUntilQuality = std::chrono::milliseconds(250);
constexpr std::uint8_t kEchoRequestV6 = 128;
constexpr std::uint8_t kEchoReplyV6 = 129;
constexpr std::size_t kMostConnecting = 64;

/// An echo request: type, code, checksum, id, sequence (RFC 792, RFC 4443), then number and secret.
struct Echo {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint16_t checksum = 0;
  std::uint16_t id = 0;
  std::uint16_t sequence = 0;
  std::uint32_t number = 0;
  std::uint32_t zero = 0;
  std::uint64_t secret = 0;
};
static_assert(sizeof(Echo) == 24);

std::uint16_t checksum_of(const Echo& echo) {
  std::array<std::uint16_t, sizeof(Echo) / 2> words{};
  std::memcpy(words.data(), &echo, sizeof echo);
  std::uint32_t sum = 0;
  for (const std::uint16_t word : words) sum += word;
  while (sum >> 16U != 0) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

bool same(const Limits& one, const Limits& other) {
  return one.loss == other.loss && one.latency == other.latency && one.jitter == other.jitter;
}

bool same(const ProbeSettings& one, const ProbeSettings& other) {
  return one.interval == other.interval && one.timeout == other.timeout && one.window == other.window;
}

std::vector<std::pair<Limits, Fitness>> fitnesses(const std::vector<Limits>& limits,
                                                  const std::vector<std::pair<Limits, Fitness>>& kept) {
  std::vector<std::pair<Limits, Fitness>> all;
  for (const Limits& one : limits) {
    const auto known = std::ranges::find_if(kept, [&](const auto& entry) { return same(entry.first, one); });
    all.emplace_back(one, known == kept.end() ? Fitness(one) : known->second);
  }
  return all;
}

}  // namespace

ProbePath::ProbePath(PathSpec spec, std::vector<Limits> limits, int epoll, std::uint32_t id)
    : spec_(std::move(spec)), epoll_(epoll), id_(id), meter_(spec_.probe), fitness_(fitnesses(limits, {})) {
  std::random_device random;
  secret_ = std::uint64_t{random()} << 32U | random();
}

ProbePath::~ProbePath() { close(); }

void ProbePath::change(PathSpec spec, std::vector<Limits> limits) {
  const bool other_way = spec.kind != spec_.kind || spec.route != spec_.route || spec.there != spec_.there;
  if (!same(spec.probe, spec_.probe) || spec.kind != spec_.kind) {
    meter_ = PathMeter(spec.probe);
    fitness_.clear();
    quality_ = {};
    quality_due_ = {};
  }
  fitness_ = fitnesses(limits, fitness_);
  spec_ = std::move(spec);
  if (other_way) close();
}

void ProbePath::close() {
  fd_.reset();
  connecting_.clear();
}

void ProbePath::watch(int fd, std::uint32_t events) const {
  epoll_event event{.events = events, .data = {.u64 = std::uint64_t{id_} << 32U | static_cast<std::uint32_t>(fd)}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
}

bool ProbePath::open() {
  if (!spec_.there) return fault_ = "there is no such path now", false;
  if (spec_.kind == ProbeKind::kTcp || fd_.valid()) return true;
  if (spec_.kind == ProbeKind::kStamp) {
    auto fd = open_query_socket(spec_.route);
    if (!fd) return fail(fd.error()), false;
    fd_ = std::move(*fd);
  } else {
    auto echo = open_echo_socket(spec_.route);
    if (!echo) return fail(echo.error()), false;
    fd_ = std::move(echo->fd);
    raw_ = echo->raw;
  }
  watch(fd_.get(), EPOLLIN);
  return true;
}

void ProbePath::send(Time now) {
  advance(now);
  // What cannot be sent is lost.
  const bool opened = open();
  const std::uint32_t number = meter_.sent(boot_now());
  if (!opened) return;
  fault_.clear();
  switch (spec_.kind) {
    case ProbeKind::kStamp:
      return send_query(number);
    case ProbeKind::kIcmp:
      return send_echo(number);
    case ProbeKind::kTcp:
      return connect(number, now);
  }
}

void ProbePath::send_query(std::uint32_t number) {
  const std::string packet =
      write_query({.number = number, .sent = {.nanoseconds = wall_now()}, .session = spec_.session}, spec_.key);
  // An error of an earlier probe (ICMP says that nobody listens) is returned here, and this one not sent.
  if (::send(fd_.get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return;
  if (::send(fd_.get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return;
  fault_ = std::strerror(errno);
  // The address or the link that it is bound to is gone: another one may be there.
  if (errno != EAGAIN && errno != ENOBUFS) close();
}

void ProbePath::send_echo(std::uint32_t number) {
  Echo echo{.type = spec_.route.to.address.is_v4() ? static_cast<std::uint8_t>(ICMP_ECHO) : kEchoRequestV6,
            .id = static_cast<std::uint16_t>(secret_),
            .sequence = htons(static_cast<std::uint16_t>(number)),
            .number = number,
            .secret = secret_};
  echo.checksum = checksum_of(echo);
  if (::send(fd_.get(), &echo, sizeof echo, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return;
  if (::send(fd_.get(), &echo, sizeof echo, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return;
  fault_ = std::strerror(errno);
  if (errno != EAGAIN && errno != ENOBUFS) close();
}

void ProbePath::connect(std::uint32_t number, Time now) {
  std::erase_if(connecting_, [&](const auto& entry) { return now - entry.second.sent > spec_.probe.timeout; });
  if (connecting_.size() >= kMostConnecting) return;
  auto fd = open_tcp_probe(spec_.route);
  if (!fd) return fail(fd.error());
  watch(fd->get(), EPOLLOUT);
  const int key = fd->get();
  connecting_.insert_or_assign(key, Connecting{std::move(*fd), number, boot_now()});
}

void ProbePath::ready(int fd) {
  if (const auto found = connecting_.find(fd); found != connecting_.end()) return connected(fd);
  if (fd != fd_.get()) return;
  std::array<char, kStampLongest + 1> packet;
  const auto received = receive_probe(fd, packet);
  if (!received) {
    // ICMP says that nobody is there. That is no answer: the path may lead elsewhere than meant.
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return;
  }
  const std::string_view bytes(packet.data(), received->size);
  spec_.kind == ProbeKind::kStamp ? take_reply(bytes, received->arrived) : take_echo(bytes, received->arrived);
}

void ProbePath::take_reply(std::string_view packet, Time arrived) {
  const auto reply = read_reply(packet, spec_.key);
  if (!reply || reply->query.session != spec_.session) return;
  const bool counted = meter_.answered({.number = reply->query.number,
                                        .arrived = arrived,
                                        .reflector_received = Time(reply->received.nanoseconds),
                                        .reflector_sent = Time(reply->sent.nanoseconds),
                                        // The reflector's number before this one, from zero.
                                        .reflector_count = reply->number});
  if (counted) last_answer_ms_ = wall_now() / 1'000'000;
}

void ProbePath::take_echo(std::string_view packet, Time arrived) {
  const bool v4 = spec_.route.to.address.is_v4();
  if (raw_ && v4 && !packet.empty()) {
    packet.remove_prefix(std::min<std::size_t>(packet.size(), (static_cast<std::uint8_t>(packet[0]) & 0xfU) * 4U));
  }
  Echo echo;
  if (packet.size() < sizeof echo) return;
  std::memcpy(&echo, packet.data(), sizeof echo);
  if (echo.type != (v4 ? static_cast<std::uint8_t>(ICMP_ECHOREPLY) : kEchoReplyV6) || echo.secret != secret_) return;
  answered(echo.number, arrived);
}

void ProbePath::connected(int fd) {
  const auto found = connecting_.find(fd);
  const Time now = boot_now();
  const int error = net::connect_error(fd);
  Time arrived = now;
  tcp_info info{};
  socklen_t size = sizeof info;
  // The kernel's own measurement of the handshake: without the time until this thread ran.
  if (error == 0 && ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_rtt > 0) {
    arrived = std::min(now, found->second.sent + std::chrono::microseconds(info.tcpi_rtt));
  }
  const std::uint32_t number = found->second.number;
  connecting_.erase(found);
  // Who refuses is there.
  if (error == 0 || error == ECONNREFUSED) answered(number, arrived);
}

/// An answer that tells nothing of either way alone.
void ProbePath::answered(std::uint32_t number, Time arrived) {
  const bool counted =
      meter_.answered({.number = number, .arrived = arrived, .reflector_received = arrived, .reflector_sent = arrived});
  if (counted) last_answer_ms_ = wall_now() / 1'000'000;
}

void ProbePath::advance(Time now) {
  meter_.advance(now);
  const std::vector<Outcome> outcomes = meter_.take_outcomes();
  for (auto& [limits, fitness] : fitness_) fitness.add(meter_, outcomes);
  if (now < quality_due_) return;
  quality_ = meter_.quality();
  quality_due_ = now + std::clamp<Time>(spec_.probe.interval * spec_.probe.window / kPartsOfWindow,
                                        kShortestUntilQuality, kLongestUntilQuality);
}

}  // namespace edge::agent::wan
