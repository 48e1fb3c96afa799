// Forward: a connection from the pool, the exchange over it; one silent retry when a pooled connection had died, and
// such as the route or the backend asks for (rule D10).
#include <algorithm>
#include <optional>

#include "runtime/session/cross_thread_wake.h"
#include "runtime/session/relay.h"
#include "runtime/session/session.h"
#include "runtime/session/traced.h"
#include "runtime/session/worker.h"
#include "runtime/upstream/retry.h"

namespace edge::runtime {
namespace {

using net::Wake;

/// `in_time`: the request still has some; what came to its end was that of one try.
Failure failure_of(AcquireFault fault, bool in_time) {
  switch (fault) {
    case AcquireFault::kNone:
      break;
    case AcquireFault::kNoEndpoint:
      return {Origin::kProxy, FailureKind::kNoEndpoint, true};
    case AcquireFault::kNoHealthyEndpoint:
      return {Origin::kProxy, FailureKind::kNoHealthyEndpoint, true};
    case AcquireFault::kCircuitOpen:
      return {Origin::kProxy, FailureKind::kCircuitOpen, true};
    case AcquireFault::kOverloaded:
      return {Origin::kProxy, FailureKind::kOverloaded, true};
    case AcquireFault::kConnect:
      return {Origin::kUpstream, FailureKind::kConnectFailed, true};
    case AcquireFault::kTls:
      return {Origin::kUpstream, FailureKind::kTlsFailed, true};
    case AcquireFault::kTimeout:
      return {Origin::kProxy, in_time ? FailureKind::kTryTimeout : FailureKind::kRequestTimeout, true};
    case AcquireFault::kCancelled:
      return {Origin::kProxy, FailureKind::kCancelled, true};
  }
  return {};
}

// A request that may not be sent twice had better not meet a connection that is already dead: asked once more, at the
// cost of a system call. What remains is the time of flight.
bool looks_alive(UpstreamConnection& connection) {
  char byte;
  return !connection.hung_up() && connection.receive({&byte, 1}).kind == net::Transfer::Kind::kWouldBlock;
}

void note_try(const Acquired& acquired, net::Time now, Notes& notes) {
  if (acquired.connection != nullptr) {
    notes.connected(now, acquired.connection->endpoint().address);
  } else if (acquired.tried) {
    notes.endpoint = *acquired.tried;
  }
}

net::Waiter::Awaiter next_event(net::Waiter& waiter, const Relay& relay, UpstreamConnection& upstream,
                                net::Channel& client) {
  if (relay.client_lost()) return waiter.wait(relay.wait_until(), upstream, relay.upstream_interest());
  // Its end is known already: only the client is waited for.
  if (upstream.hung_up() && relay.upstream_interest() == net::kHangUp) {
    return waiter.wait(relay.wait_until(), client, relay.client_interest());
  }
  return waiter.wait(relay.wait_until(), upstream, relay.upstream_interest(), client, relay.client_interest());
}

/// Further endpoints that are tried when one cannot be reached, whatever the retries; a TCP client gets as many.
constexpr std::uint32_t kOtherEndpoints = 2;

/// The tries of one request: what each asks of the pool, and whether another follows.
class Tries {
 public:
  explicit Tries(const Exchange& exchange)
      : exchange_(exchange),
        wanted_{.deadline = exchange.deadline,
                .fault_before = exchange.fault_before,
                .key = exchange.balance_key,
                .fresh = !exchange.header.empty(),
                .header = exchange.header} {
    const RetryPolicy policy = retry_policy(*exchange.traffic, exchange.pool->settings());
    if (policy) retries_.emplace(policy, exchange.pool->state());
    most_elsewhere_ = std::max(kOtherEndpoints, policy.most);
  }

  const Wanted& begin(net::Time now) {
    if (retries_) {
      until_ = retries_->try_until(now);
      const bool of_try = until_ < exchange_.deadline;
      wanted_.deadline = of_try ? until_ : exchange_.deadline;
      wanted_.fault_before = of_try ? now + (until_ - now) / 2 : exchange_.fault_before;
    }
    return wanted_;
  }
  /// The head may be asked for once more, whatever this try's connection is.
  bool may_repeat() const { return retries_.has_value(); }
  void watch(Relay& relay) {
    if (retries_) relay.retry_by(*retries_, until_);
  }

