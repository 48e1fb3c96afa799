#include "net/client/name_queries.h"

#include <arpa/nameser.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <span>
#include <thread>
#include <utility>

#include <ares.h>
#include <poll.h>
#include <unistd.h>

#include "net/client/answer_lifetime.h"
#include "net/socket.h"

namespace edge::net::client {
namespace {

using Clock = std::chrono::steady_clock;
using Outcome = NameAnswer::Outcome;

IpAddress address_of(const sockaddr& from) {
  IpAddress address;
  if (from.sa_family == AF_INET) {
    address.bytes[10] = address.bytes[11] = 0xff;
    std::memcpy(address.bytes.data() + 12, &reinterpret_cast<const sockaddr_in&>(from).sin_addr, 4);
  } else {
    std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6&>(from).sin6_addr, 16);
  }
  return address;
}

NameAnswer failed(int status) {
  const bool nothing = status == ARES_ENOTFOUND || status == ARES_ENODATA;
  return {.outcome = nothing ? Outcome::kNothing : Outcome::kFailed, .error = ::ares_strerror(status)};
}

NameAnswer addresses_of(int status, const ares_addrinfo* from) {
  if (status != ARES_SUCCESS || from == nullptr) return failed(status);
  NameAnswer answer{.outcome = Outcome::kFound};
  int least = std::numeric_limits<int>::max();
  for (const ares_addrinfo_cname* one = from->cnames; one != nullptr; one = one->next)
    least = std::min(least, one->ttl);
  for (const ares_addrinfo_node* one = from->nodes; one != nullptr; one = one->ai_next) {
    if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
    least = std::min(least, one->ai_ttl);
    if (answer.addresses.size() >= kMostRecords) continue;
    const IpAddress address = address_of(*one->ai_addr);
    if (std::ranges::find(answer.addresses, address) == answer.addresses.end()) answer.addresses.push_back(address);
  }
  answer.lifetime = std::chrono::seconds(std::max(0, least));
  if (answer.addresses.empty()) return {.outcome = Outcome::kNothing, .error = "the name has no address"};
  return answer;
}

NameAnswer services_of(int status, const unsigned char* bytes, int size) {
  if (status != ARES_SUCCESS || bytes == nullptr) return failed(status);
  ares_srv_reply* first = nullptr;
  const int parsed = ::ares_parse_srv_reply(bytes, size, &first);
  const std::unique_ptr<ares_srv_reply, decltype(&::ares_free_data)> owner(first, &::ares_free_data);
  if (parsed != ARES_SUCCESS) return failed(parsed);
  NameAnswer answer{.outcome = Outcome::kFound};
  for (const ares_srv_reply* one = first; one != nullptr && answer.targets.size() < kMostRecords; one = one->next) {
    answer.targets.push_back({one->host, one->port, one->priority, one->weight});
  }
  answer.lifetime = least_lifetime({bytes, static_cast<std::size_t>(size)});
  if (answer.targets.empty()) return {.outcome = Outcome::kNothing, .error = "the name has no SRV record"};
  return answer;
}

/// Version of the resolv.conf that a channel was created from.
struct FileVersion {
  ino_t inode = 0;
  timespec changed{};

  static FileVersion of(const char* path) {
    struct stat status{};
    if (::stat(path, &status) != 0) return {};
    return {.inode = status.st_ino, .changed = status.st_mtim};
  }
  friend bool operator==(const FileVersion& one, const FileVersion& other) {
    return one.inode == other.inode && one.changed.tv_sec == other.changed.tv_sec &&
           one.changed.tv_nsec == other.changed.tv_nsec;
  }
};

}  // namespace

/// Only the thread uses the members, except `woken` and `ending`.
struct NameQueries::State {
  /// What c-ares hands back with an answer.
  struct Query {
    State& state;
    std::string name;
    bool services;
    Done done;
  };

  State(NameQueryOptions from, std::function<Time()> to_do) : options(std::move(from)), work(std::move(to_do)) {}

  void run();
  bool open_channel();
  void close_channel();
  void begin(std::unique_ptr<Query> query);
  void wait_for_servers(Time until);
  static void on_addresses(void* argument, int status, int timeouts, ares_addrinfo* answer);
  static void on_services(void* argument, int status, int timeouts, unsigned char* bytes, int size);
  /// Hands the answer over; of a channel that was closed the question is kept for the next one.
  static void finish(std::unique_ptr<Query> query, int status, NameAnswer answer);
  void wake() const;

  NameQueryOptions options;
  std::function<Time()> work;
  Fd woken;  ///< an eventfd, made before the thread
  std::atomic<bool> ending = false;
  std::thread thread;

  std::vector<std::unique_ptr<Query>> queue;  ///< not yet begun
  ares_channel channel = nullptr;
  FileVersion configuration;
};

void NameQueries::State::run() {
  while (!ending) {
    const Time next = work();
    // Made anew for another resolv.conf. What was asked for over the old channel then comes back to the queue.
    const bool open = queue.empty() || open_channel();
    for (std::unique_ptr<Query>& query : std::exchange(queue, {})) {
      if (open) {
        begin(std::move(query));
      } else {
        query->done({.error = "name resolution cannot be set up"});
        wake();
      }
    }
    wait_for_servers(next);
  }
  close_channel();
}

