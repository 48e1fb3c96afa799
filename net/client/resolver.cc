#include "net/client/resolver.h"

#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>
#include <utility>

#include <ares.h>
#include <poll.h>
#include <unistd.h>

#include "net/socket.h"

namespace edge::net::client {
namespace {

using Clock = std::chrono::steady_clock;

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

struct Addresses {
  std::vector<IpAddress> found;  ///< in the order of RFC 6724, which c-ares knows
  std::chrono::seconds lifetime{};
};

/// The least lifetime of all records on the way to an address is that of the answer.
Addresses addresses_of(const ares_addrinfo& answer) {
  Addresses addresses;
  int least = std::numeric_limits<int>::max();
  for (const ares_addrinfo_cname* one = answer.cnames; one != nullptr; one = one->next)
    least = std::min(least, one->ttl);
  for (const ares_addrinfo_node* one = answer.nodes; one != nullptr; one = one->ai_next) {
    if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
    least = std::min(least, one->ai_ttl);
    const IpAddress address = address_of(*one->ai_addr);
    if (std::ranges::find(addresses.found, address) == addresses.found.end()) addresses.found.push_back(address);
  }
  addresses.lifetime = std::chrono::seconds(least);
  return addresses;
}

/// Which resolv.conf a channel was made of.
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

/// Who waits for a name. `waiter` is of the loop's thread; `loop` is under the mutex, and null once nobody waits.
struct Resolver::Waiting {
  Loop* loop = nullptr;
  Waiter* waiter = nullptr;
};

/// What loops and the resolver's thread share is under the mutex; the channel belongs to the thread alone.
struct Resolver::State {
  struct Name {
    std::vector<IpAddress> addresses;
    std::string error;
    Clock::time_point fresh_until{};
    Clock::time_point stale_until{};
    bool asked = false;
    std::vector<std::shared_ptr<Waiting>> waiting;
  };
  /// What c-ares hands back with an answer.
  struct Query {
    State& state;
    std::string host;
  };

  explicit State(ResolverOptions from) : options(std::move(from)) {}

  void run();
  bool open_channel();
  void close_channel();
  /// Begins with the names of the queue; whether it is to go on.
  bool begin_queries();
  void wait_for_servers();
  static void on_answer(void* argument, int status, int timeouts, ares_addrinfo* answer);
  /// `error`: empty, if there are addresses.
  void keep(const std::string& host, Addresses addresses, const std::string& error);
  bool ask(const std::string& host, Name& name);
  void wake() const { ::eventfd_write(woken.get(), 1); }
  void make_room();
  /// What is known; nullopt: somebody has to wait.
  std::optional<Found> known(const std::string& host);

  ResolverOptions options;
  Fd woken;  ///< an eventfd, made before the thread: the queue has a name, or all ends
  std::mutex mutex;
  std::unordered_map<std::string, Name> names;
  std::vector<std::string> queue;
  std::size_t asked = 0;  ///< of `names`
  bool ending = false;
  std::thread thread;

