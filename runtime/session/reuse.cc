// The cache's step of the main path, between request filters and forward (rule D4): answer from what is stored, wait
// for another request that fetches the same, or fetch it and store what comes.
#include <algorithm>

#include "runtime/session/cross_thread_wake.h"
#include "runtime/session/delivery.h"
#include "runtime/session/session.h"
#include "runtime/session/traced.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

using cache::Transaction;
using net::Wake;
using net::http1::KnownField;
using Plan = cache::Transaction::Plan;
using std::chrono::seconds;

/// How long another's answer is waited for, whatever the request's own deadline allows.
constexpr net::Duration kMostWaited = seconds(5);
/// For a fetch that no client waits for.
constexpr net::Duration kRefreshTime = std::chrono::minutes(5);
/// Room for what an answer's head has beside the stored one.
constexpr std::size_t kAddedToHead = 512;

cache::Seconds in_seconds(std::uint64_t nanoseconds) {
  return static_cast<cache::Seconds>(nanoseconds / 1'000'000'000);
}

/// Whether a failure says something of the backend, so that a stale answer may stand in for it.
bool is_backends(const Failure& failure) {
  return failure && failure.origin != Origin::kClient && failure.kind != FailureKind::kCancelled;
}

/// What an answer has of a stored body.
class StoredBody final : public BodySource {
 public:
  StoredBody(Transaction& cache, const cache::Body& body, cache::AnswerBody answer)
      : cache_(cache), body_(body), answer_(std::move(answer)) {}
  std::uint64_t size() const override { return answer_.size(); }
  std::string_view read(std::uint64_t at, std::span<char>) override { return answer_.read(body_, at); }
  More await(std::uint64_t at, const std::function<void()>& wake) override {
    return cache_.await(answer_.stored_at(at), wake);
  }

 private:
  Transaction& cache_;
  const cache::Body& body_;
  cache::AnswerBody answer_;
};

/// Stands where a client would be, for a fetch that has none: says nothing, takes everything.
class NoClient final : public net::Layer {
 public:
  net::Transfer receive(net::Channel&, std::span<char>) override { return {net::Transfer::Kind::kWouldBlock, 0}; }
  net::Transfer send(net::Channel&, std::span<const iovec> pieces) override {
    std::size_t bytes = 0;
    for (const iovec& piece : pieces) bytes += piece.iov_len;
    return {net::Transfer::Kind::kDone, bytes};
  }
  bool finish(net::Channel&) override { return true; }
  void reset(net::Channel&) override {}
};

}  // namespace

void Session::begin_reuse(Exchange& exchange, const Arrival& arrival, cache::Way way) {
  const net::http1::RequestHead& head = worker_.scratch().request;
  const program::CacheRecord& settings = *exchange.listener->cache;
  // What a trusted proxy tells of scheme and host the backend is told, too, and may answer by (*safe*).
  const bool told = arrival.peer_trusted && head.fields.has(KnownField::kXForwardedProto);
  const std::string_view scheme = told ? head.fields.value(KnownField::kXForwardedProto) : connection_.scheme();
  const cache::Target target{scheme, arrival.host, arrival.path, head.query, head.has_query};
  const std::string origin = cache::told_origin(head, arrival.peer_trusted, way.host);
  way.origin = origin;
  const bool identified = exchange.identity != nullptr || head.fields.has(KnownField::kAuthorization) ||
                          head.fields.has(KnownField::kXAuthUser);
  exchange.cache = std::make_unique<Transaction>(
      exchange.program->caches[exchange.listener->record->gateway],
      cache::TtlLimits{in_seconds(settings.default_ttl_ns), in_seconds(settings.max_ttl_ns)},
      cache::Workplace{worker_.scratch().request, worker_.counters().cache, worker_.scratch().limits},
      [&worker = worker_] {
        return cache::Now{static_cast<cache::Seconds>(worker.unix_milliseconds() / 1000), worker.date()};
      },
      cache::make_key(target, way), identified);
}

net::Task<Session::Outcome> Session::reuse_or_forward(Exchange& exchange) {
  Transaction& cache = *exchange.cache;
  const net::Buffer& own = exchange.shaping.request_head;
  const trace::Step traced = begin_step(exchange);
  Plan plan =
      cache.look_up(own.empty() ? std::string_view(worker_.scratch().head().data(), exchange.head_size) : own.view());
  Outcome outcome;
  outcome.body = exchange.body_replayable() ? BodyState::kRead : BodyState::kUnread;
  outcome.reusable = true;
  if (plan == Plan::kFetch) {
    outcome.failure = co_await join_fetch(exchange, plan);
  }
  trace_look_up(exchange, traced, plan);
  if (outcome.failure) co_return outcome;
  if (plan == Plan::kRefuse) {
    outcome.failure = {Origin::kClient, FailureKind::kNotCached, false};
  } else if (plan == Plan::kReuse) {
    outcome = co_await deliver_stored(exchange, outcome);
  } else {
    outcome = co_await fetch(exchange);
  }
  co_return outcome;
}