  /// No connection: nothing was sent, so that any request may go to another endpoint. That adds no load, as a retry
  /// does, and is no part of what retries are held to.
  bool again(const Acquired& acquired) {
    const bool failed = acquired.fault == AcquireFault::kConnect || acquired.fault == AcquireFault::kTls ||
                        acquired.fault == AcquireFault::kTimeout;
    if (!failed) return false;
    const bool others = acquired.tried && leave(*acquired.tried);
    if (others && elsewhere_ < most_elsewhere_) {
      ++elsewhere_;
      pauses_ = false;
      return true;
    }
    if (!retries_ || !retries_->again(RetryCause::kConnectFailure)) return false;
    return pauses_ = true;
  }
  bool again(const Failure& failure, const UpstreamConnection& upstream) {
    if (!failure.replayable) return false;
    const bool refused = failure.kind == FailureKind::kUpstreamRefused;
    const bool had_died = failure.kind == FailureKind::kUpstreamReset && upstream.requests() > 1;
    // It met a connection that was about to go: that says nothing of the endpoint, and is no retry that anybody set.
    if ((had_died || refused) && !wanted_.fresh) {
      pauses_ = false;
      return wanted_.fresh = true;
    }
    // One that gives way to another try was asked already.
    if (failure.kind != FailureKind::kRetriedAnswer) {
      if (!retries_ || !retries_->again(refused ? RetryCause::kRefused : RetryCause::kReset)) return false;
    }
    leave(upstream.endpoint().address);
    return pauses_ = true;
  }
  /// When the next try begins.
  net::Time resume_at(net::Time now, Random& random) const {
    return pauses_ ? std::min(exchange_.deadline, now + retries_->backoff(random.next())) : now;
  }

 private:
  /// The next try goes to another endpoint. \returns whether there is one that was not tried; else it starts over.
  bool leave(const net::SocketAddress& endpoint) {
    wanted_.avoid.push_back(endpoint);
    if (exchange_.pool->has_other(wanted_.avoid)) return true;
    wanted_.avoid.assign(1, endpoint);
    return false;
  }

