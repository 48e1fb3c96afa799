// The main path: the phases of a request, in order.
//
//   locate -> identify -> challenges of CAs -> scheme redirect -> token whose claims rules match (503)
//   -> rule (none: 404) -> policies (503, 429, preflights)
//   -> authentication (401, 403, 503) -> prepare (413, redirect, no backend: 500) -> request's body buffered, or begun
//   -> mirror -> cache -> forward -> buffered response -> conclude: what is left to answer; access log, trace, counts
//
// A phase that gives an ending reply ends the request. Any may wait. One that still needs the head, which lies in
// memory of the thread, awaits by HeadOverWaits; those behind `prepare` wait on the client's end that they are given.
// One that need not wait is a plain function, and costs no more.
#include <optional>

#include "runtime/session/background_request.h"
#include "runtime/session/exchange.h"
#include "runtime/session/phases.h"
#include "runtime/session/session.h"
#include "runtime/session/worker.h"
#include "runtime/shape/buffered_body.h"
#include "runtime/shape/cache/cached_response.h"
#include "runtime/shape/delivery.h"
#include "runtime/upstream/fetch.h"
#include "runtime/upstream/forward.h"

namespace edge::runtime {
namespace {

using Plan = cache::Transaction::Plan;

/// The phases before a rule is looked for: none waits. False without an ending: the token is to be verified first.
bool pass_before_rule(Exchange& exchange, Arrival& arrival, const ClientConnection& connection, Worker& worker,
                      std::optional<Reply>& ending) {
  const ThreadProgram& program = *exchange.program;
  if (!locate(program, connection, worker.scratch(), arrival, ending)) {
    if (program.looks_first) look_first(exchange, arrival, connection, worker, ending);
    return false;
  }
  identify(exchange, arrival, connection, worker);
  if (program.looks_first) [[unlikely]] {
    if (!look_first(exchange, arrival, connection, worker, ending)) return false;
  }
  if (arrival.listener == nullptr || !arrival.listener->acts_before_rule) return true;
  const bool stays = arrival.listener->record->scheme_redirect.count == 0 ||
                     redirect_scheme(*program.program, connection, worker.scratch().request, arrival, ending);
  return stays && arrival.listener->token_policy == program::kNone;
}

}  // namespace

net::Task<Session::Next> Session::serve() {
  Exchange exchange;
  Arrival arrival;
  begin(exchange);
  std::optional<Reply> ending;
  bool chosen = false;
  if (pass_before_rule(exchange, arrival, connection_, worker_, ending)) [[likely]] {
    chosen = choose_rule(exchange, arrival, worker_.scratch().request.fields.all(), worker_, ending);
  } else {
    if (ending) co_return refuse(*ending, exchange, arrival);
    chosen = co_await choose_rule_by_claims(exchange, arrival, ending);
  }
  if (!chosen) {
    if (exchange.authentication != nullptr) {
      const bool admitted = co_await authenticate(exchange, arrival, ending);
      static_cast<void>(admitted);  // to the same 404
    }
    co_return refuse(*ending, exchange, arrival);
  }
  if (!pass_policies(exchange, arrival, worker_, ending)) co_return refuse(*ending, exchange, arrival);
  if (exchange.authentication != nullptr) [[unlikely]] {
    const bool admitted = co_await authenticate(exchange, arrival, ending);
    if (!admitted) co_return refuse(*ending, exchange, arrival);
  }
  if (!prepare(exchange, arrival, connection_, worker_, ending)) co_return refuse(*ending, exchange, arrival);

  ForwardRequest& request = exchange.forward;
  if (request.notes != nullptr) request.notes->decided_at = worker_.loop().now();
  const ForwardFor on_behalf{
      {client_, inlet_, outlet_, waiter_}, worker_.parts(), worker_.counters(), worker_.random()};
  ExchangeResult result;
  if (request.body.buffered != nullptr) {
    result.failure =
        co_await buffer_body(request.body, request.head, {on_behalf.client, request.deadlines, on_behalf.worker},
                             request.trailer_rules(), worker_.counters().responses[1]);
    if (result.failure) co_return conclude(result, exchange);
    request.head = request.body.head.view();
  } else if (awaits_body(request.body, inlet_)) {
    result.failure =
        co_await await_body(request.body, request.head, {on_behalf.client, request.deadlines, on_behalf.worker});
    if (result.failure) co_return conclude(result, exchange);
  }
  if (exchange.mirrored) mirror_in_background(worker_, exchange.program, *exchange.taken.host, request);
  if (exchange.cache != nullptr) {
    result = co_await serve_cached(exchange, on_behalf);
  } else {
    result = co_await forward(request, on_behalf);
  }
  if (result.withheld && !result.failure) {
    const ResponseTarget target{request.response, request.deadlines, on_behalf.client, on_behalf.worker};
    result = co_await deliver_buffered(target, exchange.cache ? exchange.cache->fields() : std::string_view{}, result);
  }
  co_return conclude(result, exchange);
}

void Session::begin(Exchange& exchange) {
  const net::http1::RequestHead& head = worker_.scratch().request;
  worker_.counters().requests.add();
  exchange.program = worker_.pin();
  exchange.began = head_since_;
  exchange.reply_form = reply_form(head.fields);
  exchange.forward.body.framing = head.body;
  exchange.forward.body.expect_continue = head.expect_continue;
  exchange.forward.response.method = head.method;
  exchange.forward.response.minor = head.minor;
  exchange.forward.response.keep_alive = head.keep_alive;
}

// The cache's phase (rule D4): answer from what is stored, wait for another request that fetches the same, or fetch it
// and store what comes.
net::Task<ExchangeResult> Session::serve_cached(Exchange& exchange, const ForwardFor& on_behalf) {
  cache::Transaction& cache = *exchange.cache;
  ForwardRequest& request = exchange.forward;
  const trace::Step traced = request.spans.begin_step();
  Plan plan = cache.look_up(request.head);
  ExchangeResult result;
  result.body = request.body.replayable() ? BodyState::kRead : BodyState::kUnread;
  result.reusable = true;
  if (plan == Plan::kFetch) {
    result.failure =
        co_await cache::join_fetch(cache, plan, on_behalf.client, on_behalf.worker.loop, request.deadlines.until);
  }
  trace_look_up(request.spans, traced, plan == Plan::kReuse ? "hit" : plan == Plan::kRefuse ? "refused" : "forward");
  if (plan == Plan::kRefuse && !result.failure) result.failure = {Origin::kClient, FailureKind::kNotCached, false};
  if (result.failure) co_return result;
  if (plan == Plan::kReuse) {
    if (auto refresh = cache.refresh()) refresh_in_background(worker_, exchange.program, request, std::move(refresh));
  } else {
    const Fetched fetched = co_await fetch(cache, request, on_behalf);
    result = fetched.result;
    if (!fetched.stored) co_return result;
  }
  const ResponseTarget target{request.response, request.deadlines, on_behalf.client, on_behalf.worker};
  result = co_await cache::deliver_stored(cache, target, result);
  co_return result;
}

}  // namespace edge::runtime
