#include "controller/kube/informer.h"

#include <set>
#include <unordered_map>
#include <utility>

#include "controller/kube/backoff.h"

namespace edge::kube {
namespace {

/// After so long at one stretch others have their turn.
constexpr net::Duration kStretch = std::chrono::milliseconds(5);
constexpr std::size_t kLookAtClock = 16;
/// Behind the time at which the server ends a watch by itself.
constexpr net::Duration kGrace = std::chrono::seconds(15);

}  // namespace

/// Outlives the informer for as long as its coroutine runs: the informer's callbacks may call `stop`.
struct Informer::State : std::enable_shared_from_this<Informer::State> {
  State(Client& of, Resource what, InformerOptions chosen, InformerEvents to)
      : client(of),
        resource(std::move(what)),
        options(std::move(chosen)),
        events(std::move(to)),
        waiter(of.loop()),
        again_waiter(of.loop()),
        random(options.random ? options.random : random_fraction()),
        backoff(options.first_delay, options.longest_delay, random),
        again_backoff(options.first_delay, options.longest_delay, random) {
    reading.managed_fields = options.managed_fields;
  }

  net::Detached run(std::shared_ptr<State> self);
  net::Detached read_again(std::shared_ptr<State> self);
  net::Task<Failure> list();
  net::Task<Failure> watch();
  /// \returns whether the watch goes on; else `failure` says why, or nothing when the server ended it.
  bool take(WatchEvent event, Failure& failure);
  void take_object(Object object, bool listed);
  void remove(const std::string& key);
  void remove_unlisted();
  void tell_connection(bool up, const Failure& failure);
  /// It works: what went wrong before is over.
  void recovered() {
    backoff.reset();
    expired = 0;
  }
  net::Task<bool> give_way(std::size_t& count, net::Time& since);

  Client& client;
  const Resource resource;
  const InformerOptions options;
  InformerEvents events;
  ObjectReading reading;
  net::Waiter waiter, again_waiter;
  std::function<double()> random;
  Backoff backoff, again_backoff;

