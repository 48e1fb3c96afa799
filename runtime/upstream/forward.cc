#include "runtime/upstream/forward.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/phase/cross_thread_wake.h"
#include "runtime/upstream/relay/byte_pump.h"
#include "runtime/upstream/relay/relay.h"
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

void note_try(const BackendPool& pool, const Acquired& acquired, net::Time now, Notes& notes) {
  if (acquired.connection != nullptr) {
    const UpstreamEndpoint& endpoint = acquired.connection->endpoint();
    notes.connected(now, endpoint.address, endpoint.cluster);
  } else if (acquired.tried) {
    notes.endpoint = *acquired.tried;
    notes.cluster = pool.cluster_of(*acquired.tried);
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

/// The attempts of one request: what each requests from the pool, and whether another follows.
class Tries {
 public:
  explicit Tries(const ForwardRequest& request)
      : request_(request),
        wanted_{.deadline = request.deadlines.until,
                .fault_before = request.deadlines.fault_before,
                .key = request.balance_key} {
    const RetryPolicy policy = retry_policy(*request.treatment, request.pool->settings());
    if (policy) {
      retries_.emplace(policy, request.pool->state());
      if ((policy.on & program::kRetryDetails) != 0) retries_->add_details(request.response.filters);
    }
    most_elsewhere_ = std::max(kOtherEndpoints, policy.max_retries);
    if (request.terms != nullptr) [[unlikely]] {
      take(*request.terms);
    }
  }

  const Wanted& begin(net::Time now) {
    if (retries_) {
      until_ = retries_->try_until(now);
      const bool of_try = until_ < request_.deadlines.until;
      wanted_.deadline = of_try ? until_ : request_.deadlines.until;
      wanted_.fault_before = of_try ? now + (until_ - now) / 2 : request_.deadlines.fault_before;
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
    return pauses_ ? std::min(request_.deadlines.until, now + retries_->backoff(random.next())) : now;
  }

 private:
  void take(const ConnectionTerms& terms) {
    wanted_.fresh = !terms.proxy_header.empty() || terms.tunnel;
    wanted_.header = terms.proxy_header;
    wanted_.way = terms.way;
    const net::SocketAddress* const endpoint = terms.affinity == nullptr ? nullptr : terms.affinity->wanted();
    if (endpoint == nullptr) return;
    wanted_.prefers_first = true;
    wanted_.avoid.push_back(*endpoint);
  }
  /// The next try goes to another endpoint. \returns whether there is one that was not tried; else it starts over.
  bool leave(const net::SocketAddress& endpoint) {
    if (std::exchange(wanted_.prefers_first, false)) wanted_.avoid.clear();
    wanted_.avoid.push_back(endpoint);
    if (request_.pool->has_other(wanted_.avoid)) return true;
    wanted_.avoid.assign(1, endpoint);
    return false;
  }

  const ForwardRequest& request_;
  Wanted wanted_;
  std::optional<Retries> retries_;
  net::Time until_ = net::kNever;
  /// Endpoints that were tried in the place of others that could not be reached.
  std::uint32_t elsewhere_ = 0;
  std::uint32_t most_elsewhere_ = 0;
  bool pauses_ = false;
};

/// The answer to a cluster's CONNECT (RFC 9110 §9.3.6), as a session of HTTP/1.1 writes it.
constexpr std::string_view kConnected =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: connect-tcp\r\n\r\n";

// Bytes for another cluster, which has asked for a tunnel to this endpoint. \returns why it was broken off, if it was.
net::Task<Failure> carry(const ForwardRequest& request, const ForwardFor& on_behalf, UpstreamConnection& upstream,
                         ExchangeResult& result) {
  const ClientEnd& client = on_behalf.client;
  result.body = BodyState::kRead;
  result.reset = true;
  iovec answer = net::piece(kConnected);
  if (!client.outlet.send(client.channel, {&answer, 1})) {
    co_return Failure{Origin::kClient, FailureKind::kClientGone, false};
  }
  result.status = 101;
  result.answered = true;
  on_behalf.counts.tunnels.add();
  net::Inlet from_upstream;
  net::Outlet to_upstream;
  BytePump pump({on_behalf.worker.loop, on_behalf.worker.scratch, on_behalf.counts},
                {client.channel, client.inlet, client.outlet}, {upstream, from_upstream, to_upstream},
                request.deadlines.idle);
  pump.first_answer_to(upstream);
  co_await run_pump(pump, client.waiter);
  result.received = pump.passed_up();
  result.sent = pump.passed_down();
  result.reason = pump.reason();
  if (pump.failure()) upstream.reset_on_close();
  co_return pump.failure();
}

// What follows a switch of protocols. \returns why it was broken off, if it was.
net::Task<Failure> speak(const ForwardRequest& request, const ForwardFor& on_behalf, Relay& relay,
                         ExchangeResult& result) {
  const ClientEnd& client = on_behalf.client;
  on_behalf.counts.tunnels.add();
  BytePump pump({on_behalf.worker.loop, on_behalf.worker.scratch, on_behalf.counts},
                {client.channel, client.inlet, client.outlet}, relay.upstream_end(), request.deadlines.idle);
  co_await run_pump(pump, client.waiter);
  result.received = pump.passed_up();
  result.sent = pump.passed_down();
  result.reason = pump.reason();
  co_return pump.failure();
}

/// What one request's attempts know and have led to; the coroutine holds the connection and waits.
class Forwarding {
 public:
  Forwarding(const ForwardRequest& request, const ForwardFor& on_behalf)
      : request_(request),
        on_behalf_(on_behalf),
        head_(request.head),
        tries_(request),
        traced_(request.spans, request.response.method, request.backend) {
    if (request.body.buffered != nullptr) result.body = BodyState::kRead;
  }

  /// Begins a try. The task, where it waits, may let others use the scratch: the head is kept.
  net::Task<Acquired> acquire() {
    traced_.begin();
    if (request_.notes != nullptr) request_.notes->try_begins(now());
    net::Task<Acquired> acquiring = request_.pool->acquire(on_behalf_.client.waiter, tries_.begin(now()));
    if (!acquiring.await_ready()) {
      keep_head();
      on_behalf_.client.inlet.keep();
    }
    return acquiring;
  }
  void count(const Acquired& acquired) {
    ++result.attempts;
    if (request_.notes != nullptr) note_try(*request_.pool, acquired, now(), *request_.notes);
  }
  /// There was no connection. \returns whether another try follows.
  bool again_without_connection(const Acquired& acquired) {
    const bool again = now() < request_.deadlines.until && tries_.again(acquired);
    result.failure = failure_of(acquired.fault, now() < request_.deadlines.until);
    if (acquired.tried) {
      traced_.end({&*acquired.tried, request_.pool->cluster_of(*acquired.tried).get()}, 0, result.failure);
    } else {
      traced_.end({}, 0, result.failure);
    }
    result.reusable = true;
    return again;
  }
  /// Tells the client's session of its endpoint. \returns whether the connection is for another cluster's bytes.
  bool begin_terms(const UpstreamConnection& upstream) const {
    if (request_.terms == nullptr) [[likely]] {
      return false;
    }
    if (request_.terms->affinity != nullptr) request_.terms->affinity->answered_by(upstream.endpoint().address);
    return request_.terms->tunnel;
  }
  void end_tunnel(Acquired& acquired) {
    const bool unanswered = result.failure.kind == FailureKind::kUpstreamReset && result.sent == 0;
    end_trace(*acquired.connection, result.status, result.failure);
    request_.pool->release(std::move(acquired.connection), unanswered ? AfterUse::kFailed : AfterUse::kClose);
  }
  /// Gives back a kept connection that was found dead before anything was sent: no attempt. \returns whether it was.
  bool release_dead(Acquired& acquired) {
    if (!is_pooled(*acquired.connection) || request_.idempotent() || looks_alive(*acquired.connection)) return false;
    request_.pool->release(std::move(acquired.connection), AfterUse::kClose);
    --result.attempts;
    return true;
  }
  void begin(Relay& relay, const UpstreamConnection& upstream) {
    const bool pooled = is_pooled(upstream);
    if (progress_) {
      relay.resume(std::move(*progress_));
    } else {
      relay.begin(head_);
    }
    // For a second try.
    if (pooled || tries_.may_repeat()) keep_head();
  }
  void watch(Relay& relay) { tries_.watch(relay); }
  void end_switched(const Relay& relay, Acquired& acquired) {
    if (result.failure) {
      on_behalf_.counts.responses[1].add();
      acquired.connection->reset_on_close();
    }
    end_trace(*acquired.connection, relay.status(), result.failure);
    request_.pool->release(std::move(acquired.connection), AfterUse::kClose);
    result.status = relay.status();
    result.answered = result.reset = true;
    result.body = BodyState::kRead;
  }
  /// \returns whether another try follows.
  bool again_after(Relay& relay, Acquired& acquired) {
    UpstreamConnection& upstream = *acquired.connection;
    const bool again = tries_.again(relay.failure(), upstream);
    progress_ = again ? relay.progress() : std::nullopt;
    if (relay.failure().kind == FailureKind::kTruncated && !relay.client_given_up()) upstream.spoilt();
    end_trace(upstream, relay.status(), relay.failure());
    const AfterUse after = relay.after_use();
    const bool keep = after != AfterUse::kKeep || request_.terms == nullptr || request_.terms->proxy_header.empty();
    request_.pool->release(std::move(acquired.connection), keep ? after : AfterUse::kClose);
    take_result(relay);
    return again;
  }
  /// Prepares another try. \returns when it begins.
  net::Time renew() {
    on_behalf_.counts.upstream_retries.add();
    // Others use the scratch while this waits.
    if (kept_.empty()) kept_.append(head_);
    traced_.renew(progress_ ? progress_->text : kept_);
    head_ = kept_.view();
    return tries_.resume_at(now(), on_behalf_.random);
  }
  /// After the wait for it. \returns whether it would be in vain; the result is then why.
  bool is_given_up(Wake wake) {
    if (wake == Wake::kCancelled || on_behalf_.client.channel.hung_up()) {
      result.failure = {Origin::kClient, FailureKind::kClientGone, false};
      return true;
    }
    // A try that begins now could only be given up.
    if (now() < request_.deadlines.until) return false;
    result.failure = {Origin::kProxy, FailureKind::kRequestTimeout, false};
    return true;
  }

  ExchangeResult result;

 private:
  net::Time now() const { return on_behalf_.worker.loop.now(); }
  static bool is_pooled(const UpstreamConnection& upstream) { return upstream.requests() > 1; }
  void keep_head() {
    if (kept_.empty()) kept_.append(head_);
    head_ = kept_.view();
  }
  void end_trace(const UpstreamConnection& upstream, int status, const Failure& failure) {
    traced_.end({&upstream.endpoint().address, upstream.endpoint().cluster.get()}, status, failure);
  }
  void take_result(const Relay& relay) {
    result.failure = relay.failure();
    result.status = relay.status();
    result.answered = relay.answered();
    result.body = relay.request_read() ? BodyState::kRead : BodyState::kUnread;
    result.reusable = relay.client_reusable();
    result.reset = relay.must_reset_client();
    result.withheld = relay.withheld();
    result.received = relay.body_received();
    result.sent = relay.body_sent();
  }

  const ForwardRequest& request_;
  const ForwardFor& on_behalf_;
  std::string_view head_;
  net::Buffer kept_;
  std::optional<Relay::Progress> progress_;
  Tries tries_;
  TracedTries traced_;
};

}  // namespace

net::Task<ExchangeResult> forward(const ForwardRequest& request, const ForwardFor& on_behalf) {
  const ClientEnd& client = on_behalf.client;
  net::Loop& loop = on_behalf.worker.loop;
  Forwarding run(request, on_behalf);
  for (;;) {
    net::Task<Acquired> acquiring = run.acquire();
    Acquired acquired = co_await std::move(acquiring);
    run.count(acquired);
    if (acquired.connection == nullptr) {
      if (!run.again_without_connection(acquired)) break;
    } else {
      UpstreamConnection& upstream = *acquired.connection;
      if (run.begin_terms(upstream)) [[unlikely]] {
        run.result.failure = co_await carry(request, on_behalf, upstream, run.result);
        run.end_tunnel(acquired);
        co_return run.result;
      }
      if (run.release_dead(acquired)) continue;
      Relay relay(request, on_behalf, upstream);
      run.watch(relay);
      std::optional<CrossThreadWake> news;
      if (request.waits_for_others()) relay.wake_by(news.emplace(client.waiter, loop).callback());
      run.begin(relay, upstream);
      while (!relay.ended()) {
        relay.advance();
        if (relay.ended()) break;
        relay.keep();
        const Wake wake = co_await next_event(client.waiter, relay, upstream, client.channel);
        if (wake == Wake::kCancelled) relay.cancel();
        if (wake == Wake::kTimeout) relay.timed_out();
      }
      if (relay.switched()) {
        run.result.failure = co_await speak(request, on_behalf, relay, run.result);
        run.end_switched(relay, acquired);
        co_return run.result;
      }
      if (!run.again_after(relay, acquired)) break;
    }
    const net::Time resume_at = run.renew();
    if (resume_at <= loop.now()) continue;
    client.inlet.keep();
    const Wake wake = co_await client.waiter.wait(resume_at, client.channel, net::kHangUp);
    if (run.is_given_up(wake)) break;
  }
  co_return run.result;
}

}  // namespace edge::runtime
