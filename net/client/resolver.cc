#include "net/client/resolver.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include <netdb.h>

namespace edge::net::client {
namespace {

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

/// In the order of RFC 6724, which the C library knows.
Result<std::vector<IpAddress>> look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* first = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &first);
  if (error != 0) return Error{ErrorCode::kUnavailable, ::gai_strerror(error)};
  std::vector<IpAddress> addresses;
  for (const addrinfo* one = first; one != nullptr; one = one->ai_next) {
    if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
    const IpAddress address = address_of(*one->ai_addr);
    if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
  }
  ::freeaddrinfo(first);
  return addresses;
}

}  // namespace

/// Who waits for a name. `waiter` is of the loop's thread; `loop` is under the mutex, and null once nobody waits.
struct Resolver::Waiting {
  Loop* loop = nullptr;
  Waiter* waiter = nullptr;
};

/// Shared with its threads, one of which may outlive the resolver.
struct Resolver::State : std::enable_shared_from_this<State> {
  using Clock = std::chrono::steady_clock;

  struct Name {
    std::vector<IpAddress> addresses;
    std::string error;
    Clock::time_point fresh_until{};
    Clock::time_point stale_until{};
    /// Waits for a thread, or a thread is at it.
    bool asked = false;
    std::vector<std::shared_ptr<Waiting>> waiting;
  };

  explicit State(ResolverOptions from) : options(std::move(from)) {
    if (!options.lookup) options.lookup = look_up;
  }

  void run();
  void keep(Name& name, Result<std::vector<IpAddress>> result);
  bool ask(const std::string& host, Name& name);
  void make_room();
  /// What is known; nullopt: somebody has to wait.
  std::optional<Found> known(const std::string& host);

  ResolverOptions options;
  std::mutex mutex;
  std::condition_variable work;
  std::unordered_map<std::string, Name> names;
  std::deque<std::string> queue;
  std::vector<std::thread> threads;
  std::condition_variable ended;
  unsigned running = 0;  ///< of the threads
  bool ending = false;
};

void Resolver::State::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [this] { return ending || !queue.empty(); });
    if (ending) break;
    const std::string host = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    Result<std::vector<IpAddress>> result = options.lookup(host);
    lock.lock();
    if (ending) break;
    // A name that is asked for is never driven out.
    keep(names.at(host), std::move(result));
  }
  --running;
  ended.notify_all();
}

void Resolver::State::keep(Name& name, Result<std::vector<IpAddress>> result) {
  const Clock::time_point now = Clock::now();
  name.asked = false;
  if (result.ok() && !result->empty()) {
    name.addresses = std::move(*result);
    if (name.addresses.size() > options.max_addresses) name.addresses.resize(options.max_addresses);
    name.error.clear();
    name.fresh_until = now + options.keep;
    name.stale_until = name.fresh_until + options.keep_stale;
  } else {
    name.error = result.ok() ? "the name has no address" : result.error().text;
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
  if (queue.size() >= options.max_waiting) return false;
  name.asked = true;
  queue.push_back(host);
  while (threads.size() < options.threads) {
    threads.emplace_back([self = shared_from_this()] { self->run(); });
    ++running;
  }
  work.notify_one();
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

Resolver::Resolver(ResolverOptions options) : state_(std::make_shared<State>(std::move(options))) {}

Resolver::~Resolver() {
  std::unique_lock lock(state_->mutex);
  state_->ending = true;
  state_->work.notify_all();
  const bool all = state_->ended.wait_for(lock, state_->options.patience_at_end, [&] { return state_->running == 0; });
  std::vector<std::thread> threads = std::move(state_->threads);
  lock.unlock();
  for (std::thread& thread : threads) {
    if (all) {
      thread.join();
    } else {
      thread.detach();
    }
  }
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