  const Exchange& exchange_;
  Wanted wanted_;
  std::optional<Retries> retries_;
  net::Time until_ = net::kNever;
  /// Endpoints that were tried in the place of others that could not be reached.
  std::uint32_t elsewhere_ = 0;
  std::uint32_t most_elsewhere_ = 0;
  bool pauses_ = false;
};

}  // namespace

// What follows a switch of protocols. \returns why it was broken off, if it was.
net::Task<Failure> Session::speak(const Exchange& exchange, Relay& relay, Outcome& outcome) {
  worker_.counters().tunnels.add();
  BytePump pump({worker_.loop(), worker_.scratch(), worker_.counters()}, {client_, inlet_, outlet_},
                relay.upstream_end(), net::Duration(exchange.traffic->idle_timeout_ns));
  co_await run_pump(pump, waiter_);
  outcome.received = pump.passed_up();
  outcome.sent = pump.passed_down();
  outcome.reason = pump.reason();
  co_return pump.failure();
}

net::Task<Session::Outcome> Session::forward(const Exchange& exchange) {
  Outcome outcome;
  std::string_view head(worker_.scratch().head().data(), exchange.head_size);
  if (exchange.shaping.request != nullptr) {
    head = exchange.shaping.request_head.view();
    outcome.body = BodyState::kRead;
  }
  net::Buffer kept;
  std::optional<Relay::Progress> progress;
  Tries tries(exchange);
  TracedTries traced(exchange);
  for (bool again = true; again;) {
    traced.begin();
    if (exchange.notes != nullptr) exchange.notes->try_begins(worker_.loop().now());
    net::Task<Acquired> acquiring = exchange.pool->acquire(waiter_, tries.begin(worker_.loop().now()));
    if (!acquiring.await_ready()) {
      if (kept.empty()) kept.append(head);
      head = kept.view();
      inlet_.keep();
    }
    Acquired acquired = co_await std::move(acquiring);
    ++outcome.attempts;
    if (exchange.notes != nullptr) note_try(acquired, worker_.loop().now(), *exchange.notes);
    if (acquired.connection == nullptr) {
      again = worker_.loop().now() < exchange.deadline && tries.again(acquired);
      outcome.failure = failure_of(acquired.fault, worker_.loop().now() < exchange.deadline);
      traced.end(acquired.tried ? &*acquired.tried : nullptr, 0, outcome.failure);
      outcome.reusable = true;
    } else {
      UpstreamConnection& upstream = *acquired.connection;
      const bool pooled = upstream.requests() > 1;
      if (pooled && !exchange.idempotent() && !looks_alive(upstream)) {
        exchange.pool->release(std::move(acquired.connection), AfterUse::kClose);
        --outcome.attempts;
        continue;
      }
      Relay relay(exchange, {client_, inlet_, outlet_}, relay_place(), upstream);
      tries.watch(relay);
      std::optional<CrossThreadWake> news;
      if (exchange.shaping.waits_for_others()) relay.wake_by(news.emplace(waiter_, worker_.loop()).callback());
      if (progress) {
        relay.resume(std::move(*progress));
      } else {
        relay.begin(head);
      }
      // Kept for a second try.
      if ((pooled || tries.may_repeat()) && kept.empty()) {
        kept.append(head);
        head = kept.view();
      }
      while (!relay.ended()) {
        relay.advance();
        if (relay.ended()) break;
        relay.keep();
        const Wake wake = co_await next_event(waiter_, relay, upstream, client_);
        if (wake == Wake::kCancelled) relay.cancel();
        if (wake == Wake::kTimeout) relay.timed_out();
      }
      if (relay.switched()) {
        outcome.failure = co_await speak(exchange, relay, outcome);
        if (outcome.failure) {
          worker_.counters().responses[1].add();
          upstream.reset_on_close();
        }
        traced.end(&upstream.endpoint().address, relay.status(), outcome.failure);
        exchange.pool->release(std::move(acquired.connection), AfterUse::kClose);
        outcome.status = relay.status();
        outcome.answered = outcome.reset = true;
        outcome.body = BodyState::kRead;
        co_return outcome;
      }
      again = tries.again(relay.failure(), upstream);
      progress = again ? relay.progress() : std::nullopt;
      if (relay.failure().kind == FailureKind::kTruncated && !relay.client_given_up()) upstream.spoilt();
      traced.end(&upstream.endpoint().address, relay.status(), relay.failure());
      const AfterUse after = relay.after_use();
      const bool keep = after != AfterUse::kKeep || exchange.header.empty();
      exchange.pool->release(std::move(acquired.connection), keep ? after : AfterUse::kClose);
      outcome.failure = relay.failure();
      outcome.status = relay.status();
      outcome.answered = relay.answered();
      outcome.body = relay.request_read() ? BodyState::kRead : BodyState::kUnread;
      outcome.reusable = relay.client_reusable();
      outcome.reset = relay.must_reset_client();
      outcome.withheld = relay.withheld();
      outcome.received = relay.body_received();
      outcome.sent = relay.body_sent();
    }
    if (!again) break;
    worker_.counters().upstream_retries.add();
    // Others use the scratch while this waits.
    if (kept.empty()) kept.append(head);
    traced.renew(progress ? progress->text : kept);
    head = kept.view();
    const net::Time resume_at = tries.resume_at(worker_.loop().now(), worker_.random());
    if (resume_at <= worker_.loop().now()) continue;
    inlet_.keep();
    const Wake wake = co_await waiter_.wait(resume_at, client_, net::kHangUp);
    if (wake == Wake::kCancelled || client_.hung_up()) {
      outcome.failure = {Origin::kClient, FailureKind::kClientGone, false};
      break;
    }
  }
  co_return outcome;
}

}  // namespace edge::runtime
