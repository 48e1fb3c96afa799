#include "controller/kube/elector.h"

#include <algorithm>

#include "controller/kube/backoff.h"
#include "controller/kube/lease.h"
#include "controller/kube/time_text.h"

namespace edge::kube {
namespace {

/// Giving back is a courtesy: it does not hold up the end of a process.
constexpr net::Duration kReleaseTime = std::chrono::seconds(2);
constexpr int kReleaseTries = 3;
/// Of the time between two tries, for who waits.
constexpr double kJitter = 0.2;

}  // namespace

struct Elector::State {
  State(Client& of, ElectorOptions chosen, ElectorEvents to)
      : client(of),
        options(std::move(chosen)),
        events(std::move(to)),
        waiter(of.loop()),
        wall(options.wall ? options.wall : std::chrono::system_clock::now),
        random(options.random ? options.random : random_fraction()),
        watchdog(*this) {}
  ~State() { client.loop().timers().drop(watchdog); }

  /// Ends a leadership that was not renewed, whatever the call that should have done it is waiting for.
  class Watchdog final : public net::TimerNode {
   public:
    explicit Watchdog(State& state) : state_(state) {}
    void expired() override { state_.depose(); }

   private:
    State& state_;
  };

  net::Detached run(std::shared_ptr<State> self);
  net::Task<bool> try_once();
  net::Task<Reply> call(net::Waiter& on, std::string method, std::string target, std::string body, net::Time until);
  void observe(const LeaseRecord& record);
  bool held_by_another(const LeaseRecord& record) const;
  void lead(net::Time since);
  void depose();
  net::Task<void> give_back(net::Waiter& on);
  std::string target() const { return path_of(lease_resource(), options.name_space, options.name); }
  std::string collection() const { return path_of(lease_resource(), options.name_space); }

  Client& client;
  const ElectorOptions options;
  ElectorEvents events;
  net::Waiter waiter;
  std::function<std::chrono::system_clock::time_point()> wall;
  std::function<double()> random;
  Watchdog watchdog;

  LeaseRecord observed;
  /// On our clock, when `observed` was first seen as it is.
  net::Time observed_at = net::Time::min();
  bool leading = false;
  net::Time leads_until = net::Time::min();
  std::uint64_t tries = 0;
  bool running = false;
  bool stopped = false;
};

void Elector::State::observe(const LeaseRecord& record) {
  if (record == observed && observed_at != net::Time::min()) return;
  const bool another = record.holder != observed.holder || observed_at == net::Time::min();
  observed = record;
  observed_at = client.loop().now();
  if (another && !stopped && events.leader) events.leader(record.holder);
}

bool Elector::State::held_by_another(const LeaseRecord& record) const {
  if (record.holder.empty() || record.holder == options.identity) return false;
  const net::Duration lease =
      record.seconds > 0 ? net::Duration(std::chrono::seconds(record.seconds)) : options.lease_duration;
  return observed_at + lease > client.loop().now();
}

void Elector::State::lead(net::Time since) {
  // An answer that came too late is none.
  if (stopped || since + options.renew_deadline <= client.loop().now()) return;
  leads_until = since + options.renew_deadline;
  client.loop().timers().set(watchdog, leads_until);
  if (leading) return;
  leading = true;
  if (events.elected) events.elected();
}

void Elector::State::depose() {
  if (!leading) return;
  leading = false;
  client.loop().timers().drop(watchdog);
  if (events.deposed) events.deposed();
}

net::Task<Reply> Elector::State::call(net::Waiter& on, std::string method, std::string target, std::string body,
                                      net::Time until) {
  const net::Duration left = std::max<net::Duration>(until - client.loop().now(), std::chrono::milliseconds(1));
  return client.send(
      on, {.method = std::move(method), .target = std::move(target), .body = std::move(body), .timeout = left});
}

/// Takes the lease, or renews it. \returns whether it is ours.
net::Task<bool> Elector::State::try_once() {
  // What others count from is later than this, so that we are the first to believe that the lease is over.
  const net::Time begun = client.loop().now();
  const net::Time until = leading ? leads_until : begun + options.renew_deadline;
  Reply got = co_await call(waiter, "GET", target(), {}, until);
  const bool absent = got.failure.not_found();
  if (!got.ok() && !absent) co_return false;
  LeaseRecord record;
  if (!absent) {
    Result<LeaseRecord> read = read_lease(got.body);
    if (!read.ok()) co_return false;
    record = std::move(*read);
    observe(record);
    if (held_by_another(record)) {
      // Somebody took it from us: we slept, or the network did.
      depose();
      co_return false;
    }
  }
  const std::string now = micro_time_text(wall());
  if (record.holder != options.identity) {
    record.acquired = now;
    if (!absent) ++record.transitions;
  }
  record.holder = options.identity;
  record.renewed = now;
  record.seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(options.lease_duration).count());
  std::string body = write_lease(absent ? std::string() : got.body, options.name_space, options.name, record);
  // By its resourceVersion: of two who try at once one gets a conflict.
  Reply put = co_await call(waiter, absent ? "POST" : "PUT", absent ? collection() : target(), std::move(body), until);
  if (!put.ok() || stopped) co_return false;
  observe(record);
  lead(begun);
  co_return leading;
}

net::Detached Elector::State::run(std::shared_ptr<State> self) {
  State& state = *self;
  while (!state.stopped) {
    const bool ours = co_await state.try_once();
    ++state.tries;
    if (state.stopped) break;
    net::Duration pause = state.options.retry_period;
    if (!ours) {
      pause +=
          net::Duration(static_cast<net::Duration::rep>(static_cast<double>(pause.count()) * kJitter * state.random()));
    }
    const net::Wake wake = co_await state.waiter.wait(state.client.loop().now() + pause);
    if (wake == net::Wake::kCancelled) break;
  }
  state.running = false;
}

/// A renewal that was broken off may still arrive; then the versions differ, and it is tried again.
net::Task<void> Elector::State::give_back(net::Waiter& on) {
  const net::Time until = client.loop().now() + kReleaseTime;
  for (int i = 0; i < kReleaseTries && client.loop().now() < until; ++i) {
    Reply got = co_await call(on, "GET", target(), {}, until);
    if (!got.ok()) co_return;
    Result<LeaseRecord> record = read_lease(got.body);
    if (!record.ok() || record->holder != options.identity) co_return;
    record->holder.clear();
    record->seconds = 1;
    record->renewed = record->acquired = micro_time_text(wall());
    std::string body = write_lease(got.body, options.name_space, options.name, *record);
    Reply put = co_await call(on, "PUT", target(), std::move(body), until);
    if (!put.failure.conflict()) co_return;
  }
}

Elector::Elector(Client& client, ElectorOptions options, ElectorEvents events)
    : state_(std::make_shared<State>(client, std::move(options), std::move(events))) {}

Elector::~Elector() {
  state_->stopped = true;
  state_->events = {};
  state_->depose();
  state_->waiter.cancel();
}

void Elector::start() {
  if (state_->running || state_->stopped) return;
  state_->running = true;
  state_->run(state_);
}

net::Task<void> Elector::stop(net::Waiter& waiter) {
  const std::shared_ptr<State> state = state_;
  state->stopped = true;
  state->waiter.cancel();
  state->depose();
  state->events = {};
  if (state->options.release) co_await state->give_back(waiter);
}

std::uint64_t Elector::tries() const { return state_->tries; }

bool Elector::leads() const { return state_->leading && state_->client.loop().now() < state_->leads_until; }

}  // namespace edge::kube
