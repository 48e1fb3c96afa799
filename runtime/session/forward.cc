// Forward: a connection from the pool, the exchange over it, one silent retry when a pooled connection had died.
#include "runtime/session/relay.h"
#include "runtime/session/session.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

using net::Wake;

Failure failure_of(AcquireFault fault) {
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
    case AcquireFault::kTimeout:
      return {Origin::kProxy, FailureKind::kRequestTimeout, true};
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

}  // namespace

net::Task<Session::Outcome> Session::forward(const Exchange& exchange) {
  Outcome outcome;
  std::string_view head(worker_.scratch().head().data(), exchange.head_size);
  if (exchange.shaping.request != nullptr) head = exchange.shaping.request_head.view();
  net::Buffer kept;
  bool fresh = false;
  for (;;) {
    net::Task<Acquired> acquiring = exchange.pool->acquire(waiter_, {exchange.deadline, exchange.balance_key, fresh});
    if (!acquiring.await_ready() && kept.empty()) {
      kept.append(head);
      head = kept.view();
      inlet_.keep();
    }
    Acquired acquired = co_await std::move(acquiring);
    if (acquired.connection == nullptr) {
      outcome.failure = failure_of(acquired.fault);
      outcome.reusable = true;
      co_return outcome;
    }
    UpstreamConnection& upstream = *acquired.connection;
    const bool pooled = upstream.requests() > 1;
    if (pooled && !exchange.idempotent() && !looks_alive(upstream)) {
      exchange.pool->release(std::move(acquired.connection), AfterUse::kClose);
      continue;
    }
    Relay relay(exchange, {client_, inlet_, outlet_}, relay_place(), upstream);
    relay.begin(head);
    // Kept for a second try, which only a pooled connection can ask for.
    if (pooled && kept.empty()) {
      kept.append(head);
      head = kept.view();
    }
    while (!relay.ended()) {
      relay.advance();
      if (relay.ended()) break;
      relay.keep();
      Wake wake;
      if (upstream.hung_up() && relay.upstream_interest() == net::kHangUp) {
        // Its end is known already: only the client is waited for.
        wake = co_await waiter_.wait(relay.wait_until(), client_, relay.client_interest());
      } else {
        wake = co_await waiter_.wait(relay.wait_until(), upstream, relay.upstream_interest(), client_,
                                     relay.client_interest());
      }
      if (wake == Wake::kCancelled) relay.cancel();
      if (wake == Wake::kTimeout) relay.timed_out();
    }
    exchange.pool->release(std::move(acquired.connection), relay.after_use());
    if (relay.failure().replayable && pooled && !fresh) {
      fresh = true;
      worker_.counters().upstream_retries.add();
      continue;
    }
    outcome.failure = relay.failure();
    outcome.status = relay.status();
    outcome.answered = relay.answered();
    outcome.body = relay.request_read() ? BodyState::kRead : BodyState::kUnread;
    outcome.reusable = relay.client_reusable();
    outcome.reset = relay.must_reset_client();
    outcome.withheld = relay.withheld();
    co_return outcome;
  }
}

}  // namespace edge::runtime
