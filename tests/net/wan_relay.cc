#include "tests/net/wan_relay.h"

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "net/socket.h"

namespace edge::test {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kLongestFrame = 9216;
constexpr std::size_t kKeptDelays = 10'000;
constexpr std::size_t kAtOnce = 64;  ///< frames of one interface before others have their turn
constexpr std::size_t kIpv6Header = 40;
constexpr std::size_t kEthernet = sizeof(ether_header);

Error failure(const std::string& what) { return {ErrorCode::kUnavailable, what + ": " + std::strerror(errno)}; }

nanoseconds clock_now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

/// Whether it would cross a wide area network: IP to one machine, and not about neighbours.
bool counts(std::string_view frame) {
  if (frame.size() < kEthernet || (static_cast<unsigned char>(frame[0]) & 1) != 0) return false;
  ether_header header{};
  std::memcpy(&header, frame.data(), sizeof header);
  if (ntohs(header.ether_type) == ETHERTYPE_IP) return true;
  if (ntohs(header.ether_type) != ETHERTYPE_IPV6) return false;
  if (frame.size() <= kEthernet + kIpv6Header) return true;
  const auto type = static_cast<unsigned char>(frame[kEthernet + kIpv6Header]);
  const bool neighbours = frame[kEthernet + 6] == IPPROTO_ICMPV6 && type >= 133 && type <= 137;
  return !neighbours;
}

nanoseconds median(std::vector<nanoseconds> values) {
  if (values.empty()) return nanoseconds(0);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Result<net::Fd> open_port(const std::string& interface) {
  net::Fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return failure("socket");
  const int on = 1;
  const int buffer = 16 << 20;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  ::setsockopt(fd.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
  ::setsockopt(fd.get(), SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  if (address.sll_ifindex == 0) return failure(interface);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return failure(interface);
  return fd;
}

/// One way of one line.
struct Direction {
  int from = -1;
  int to = -1;
  WanPath path{};
  WanFigures figures{};
  std::deque<nanoseconds> delays{};
  std::mt19937_64 random{};
  bool losing = false;
  nanoseconds busy_until{0};  ///< the link sends what came before
  nanoseconds last_release{0};
  struct Waiting {
    nanoseconds release;
    nanoseconds arrived;
    std::string frame;
  };
  std::deque<Waiting> waiting{};

  double draw() { return static_cast<double>(random() >> 11) * 0x1p-53; }
  bool loses(double drawn);
  void take(std::string_view frame, nanoseconds arrived);
  void release(nanoseconds now);
};

/// A chain of two states (Gilbert): all is lost in one, nothing in the other.
bool Direction::loses(double drawn) {
  if (path.loss <= 0) return losing = false;
  const double begins = path.loss / ((1 - path.loss) * path.burst);
  losing = losing ? drawn >= 1 / path.burst : drawn < begins;
  if (path.burst <= 1) losing = drawn < path.loss;
  return losing;
}

void Direction::take(std::string_view frame, nanoseconds arrived) {
  if (!counts(frame)) {
    ::send(to, frame.data(), frame.size(), 0);
    return;
  }
  ++figures.arrived;
  // Always two numbers a packet: what is set meanwhile changes nothing about those to come.
  const double for_loss = draw();
  const double for_jitter = draw();
  const bool lost = loses(for_loss);
  if (path.blackhole) return void(++figures.swallowed);
  if (path.mtu != 0 && frame.size() > path.mtu + kEthernet) return void(++figures.too_long);
  if (lost) return void(++figures.lost);
  nanoseconds sent = arrived;
  if (path.rate != 0) {
    const double seconds = static_cast<double>(frame.size()) * 8 / static_cast<double>(path.rate);
    const nanoseconds begins = std::max(busy_until, arrived);
    if (begins - arrived > path.queue) return void(++figures.overflowed);
    sent = busy_until = begins + nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  }
  const double spread = (2 * for_jitter - 1) * static_cast<double>(path.jitter.count());
  last_release = std::max(last_release, sent + path.delay + nanoseconds(static_cast<std::int64_t>(spread)));
  waiting.push_back({last_release, arrived, std::string(frame)});
}

void Direction::release(nanoseconds now) {
  for (; !waiting.empty() && waiting.front().release <= now; waiting.pop_front()) {
    const Waiting& due = waiting.front();
    if (::send(to, due.frame.data(), due.frame.size(), 0) < 0) {
      ++figures.overflowed;
      continue;
    }
    ++figures.forwarded;
    figures.bytes += due.frame.size();
    delays.push_back(clock_now(CLOCK_MONOTONIC) - due.arrived);
    if (delays.size() > kKeptDelays) delays.pop_front();
  }
}

}  // namespace

struct WanRelay::Impl {
  std::vector<net::Fd> ports;
  net::Fd wake;
  std::atomic<bool> ends = false;
  mutable std::mutex mutex;  ///< directions
  std::map<std::pair<std::string, Way>, Direction> directions;
  std::thread thread;

  void run();
  void receive(Direction& direction) const;
};

void WanRelay::Impl::receive(Direction& direction) const {
  std::array<char, kLongestFrame> frame;
  alignas(cmsghdr) std::array<char, 256> control;
  for (std::size_t i = 0; i < kAtOnce; ++i) {
    iovec piece{.iov_base = frame.data(), .iov_len = frame.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(direction.from, &message, MSG_TRUNC);
    if (size <= 0) return;
    if (static_cast<std::size_t>(size) > frame.size()) continue;
    const nanoseconds now = clock_now(CLOCK_MONOTONIC);
    nanoseconds arrived = now;
    for (cmsghdr* item = CMSG_FIRSTHDR(&message); item != nullptr; item = CMSG_NXTHDR(&message, item)) {
      if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_TIMESTAMPNS) continue;
      timespec stamp{};
      std::memcpy(&stamp, CMSG_DATA(item), sizeof stamp);
      const nanoseconds age =
          clock_now(CLOCK_REALTIME) - (std::chrono::seconds(stamp.tv_sec) + nanoseconds(stamp.tv_nsec));
      // A clock that was set meanwhile would make it absurd.
      if (age > nanoseconds(0) && age < std::chrono::seconds(1)) arrived = now - age;
    }
    direction.take({frame.data(), static_cast<std::size_t>(size)}, arrived);
  }
}

void WanRelay::Impl::run() {
  // What it may not do, it does not need: the delays become less even.
  const sched_param first{.sched_priority = 10};
  ::sched_setscheduler(0, SCHED_FIFO, &first);
  ::prctl(PR_SET_TIMERSLACK, 1);
  std::vector<pollfd> polled;
  polled.push_back({.fd = wake.get(), .events = POLLIN, .revents = 0});
  for (const auto& [key, direction] : directions)
    polled.push_back({.fd = direction.from, .events = POLLIN, .revents = 0});
  while (!ends) {
    nanoseconds next = std::chrono::seconds(1);
    {
      const std::lock_guard lock(mutex);
      for (auto& [key, direction] : directions) {
        receive(direction);
        direction.release(clock_now(CLOCK_MONOTONIC));
        if (direction.waiting.empty()) continue;
        next = std::min(next, direction.waiting.front().release - clock_now(CLOCK_MONOTONIC));
      }
    }
    if (next <= nanoseconds(0)) continue;
    const timespec wait{.tv_sec = next.count() / 1'000'000'000, .tv_nsec = next.count() % 1'000'000'000};
    ::ppoll(polled.data(), polled.size(), &wait, nullptr);
  }
}

WanRelay::WanRelay(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

WanRelay::~WanRelay() {
  impl_->ends = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(impl_->wake.get(), &one, sizeof one);
  if (impl_->thread.joinable()) impl_->thread.join();
}

Result<std::unique_ptr<WanRelay>> WanRelay::start(const std::vector<WanLine>& lines, std::uint64_t seed) {
  auto impl = std::make_unique<Impl>();
  impl->wake = net::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!impl->wake.valid()) return failure("eventfd");
  for (const WanLine& line : lines) {
    auto inner = open_port(line.inner);
    if (!inner) return inner.error();
    auto outer = open_port(line.outer);
    if (!outer) return outer.error();
    for (const Way way : {Way::kUp, Way::kDown}) {
      Direction& direction = impl->directions[{line.name, way}];
      direction.from = way == Way::kUp ? inner->get() : outer->get();
      direction.to = way == Way::kUp ? outer->get() : inner->get();
      std::seed_seq sequence(line.name.begin(), line.name.end());
      std::array<std::uint32_t, 2> mixed{};
      sequence.generate(mixed.begin(), mixed.end());
      direction.random.seed(seed ^ (std::uint64_t{mixed[0]} << 32 | mixed[1]) ^ (way == Way::kUp ? 0U : ~0U));
    }
    impl->ports.push_back(std::move(*inner));
    impl->ports.push_back(std::move(*outer));
  }
  impl->thread = std::thread([running = impl.get()] { running->run(); });
  return std::unique_ptr<WanRelay>(new WanRelay(std::move(impl)));
}

bool WanRelay::set(const std::string& line, Way way, const WanPath& path) {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->directions.find({line, way});
  if (found == impl_->directions.end()) return false;
  found->second.path = path;
  return true;
}

bool WanRelay::set(const std::string& line, const WanPath& path) {
  return set(line, Way::kUp, path) && set(line, Way::kDown, path);
}

WanFigures WanRelay::figures(const std::string& line, Way way) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->directions.find({line, way});
  if (found == impl_->directions.end()) return {};
  WanFigures figures = found->second.figures;
  std::vector<nanoseconds> delays(found->second.delays.begin(), found->second.delays.end());
  std::vector<nanoseconds> changes;
  for (std::size_t i = 1; i < delays.size(); ++i) changes.push_back(std::chrono::abs(delays[i] - delays[i - 1]));
  figures.delay = median(std::move(delays));
  figures.jitter = median(std::move(changes));
  return figures;
}

void WanRelay::forget() {
  const std::lock_guard lock(impl_->mutex);
  for (auto& [key, direction] : impl_->directions) {
    direction.figures = {};
    direction.delays.clear();
  }
}

namespace {

std::optional<double> number_before(std::string_view text, std::string_view unit) {
  if (!text.ends_with(unit)) return std::nullopt;
  text.remove_suffix(unit.size());
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

using Unit = std::pair<std::string_view, double>;

std::optional<double> in_units(std::string_view text, std::initializer_list<Unit> units) {
  for (const auto& [unit, factor] : units) {
    if (const auto value = number_before(text, unit)) return *value * factor;
  }
  return std::nullopt;
}

bool read_setting(WanPath& path, std::string_view name, std::string_view value) {
  const auto time = in_units(value, {{"ms", 1e6}, {"us", 1e3}, {"s", 1e9}});
  const auto span = [&](nanoseconds& into) {
    if (time) into = nanoseconds(static_cast<std::int64_t>(*time));
    return time.has_value();
  };
  if (name == "delay") return span(path.delay);
  if (name == "jitter") return span(path.jitter);
  if (name == "queue") return span(path.queue);
  if (name == "blackhole") return path.blackhole = value.empty();
  const auto number = name == "loss"   ? in_units(value, {{"%", 0.01}})
                      : name == "rate" ? in_units(value, {{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}})
                                       : in_units(value, {{"", 1}});
  if (!number) return false;
  if (name == "loss" && *number < 1) return path.loss = *number, true;
  if (name == "burst" && *number >= 1) return path.burst = *number, true;
  if (name == "rate") return path.rate = static_cast<std::uint64_t>(*number), true;
  if (name == "mtu" && *number <= kLongestFrame) return path.mtu = static_cast<std::uint32_t>(*number), true;
  return false;
}

}  // namespace

Result<WanPath> parse_wan_path(std::string_view text) {
  WanPath path;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view value = equals == word.size() ? std::string_view() : word.substr(equals + 1);
    if (!read_setting(path, word.substr(0, equals), value)) {
      return Error{ErrorCode::kInvalidArgument, "cannot read " + std::string(word)};
    }
  }
  return path;
}

Status turn_off_offloads(const std::string& interface) {
  const net::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return failure("socket");
  for (const std::uint32_t command : {ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO}) {
    ethtool_value off{.cmd = command, .data = 0};
    ifreq request{};
    interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
    request.ifr_data = reinterpret_cast<char*>(&off);
    if (::ioctl(fd.get(), SIOCETHTOOL, &request) != 0) return failure(interface);
  }
  return {};
}

}  // namespace edge::test
