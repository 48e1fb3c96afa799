#include "net/client/resolver.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace edge::net::client {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

/// A waiter for a name. `waiter` belongs to the loop's thread; the mutex guards `loop`, which is null once nothing
/// waits.
struct Resolver::Waiting {
  Loop* loop = nullptr;
  Waiter* waiter = nullptr;
};

/// State shared by the loops and the query thread, guarded by the mutex.
struct Resolver::State {
  struct Name {
    std::vector<IpAddress> addresses;
    std::string error;
    Clock::time_point fresh_until{};
    Clock::time_point stale_until{};
    bool asked = false;
    std::vector<std::shared_ptr<Waiting>> waiting;
  };

  explicit State(ResolverOptions from)
      : options(std::move(from)), queries(options.queries, [this] { return begin_queries(); }) {}

  /// Begins with the names of the queue.
  NameQueries::Time begin_queries();
  void keep(const std::string& host, NameAnswer answer);
  bool ask(const std::string& host, Name& name);
  void make_room();
  /// What is known; nullopt: somebody has to wait.
  std::optional<Found> known(const std::string& host);

  ResolverOptions options;
  std::mutex mutex;
  std::unordered_map<std::string, Name> names;
  std::vector<std::string> queue;
  std::size_t asked = 0;  ///< of `names`
  /// Ends before what it works on.
  NameQueries queries;
};

NameQueries::Time Resolver::State::begin_queries() {
  std::vector<std::string> begun;
  {
    const std::lock_guard lock(mutex);
    begun.swap(queue);
  }
  for (std::string& host : begun) {
    queries.ask_addresses(host, [this, host](NameAnswer answer) { keep(host, std::move(answer)); });
  }
  return NameQueries::Time::max();
}

void Resolver::State::keep(const std::string& host, NameAnswer answer) {
  const std::lock_guard lock(mutex);
  // A name that is asked for is never driven out.
  Name& name = names.at(host);
  const Clock::time_point now = Clock::now();
  name.asked = false;
  --asked;
  if (answer.outcome == NameAnswer::Outcome::kFound) {
    name.addresses = std::move(answer.addresses);
    if (name.addresses.size() > options.max_addresses) name.addresses.resize(options.max_addresses);
    name.error.clear();
    name.fresh_until = now + std::clamp(answer.lifetime, options.keep_least, options.keep_most);
    name.stale_until = name.fresh_until + options.keep_stale;
  } else {
    name.error = std::move(answer.error);
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
  if (!queries.start()) return false;  // no descriptor is left
  name.asked = true;
  ++asked;
  queue.push_back(host);
  queries.wake();
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
  const auto position = names.find(host);
  const bool is_new = position == names.end();
  const Clock::time_point now = Clock::now();
  if (!is_new) {
    Name& name = position->second;
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

Resolver::~Resolver() = default;

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
  const auto position = state_->names.find(host);
  if (position == state_->names.end()) co_return Found{{}, "the name was driven out by others"};
  State::Name& name = position->second;
  std::erase(name.waiting, waiting);
  if (!name.addresses.empty()) co_return Found{name.addresses};
  co_return Found{{}, why == Wake::kTimeout ? "no answer in time" : name.error};
}

}  // namespace edge::net::client