  struct Known {
    std::string version;
    /// Of the list that it was in last.
    std::uint64_t list = 0;
  };
  std::unordered_map<std::string, Known> known;
  std::set<std::pair<std::string, std::string>> again;  ///< namespaces and names that are to be read again
  bool reading_again = false;
  /// Where the next watch begins; empty: everything is to be listed.
  std::string version;
  std::uint64_t lists = 0;
  std::uint64_t watches = 0;
  /// Times in a row that the server did not know a version any more.
  unsigned expired = 0;
  bool established = false;
  bool running = false;
  bool stopped = false;
  bool synced = false;
  bool reported = false;
  bool connected = false;
};

void Informer::State::tell_connection(bool up, const Failure& failure) {
  if (stopped || (reported && up == connected)) return;
  reported = true;
  connected = up;
  if (events.connection) events.connection(up, failure);
}

void Informer::State::take_object(Object object, bool listed) {
  Known& one = known[object.key()];
  if (listed) one.list = lists;
  if (one.version == object.resource_version && !one.version.empty()) return;
  one.version = object.resource_version;
  if (!stopped && events.changed) events.changed(std::move(object));
}

void Informer::State::remove(const std::string& key) {
  if (known.erase(key) == 0) return;
  if (!stopped && events.removed) events.removed(key);
}

/// What the last list did not have is gone; nobody told of it.
void Informer::State::remove_unlisted() {
  std::vector<std::string> gone;
  for (const auto& [key, one] : known) {
    if (one.list != lists) gone.push_back(key);
  }
  for (const std::string& key : gone) remove(key);
}

net::Task<bool> Informer::State::give_way(std::size_t& count, net::Time& since) {
  if (stopped) co_return false;
  if (++count % kLookAtClock != 0 || std::chrono::steady_clock::now() - since < kStretch) co_return true;
  const net::Wake wake = co_await waiter.wait(client.loop().now());
  since = std::chrono::steady_clock::now();
  co_return wake != net::Wake::kCancelled && !stopped;
}

net::Task<Failure> Informer::State::list() {
  ListOptions page{.name_space = options.name_space,
                   .label_selector = options.label_selector,
                   .field_selector = options.field_selector,
                   .limit = options.page,
                   .next = {},
                   .reading = reading};
  ++lists;
  std::size_t count = 0;
  net::Time since = std::chrono::steady_clock::now();
  for (;;) {
    ListReply reply = co_await client.list(waiter, resource, page);
    if (!reply.ok()) co_return std::move(reply.failure);
    tell_connection(true, {});
    for (Object& object : reply.list.items) {
      take_object(std::move(object), true);
      const bool on = co_await give_way(count, since);
      if (!on) co_return Failure{.kind = Failure::Kind::kCancelled};
    }
    if (reply.list.next.empty()) {
      if (reply.list.resource_version.empty()) {
        co_return Failure{.kind = Failure::Kind::kMalformed, .message = "a list without a resourceVersion"};
      }
      version = std::move(reply.list.resource_version);
      break;
    }
    page.next = std::move(reply.list.next);
  }
  remove_unlisted();
  if (!synced && !stopped) {
    synced = true;
    if (events.synced) events.synced();
  }
  co_return Failure{};
}

bool Informer::State::take(WatchEvent event, Failure& failure) {
  if (event.type == EventType::kError) {
    failure = std::move(event.failure);
    return false;
  }
  std::string next = event.object.resource_version;
  if (event.type == EventType::kDeleted) {
    remove(event.object.key());
  } else if (event.type != EventType::kBookmark) {
    take_object(std::move(event.object), false);
  }
  if (!next.empty()) version = std::move(next);
  return !stopped;
}

net::Task<Failure> Informer::State::watch() {
  const auto lifetime = std::chrono::seconds(
      static_cast<std::chrono::seconds::rep>(static_cast<double>(options.lifetime.count()) * (1.0 + random())));
  ++watches;
  Watch watch = co_await client.watch(waiter, resource,
                                      {.name_space = options.name_space,
                                       .label_selector = options.label_selector,
                                       .field_selector = options.field_selector,
                                       .resource_version = version,
                                       .lifetime = lifetime,
                                       .reading = reading});
  if (!watch.ok()) co_return watch.failure();
  established = true;
  tell_connection(true, {});
  const net::Time until = client.loop().now() + lifetime + kGrace;
  std::size_t count = 0;
  net::Time since = std::chrono::steady_clock::now();
  for (;;) {
    if (!watch.has_more()) since = std::chrono::steady_clock::now();
    Watch::Next next = co_await watch.next(waiter, until);
    if (next.kind == Watch::Next::Kind::kEnd) co_return Failure{};
    if (next.kind == Watch::Next::Kind::kFailed) co_return std::move(next.failure);
    Failure failure;
    if (!take(std::move(next.event), failure)) co_return failure;
    recovered();
    const bool on = co_await give_way(count, since);
    if (!on) co_return Failure{.kind = Failure::Kind::kCancelled};
  }
}

net::Detached Informer::State::run(std::shared_ptr<State> self) {
  // `self` keeps the state until the last line.
  State& state = *self;
  while (!state.stopped) {
    Failure failure;
    const net::Time begun = state.client.loop().now();
    state.established = false;
    if (state.version.empty()) {
      failure = co_await state.list();
      if (failure.none()) continue;
    } else {
      failure = co_await state.watch();
      // An end at the end of its time is as it should be; a server that ends watches at once is left alone for a while.
      if (failure.none() && state.client.loop().now() - begun >= state.options.first_delay) {
        state.recovered();
        continue;
      }
    }
    if (state.stopped || failure.kind == Failure::Kind::kCancelled) break;
    if (failure.expired()) {
      state.version.clear();
      // Once that is nobody's fault. Again, and without an event between: the list is old, or the server confused.
      if (++state.expired == 1) continue;
    } else if (!failure.none() && !state.established) {
      // A watch that breaks is begun anew before anybody is told.
      state.tell_connection(false, failure);
    }
    const net::Duration asked = std::chrono::seconds(failure.retry_after);
    const net::Time at = state.client.loop().now() + std::max(asked, state.backoff.next());
    const net::Wake wake = co_await state.waiter.wait(at);
    if (wake == net::Wake::kCancelled) break;
  }
  state.running = false;
}

/// One at a time, and by a list: who follows a kind has the rights to list and watch it. What is read may be older or
/// newer than what the watch has brought: another version comes, or came, by the watch, and is not reported out of its
/// order.
net::Detached Informer::State::read_again(std::shared_ptr<State> self) {
  State& state = *self;
  std::pair<std::string, std::string> last;
  while (!state.stopped && !state.again.empty()) {
    // In turn: one that cannot be read keeps no other waiting for good.
    auto next = state.again.upper_bound(last);
    if (next == state.again.end()) next = state.again.begin();
    last = *next;
    state.again.erase(next);
    const auto& [name_space, name] = last;
    ListOptions one{.name_space = name_space,
                    .label_selector = state.options.label_selector,
                    .field_selector = "metadata.name=" + name,
                    .limit = 0,
                    .next = {},
                    .reading = state.reading};
    if (!state.options.field_selector.empty()) one.field_selector += "," + state.options.field_selector;
    ListReply reply = co_await state.client.list(state.again_waiter, state.resource, std::move(one));
    if (state.stopped) break;
    if (reply.ok()) {
      state.again_backoff.reset();
      for (Object& object : reply.list.items) {
        const auto found = state.known.find(object.key());
        const bool same = found != state.known.end() && found->second.version == object.resource_version;
        if (same && !state.stopped && state.events.changed) state.events.changed(std::move(object));
      }
      continue;
    }
    if (reply.failure.kind == Failure::Kind::kCancelled) break;
    state.again.emplace(name_space, name);
    const net::Duration asked = std::chrono::seconds(reply.failure.retry_after);
    const net::Time at = state.client.loop().now() + std::max(asked, state.again_backoff.next());
    const net::Wake wake = co_await state.again_waiter.wait(at);
    if (wake == net::Wake::kCancelled) break;
  }
  state.reading_again = false;
}

Informer::Informer(Client& client, Resource resource, InformerOptions options, InformerEvents events)
    : state_(std::make_shared<State>(client, std::move(resource), std::move(options), std::move(events))) {}

Informer::~Informer() { stop(); }

void Informer::start() {
  if (state_->running || state_->stopped) return;
  state_->running = true;
  state_->run(state_);
}

void Informer::stop() {
  state_->stopped = true;
  state_->waiter.cancel();
  state_->again_waiter.cancel();
}

void Informer::read_again(const std::string& name_space, const std::string& name) {
  state_->again.emplace(name_space, name);
  if (state_->stopped || std::exchange(state_->reading_again, true)) return;
  state_->read_again(state_);
}

const Resource& Informer::resource() const { return state_->resource; }
const std::string& Informer::version() const { return state_->version; }
bool Informer::knows(const std::string& key) const { return state_->known.contains(key); }
bool Informer::synced() const { return state_->synced; }
bool Informer::connected() const { return state_->connected; }
std::size_t Informer::size() const { return state_->known.size(); }
std::uint64_t Informer::lists() const { return state_->lists; }
std::uint64_t Informer::watches() const { return state_->watches; }

}  // namespace edge::kube