  ares_channel channel = nullptr;
  FileVersion configuration;
};

void Resolver::State::run() {
  while (begin_queries()) wait_for_servers();
  close_channel();
}

bool Resolver::State::open_channel() {
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

void Resolver::State::close_channel() {
  if (channel != nullptr) ::ares_destroy(std::exchange(channel, nullptr));
}

bool Resolver::State::begin_queries() {
  // Made anew for another resolv.conf. What was asked for over the old channel then comes back to the queue.
  const bool open = open_channel();
  std::vector<std::string> begun;
  {
    const std::lock_guard lock(mutex);
    if (ending) return false;
    begun.swap(queue);
  }
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  for (std::string& host : begun) {
    if (!open) {
      keep(host, {}, "name resolution cannot be set up");
      continue;
    }
    auto query = std::make_unique<Query>(*this, std::move(host));
    const char* const name = query->host.c_str();
    ::ares_getaddrinfo(channel, name, nullptr, &hints, &on_answer, query.release());
  }
  return true;
}

void Resolver::State::wait_for_servers() {
  std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
  std::vector<pollfd> ready{{.fd = woken.get(), .events = POLLIN, .revents = 0}};
  int milliseconds = -1;
  if (channel != nullptr) {
    const int wanted = ::ares_getsock(channel, sockets.data(), static_cast<int>(sockets.size()));
    for (unsigned i = 0; i < sockets.size(); ++i) {
      short events = 0;
      if (ARES_GETSOCK_READABLE(wanted, i)) events |= POLLIN;
      if (ARES_GETSOCK_WRITABLE(wanted, i)) events |= POLLOUT;
      if (events != 0) ready.push_back({.fd = sockets[i], .events = events, .revents = 0});
    }
    timeval left{};
    if (::ares_timeout(channel, nullptr, &left) != nullptr) {
      milliseconds = static_cast<int>(left.tv_sec * 1000 + (left.tv_usec + 999) / 1000);
    }
  }
  ::poll(ready.data(), ready.size(), milliseconds);
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

void Resolver::State::on_answer(void* argument, int status, int /*timeouts*/, ares_addrinfo* answer) {
  const std::unique_ptr<Query> query(static_cast<Query*>(argument));
  const std::unique_ptr<ares_addrinfo, decltype(&::ares_freeaddrinfo)> owner(answer, &::ares_freeaddrinfo);
  State& state = query->state;
  if (status == ARES_EDESTRUCTION) {
    const std::lock_guard lock(state.mutex);
    state.queue.push_back(std::move(query->host));
    return;
  }
  Addresses addresses;
  if (answer != nullptr) addresses = addresses_of(*answer);
  state.keep(query->host, std::move(addresses), status == ARES_SUCCESS ? "" : ::ares_strerror(status));
}

void Resolver::State::keep(const std::string& host, Addresses addresses, const std::string& error) {
  const std::lock_guard lock(mutex);
  // A name that is asked for is never driven out.
  Name& name = names.at(host);
  const Clock::time_point now = Clock::now();
  name.asked = false;
  --asked;
  if (error.empty() && !addresses.found.empty()) {
    name.addresses = std::move(addresses.found);
    if (name.addresses.size() > options.max_addresses) name.addresses.resize(options.max_addresses);
    name.error.clear();
    name.fresh_until = now + std::clamp(addresses.lifetime, options.keep_least, options.keep_most);
    name.stale_until = name.fresh_until + options.keep_stale;
  } else {
    name.error = error.empty() ? "the name has no address" : error;
    name.fresh_until = now + options.keep_failure;
    if (name.stale_until < now) name.addresses.clear();
  }
  for (const std::shared_ptr<Waiting>& waiting : name.waiting) {
    if (waiting->loop == nullptr) continue;
    waiting->loop->post([waiting] {
      if (waiting->waiter != nullptr) waiting->waiter->wake(Wake::kReady);
    });
  }
  name.waiting.clear();
}

bool Resolver::State::ask(const std::string& host, Name& name) {
  if (name.asked) return true;
  if (asked >= options.max_waiting) return false;
  if (!woken.valid()) woken.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!woken.valid()) return false;  // no descriptor is left
  name.asked = true;
  ++asked;
  queue.push_back(host);
  if (!thread.joinable()) thread = std::thread([this] { run(); });
  wake();
  return true;
}

void Resolver::State::make_room() {
  if (names.size() < options.max_names) return;
  const Clock::time_point now = Clock::now();
  std::erase_if(names, [&](const auto& one) { return !one.second.asked && one.second.stale_until < now; });
  if (names.size() < options.max_names) return;
  const auto idle = std::ranges::find_if(names, [](const auto& one) { return !one.second.asked; });
  if (idle != names.end()) names.erase(idle);
}

std::optional<Resolver::Found> Resolver::State::known(const std::string& host) {
  const auto place = names.find(host);
  const bool is_new = place == names.end();
  const Clock::time_point now = Clock::now();
  if (!is_new) {
    Name& name = place->second;
    if (now < name.fresh_until) {
      if (!name.addresses.empty()) return Found{name.addresses};
      return Found{{}, name.error};
    }
    // Who resolves names may be gone for a while; addresses change seldom.
    if (!name.addresses.empty() && now < name.stale_until) {
      ask(host, name);
      return Found{name.addresses};
    }
  } else {
    make_room();
  }
  if (!ask(host, names[host])) {
    if (is_new) names.erase(host);
    return Found{{}, "too many names are asked for"};
  }
  return std::nullopt;
}

Resolver::Resolver(ResolverOptions options) : state_(std::make_unique<State>(std::move(options))) {}

Resolver::~Resolver() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->wake();
  if (state_->thread.joinable()) state_->thread.join();
}

Task<Resolver::Found> Resolver::resolve(Loop& loop, Waiter& waiter, const std::string& host, Time until) {
  if (const std::optional<IpAddress> address = parse_ip(host)) return Found{{*address}};
  auto waiting = std::make_shared<Waiting>(Waiting{&loop, &waiter});
  {
    const std::lock_guard lock(state_->mutex);
    if (std::optional<Found> found = state_->known(host)) return std::move(*found);
    state_->names.at(host).waiting.push_back(waiting);
  }
  return wait(host, std::move(waiting), until);
}

Task<Resolver::Found> Resolver::wait(std::string host, std::shared_ptr<Waiting> waiting, Time until) {
  const Wake why = co_await waiting->waiter->wait(until);
  waiting->waiter = nullptr;
  const std::lock_guard lock(state_->mutex);
  waiting->loop = nullptr;
  if (why == Wake::kCancelled) co_return Found{{}, "cancelled", true};
  const auto place = state_->names.find(host);
  if (place == state_->names.end()) co_return Found{{}, "the name was driven out by others"};
  State::Name& name = place->second;
  std::erase(name.waiting, waiting);
  if (!name.addresses.empty()) co_return Found{name.addresses};
  co_return Found{{}, why == Wake::kTimeout ? "no answer in time" : name.error};
}

}  // namespace edge::net::client
