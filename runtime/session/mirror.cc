#include "runtime/session/mirror.h"

#include "runtime/session/relay.h"
#include "runtime/session/session.h"
#include "runtime/session/traced.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

using net::Transfer;
using net::Wake;

/// Where neither route nor backend sets a time: nobody waits for the answer.
constexpr net::Duration kMirrorTime = std::chrono::seconds(30);
/// Of one thread; further ones are not begun.
constexpr std::uint64_t kMostMirrors = 1024;

/// The client of a copy: its body comes from the feed, its answer goes nowhere.
class FeedLayer final : public net::Layer {
 public:
  explicit FeedLayer(std::shared_ptr<MirrorFeed> feed) : feed_(std::move(feed)) {}

  Transfer receive(net::Channel& /*channel*/, std::span<char> into) override {
    const std::size_t taken = feed_->take(into);
    if (taken != 0) return {Transfer::Kind::kDone, taken};
    return {feed_->over() ? Transfer::Kind::kFailed : Transfer::Kind::kWouldBlock, 0};
  }
  Transfer send(net::Channel& /*channel*/, std::span<const iovec> pieces) override {
    std::size_t whole = 0;
    for (const iovec& one : pieces) whole += one.iov_len;
    return {Transfer::Kind::kDone, whole};
  }
  bool finish(net::Channel& /*channel*/) override { return true; }
  void reset(net::Channel& /*channel*/) override {}

 private:
  std::shared_ptr<MirrorFeed> feed_;
};

}  // namespace

Mirror::Mirror(Worker& worker, const Exchange& original, BackendPool& pool, std::string_view head,
               std::shared_ptr<MirrorFeed> feed)
    : worker_(worker), feed_(std::move(feed)), waiter_(worker.loop()) {
  exchange_.program = original.program;
  exchange_.listener = original.listener;
  // It comes as quickly as the original's backend takes it.
  exchange_.measured = false;
  exchange_.host = original.host;
  exchange_.action = original.action;
  exchange_.traffic = original.traffic;
  exchange_.pool = &pool;
  exchange_.balance_key = original.balance_key;
  exchange_.body = original.body;
  exchange_.method = original.method;
  exchange_.id = original.id;
  exchange_.keep_alive = true;
  const std::uint64_t timeout = original.traffic->request_timeout_ns;
  const net::Time now = worker.loop().now();
  exchange_.bound(now, now + (timeout != 0 ? net::Duration(timeout) : kMirrorTime));
  head_.append(head);
  if (original.trace != nullptr) {
    exchange_.trace = original.trace->branch();
    TracedTries(exchange_).renew(head_);
  }
  source_.open(worker.loop(), net::Transport{{}, std::make_unique<FeedLayer>(feed_)});
  feed_->tell(&source_);
}

net::Detached Mirror::run() {
  // The original goes first; it also still uses the thread's scratch.
  co_await waiter_.wait(worker_.loop().now());
  const Failure failure = co_await send();
  trace_branch(exchange_, "mirror", failure);
  feed_->tell(nullptr);
  feed_->end();
  source_.close();
  worker_.counters().mirrors_active.subtract();
  if (feed_->fell_behind()) worker_.counters().mirrors_dropped.add();
  worker_.forget(*this);
}

net::Task<Failure> Mirror::send() {
  TracedTries traced(exchange_);
  traced.begin();
  Acquired acquired = co_await exchange_.pool->acquire(
      waiter_, {.deadline = exchange_.deadline, .fault_before = exchange_.fault_before, .key = exchange_.balance_key});
  if (acquired.connection == nullptr) {
    const FailureKind kind = acquired.tried ? FailureKind::kConnectFailed : FailureKind::kNoHealthyEndpoint;
    const Failure failure{Origin::kProxy, kind, false};
    traced.end(acquired.tried ? &*acquired.tried : nullptr, 0, failure);
    co_return failure;
  }
  UpstreamConnection& upstream = *acquired.connection;
  Relay relay(exchange_, {source_, inlet_, outlet_},
              {worker_.loop(), worker_.scratch(), counters_, worker_.encoders(), worker_.date(), worker_.draining()},
              upstream);
  relay.begin(head_.view());
  while (!relay.ended()) {
    relay.advance();
    if (relay.ended()) break;
    relay.keep();
    const Wake wake = co_await waiter_.wait(relay.wait_until(), upstream, relay.upstream_interest(), source_,
                                            relay.client_interest());
    if (wake == Wake::kCancelled) relay.cancel();
    if (wake == Wake::kTimeout) relay.timed_out();
  }
  traced.end(&upstream.endpoint().address, relay.status(), relay.failure());
  exchange_.pool->release(std::move(acquired.connection), relay.after_use());
  co_return relay.failure();
}

// Copies of a request that is about to be forwarded.
void Session::mirror(Exchange& exchange) {
  const Shaping& shaping = exchange.shaping;
  const ThreadProgram& program = *exchange.program.operator->();
  std::string_view head(worker_.scratch().head().data(), exchange.head_size);
  if (shaping.request != nullptr) head = shaping.request_head.view();
  for (const program::MirrorRecord& record : exchange.host->view.array(exchange.traffic->mirrors)) {
    if (worker_.random().next() % 100 >= record.percent) continue;
    const std::uint32_t backend = program.program->backend_index(record.backend_id);
    if (backend == program::kNone) continue;
    Counters& counters = worker_.counters();
    if (worker_.draining() || counters.mirrors_active.value() >= kMostMirrors) {
      counters.mirrors_dropped.add();
      continue;
    }
    counters.mirrors.add();
    counters.mirrors_active.add();
    auto feed = std::make_shared<MirrorFeed>();
    exchange.shaping.mirrors.add(feed);
    // Freed by the worker when it has ended.
    auto* copy = new Mirror(worker_, exchange, *program.pools[backend], head, std::move(feed));
    worker_.keep(*copy);
    copy->start();
  }
}

}  // namespace edge::runtime
