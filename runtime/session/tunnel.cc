#include "runtime/session/tunnel.h"

#include "runtime/session/client_address.h"
#include "runtime/session/worker.h"
#include "runtime/upstream/balance/split.h"
#include "runtime/upstream/relay/byte_pump.h"

namespace edge::runtime {
namespace {

/// Endpoints that are tried before a client is given up.
constexpr int kMaxTries = 3;

}  // namespace

Tunnel::Tunnel(Worker& worker, ClientConnection connection, net::Transport client, std::string_view server_name)
    : worker_(worker),
      waiter_(worker.loop()),
      connection_(std::move(connection)),
      program_(worker.pin()),
      server_name_(server_name),
      began_(worker.loop().now()) {
  client_.open(worker.loop(), std::move(client));
}

net::Detached Tunnel::run() {
  co_await serve();
  if (program_->logged.any()) log();
  client_.close();
  worker_.forget(*this);
}

net::Task<void> Tunnel::serve() {
  const std::uint32_t bind = program_->entrances[connection_.slot].bind;
  if (bind == program::kNone) co_return refuse("no-route");
  const program::RequestView view{{}, server_name_, "/", {}, {}, connection_.peer};
  decision_ = decide(*program_->program, bind, view, worker_.match_scratch());
  if (!decision_) co_return refuse("no-route");
  if ((decision_->treatment().flags & program::kDenied) != 0) co_return refuse("policy-unavailable");
  BackendPool* const pool = choose_pool(*decision_);
  if (pool == nullptr) co_return refuse("no-backend");
  const net::Duration idle(decision_->treatment().idle_timeout_ns);
  const std::string header = header_for(pool->settings(), connection_);
  connecting_at_ = worker_.loop().now();
  Acquired acquired = co_await connect(*pool, header);
  if (acquired.connection == nullptr) {
    if (acquired.tried) endpoint_ = *acquired.tried;
    ending_.reason = "connect-failed";
    co_return client_.reset_on_close();
  }
  connected_at_ = worker_.loop().now();
  endpoint_ = acquired.connection->endpoint().address;
  worker_.counters().tunnels.add();
  co_await pump(*pool, std::move(acquired), idle);
}

void Tunnel::refuse(std::string_view reason) {
  ending_.reason = reason;
  worker_.counters().tunnels_refused.add();
  client_.reset_on_close();
}

BackendPool* Tunnel::choose_pool(const Decision& decision) {
  const program::Split split = program::split_of(decision.host->view, *decision.action);
  const std::uint32_t chosen = choose_backend(split, false, worker_.split());
  if (chosen == program::kNone) return nullptr;
  const std::uint32_t backend = program_->program->backend_index(split.backends[chosen].backend_id());
  if (backend == program::kNone) return nullptr;
  BackendPool* pool = program_->pools[backend].get();
  // What is no HTTP cannot be a stream of it.
  if (pool->settings().protocol == program::BackendProtocol::kHttp2) return nullptr;
  backend_ = &program_->program->backends()[backend];
  return pool;
}

// Nothing was sent yet, so an endpoint that does not answer is no loss: the next one is tried.
net::Task<Acquired> Tunnel::connect(BackendPool& pool, std::string_view header) {
  Wanted wanted{.key = pool.keyed() ? client_key(connection_.peer) : 0, .fresh = true, .header = header};
  if (pool.marks().any() && decision_) wanted.way = pool.marks().way_of(decision_->listener->gateway->id);
  for (int tries = 1;; ++tries) {
    ending_.attempts = static_cast<std::uint32_t>(tries);
    Acquired acquired = co_await pool.acquire(waiter_, wanted);
    if (acquired.connection != nullptr || acquired.fault != AcquireFault::kConnect || tries == kMaxTries) {
      co_return acquired;
    }
    if (acquired.tried) wanted.avoid.push_back(*acquired.tried);
  }
}

net::Task<void> Tunnel::pump(BackendPool& pool, Acquired acquired, net::Duration idle) {
  UpstreamConnection& upstream = *acquired.connection;
  net::Inlet from_upstream;
  net::Outlet to_upstream;
  BytePump pump({worker_.loop(), worker_.scratch(), worker_.counters()}, {client_, inlet_, outlet_},
                {upstream, from_upstream, to_upstream}, idle);
  pump.first_answer_to(upstream);
  co_await run_pump(pump, waiter_);
  ending_.received = pump.passed_up();
  ending_.sent = pump.passed_down();
  ending_.reason = pump.reason();
  if (pump.failure()) {
    client_.reset_on_close();
    upstream.reset_on_close();
  }
  pool.release(std::move(acquired.connection), pump.never_answered() ? AfterUse::kFailed : AfterUse::kClose);
}

// No paths are excluded here: there are none.
void Tunnel::log() {
  const LoadedProgram& program = *program_->program;
  const std::uint32_t bind = program_->entrances[connection_.slot].bind;
  if (bind == program::kNone) return;
  const LoadedListener* const listener = decision_ ? decision_->listener : find_listener(program, bind, server_name_);
  RouteTaken taken{.listener = listener, .backend = backend_};
  if (decision_) {
    taken.host = decision_->host;
    taken.action = decision_->action;
  }
  LogEntry entry;
  if (!begin_entry(program_->logged_bind(connection_.slot), {connection_, server_name_, taken}, entry)) return;
  LogFacts& facts = entry.facts;
  entry[LogText::kReason] = ending_.reason;
  facts.unix_milliseconds = worker_.unix_milliseconds();
  facts.total = (worker_.loop().now() - began_).count();
  if (connected_at_ != net::Time{}) facts.connect = (connected_at_ - connecting_at_).count();
  facts.endpoint = endpoint_;
  facts.attempts = ending_.attempts;
  facts.received = ending_.received;
  facts.sent = ending_.sent;
  worker_.access_log().write(entry);
}

}  // namespace edge::runtime