bool NameQueries::State::open_channel() {
  const FileVersion now = FileVersion::of(options.configuration.c_str());
  if (channel != nullptr && now == configuration) return true;
  close_channel();
  configuration = now;
  ares_options settings{};
  settings.timeout = static_cast<int>(options.patience.count());
  settings.tries = options.tries;
  settings.resolvconf_path = options.configuration.data();
  if (::ares_init_options(&channel, &settings, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_RESOLVCONF) !=
      ARES_SUCCESS) {
    channel = nullptr;
    return false;
  }
  if (!options.servers.empty()) ::ares_set_servers_ports_csv(channel, options.servers.c_str());
  return true;
}

void NameQueries::State::close_channel() {
  if (channel != nullptr) ::ares_destroy(std::exchange(channel, nullptr));
}

void NameQueries::State::begin(std::unique_ptr<Query> query) {
  Query* const handed = query.release();
  const char* const name = handed->name.c_str();
  if (handed->services) {
    ::ares_search(channel, name, ns_c_in, ns_t_srv, &on_services, handed);
    return;
  }
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  ::ares_getaddrinfo(channel, name, nullptr, &hints, &on_addresses, handed);
}

void NameQueries::State::wait_for_servers(Time until) {
  std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
  std::vector<pollfd> ready{{.fd = woken.get(), .events = POLLIN, .revents = 0}};
  auto left = std::chrono::milliseconds(-1);
  if (until != Time::max()) {
    left = std::max(std::chrono::milliseconds(0), std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()));
  }
  if (channel != nullptr) {
    const int wanted = ::ares_getsock(channel, sockets.data(), static_cast<int>(sockets.size()));
    for (unsigned i = 0; i < sockets.size(); ++i) {
      short events = 0;
      if (ARES_GETSOCK_READABLE(wanted, i)) events |= POLLIN;
      if (ARES_GETSOCK_WRITABLE(wanted, i)) events |= POLLOUT;
      if (events != 0) ready.push_back({.fd = sockets[i], .events = events, .revents = 0});
    }
    timeval patience{};
    if (::ares_timeout(channel, nullptr, &patience) != nullptr) {
      const std::chrono::milliseconds bound(patience.tv_sec * 1000 + (patience.tv_usec + 999) / 1000);
      left = left.count() < 0 ? bound : std::min(left, bound);
    }
  }
  constexpr std::int64_t kLongest = 3'600'000;
  ::poll(ready.data(), ready.size(), static_cast<int>(std::min<std::int64_t>(left.count(), kLongest)));
  eventfd_t count = 0;
  ::eventfd_read(woken.get(), &count);
  if (channel == nullptr) return;
  // Without a socket it looks which queries have waited too long.
  ::ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  for (const pollfd& one : std::span(ready).subspan(1)) {
    const bool readable = (one.revents & ~POLLOUT) != 0;
    const bool writable = (one.revents & (POLLOUT | POLLERR | POLLHUP)) != 0;
    if (readable || writable) {
      ::ares_process_fd(channel, readable ? one.fd : ARES_SOCKET_BAD, writable ? one.fd : ARES_SOCKET_BAD);
    }
  }
}

void NameQueries::State::on_addresses(void* argument, int status, int /*timeouts*/, ares_addrinfo* answer) {
  std::unique_ptr<Query> query(static_cast<Query*>(argument));
  const std::unique_ptr<ares_addrinfo, decltype(&::ares_freeaddrinfo)> owner(answer, &::ares_freeaddrinfo);
  finish(std::move(query), status, addresses_of(status, answer));
}

void NameQueries::State::on_services(void* argument, int status, int /*timeouts*/, unsigned char* bytes, int size) {
  finish(std::unique_ptr<Query>(static_cast<Query*>(argument)), status, services_of(status, bytes, size));
}

void NameQueries::State::finish(std::unique_ptr<Query> query, int status, NameAnswer answer) {
  State& state = query->state;
  if (status == ARES_EDESTRUCTION) {
    if (!state.ending) state.queue.push_back(std::move(query));
    return;
  }
  query->done(std::move(answer));
  // The answer may have come in the call that asked, where nobody is about to look.
  state.wake();
}

void NameQueries::State::wake() const { ::eventfd_write(woken.get(), 1); }

NameQueries::NameQueries(NameQueryOptions options, std::function<Time()> work)
    : state_(std::make_unique<State>(std::move(options), std::move(work))) {}

NameQueries::~NameQueries() {
  state_->ending = true;
  if (!state_->thread.joinable()) return;
  state_->wake();
  state_->thread.join();
}

bool NameQueries::start() {
  State& state = *state_;
  if (!state.woken.valid()) state.woken.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!state.woken.valid()) return false;
  if (!state.thread.joinable()) state.thread = std::thread([&state] { state.run(); });
  return true;
}

void NameQueries::wake() const { state_->wake(); }

void NameQueries::ask_addresses(std::string host, Done done) {
  state_->queue.push_back(
      std::make_unique<State::Query>(State::Query{*state_, std::move(host), false, std::move(done)}));
}

void NameQueries::ask_services(std::string name, Done done) {
  state_->queue.push_back(
      std::make_unique<State::Query>(State::Query{*state_, std::move(name), true, std::move(done)}));
}

}  // namespace edge::net::client