// Waits as long as somebody else fetches the same. `plan` becomes kForward, or what can be done with what was fetched,
// or is being fetched.
net::Task<Failure> Session::join_fetch(const Exchange& exchange, Plan& plan) {
  Transaction& cache = *exchange.cache;
  const net::Time until = std::min(exchange.deadline, worker_.loop().now() + kMostWaited);
  bool patient = true;
  while (plan == Plan::kFetch) {
    const CrossThreadWake news(waiter_, worker_.loop());
    plan = cache.fetch(patient ? news.callback() : std::function<void()>());
    if (plan != Plan::kWait) break;
    cache.keep();
    inlet_.keep();
    const Wake why = co_await waiter_.wait(until, client_, net::kHangUp);
    if (why == Wake::kCancelled) co_return Failure{Origin::kProxy, FailureKind::kCancelled, false};
    if (client_.hung_up()) co_return Failure{Origin::kClient, FailureKind::kClientGone, false};
    if (why == Wake::kTimeout && exchange.deadline <= worker_.loop().now()) {
      co_return Failure{Origin::kProxy, FailureKind::kRequestTimeout, false};
    }
    patient = why != Wake::kTimeout;
    plan = cache.look_up();
  }
  co_return Failure{};
}

// Forwards, with the cache looking on, which may take what comes for itself.
net::Task<Session::Outcome> Session::fetch(Exchange& exchange) {
  Transaction& cache = *exchange.cache;
  exchange.shaping.tee = &cache;
  if (exchange.shaping.held != nullptr) cache.keep_to_itself();
  Outcome outcome;
  Transaction::Next next = Transaction::Next::kForward;
  while (next == Transaction::Next::kForward) {
    const std::span<char> area = worker_.scratch().head();
    if (cache.upstream_head().size() > area.size()) cache.forget_conditions();
    const std::string_view head = cache.upstream_head();
    if (exchange.shaping.request == nullptr && head.data() != area.data()) {
      std::copy(head.begin(), head.end(), area.begin());
      exchange.head_size = static_cast<std::uint32_t>(head.size());
    }
    // What it may be asked for again must not lie in the scratch when others use it.
    cache.keep();
    outcome = co_await forward(exchange);
    next = cache.forwarded(is_backends(outcome.failure) && !outcome.answered);
  }
  const bool client_left = outcome.failure && !is_backends(outcome.failure);
  if (next != Transaction::Next::kReuse || client_left) co_return outcome;
  outcome = co_await deliver_stored(exchange, outcome);
  co_return outcome;
}

net::Task<Session::Outcome> Session::deliver_stored(const Exchange& exchange, Outcome before) {
  Transaction& cache = *exchange.cache;
  // Shared: the store may let go of it before it is with the client.
  const std::shared_ptr<const cache::Entry> entry = cache.entry();
  net::Buffer text;
  const std::span<char> room = text.room(entry->head.size() + kAddedToHead);
  net::http1::HeadWriter out(room.data(), room.size());
  cache::AnswerBody answer = cache.write_head(out);
  text.grow(out.size());
  const std::string fields(cache.fields());
  if (auto refresh = cache.refresh()) refresh_behind(exchange, std::move(refresh));

  StoredBody body(cache, *entry->body, std::move(answer));
  const StoredResponse stored{text.view(), body, fields, {}, false};
  Outcome outcome = co_await deliver(exchange, stored, before);
  co_return outcome;
}

// RFC 5861 §3: the same request once more, for nobody but the cache.
void Session::refresh_behind(const Exchange& exchange, std::unique_ptr<Transaction> refresh) {
  auto behind = std::make_unique<Exchange>();
  behind->program = exchange.program;
  behind->listener = exchange.listener;
  behind->host = exchange.host;
  behind->action = exchange.action;
  behind->traffic = exchange.traffic;
  behind->pool = exchange.pool;
  behind->balance_key = exchange.balance_key;
  // Nobody waits for it who could give it up.
  const net::Time now = worker_.loop().now();
  behind->bound(now, std::min(exchange.deadline, now + kRefreshTime));
  behind->method = exchange.method;
  behind->keep_alive = true;
  behind->id = exchange.id;
  // Its head was written for this request's first try, which there will be none of.
  if (exchange.trace != nullptr) behind->trace = exchange.trace->branch();
  behind->cache = std::move(refresh);
  auto* session = new Session(worker_, connection_, {net::Fd(), std::make_unique<NoClient>()}, Kind::kStream);
  worker_.keep(*session);
  session->fetch_behind(std::move(behind));
}

net::Detached Session::fetch_behind(std::unique_ptr<Exchange> exchange) {
  const Outcome outcome = co_await fetch(*exchange);
  trace_branch(*exchange, "refresh", outcome.failure);
  worker_.forget(*this);
}

}  // namespace edge::runtime
