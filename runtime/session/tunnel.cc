#include "runtime/session/tunnel.h"

#include "base/hash.h"
#include "runtime/session/byte_pump.h"
#include "runtime/session/worker.h"
#include "runtime/upstream/split.h"

namespace edge::runtime {
namespace {

/// Endpoints that are tried before a client is given up.
constexpr int kMaxTries = 3;

std::uint64_t client_key(const IpAddress& client) {
  return hash_bytes(0, {reinterpret_cast<const char*>(client.bytes.data()), client.bytes.size()});
}

}  // namespace

Tunnel::Tunnel(Worker& worker, ClientConnection connection, net::Transport client, std::string_view server_name)
    : worker_(worker),
      waiter_(worker.loop()),
      connection_(std::move(connection)),
      program_(worker.pin()),
      server_name_(server_name) {
  client_.open(worker.loop(), std::move(client));
}

net::Detached Tunnel::run() {
  co_await serve();
  client_.close();
  worker_.forget(*this);
}

net::Task<void> Tunnel::serve() {
  const std::uint32_t bind = program_->entrances[connection_.slot].bind;
  if (bind == program::kNone) co_return refuse();
  const program::RequestView view{{}, server_name_, "/", {}, {}, connection_.peer};
  const std::optional<Decision> decision = decide(*program_->program, bind, view, worker_.match_scratch());
  if (!decision || (decision->traffic().flags & program::kDenied) != 0) co_return refuse();
  BackendPool* pool = choose_pool(*decision);
  if (pool == nullptr) co_return refuse();
  const std::uint64_t idle = decision->traffic().idle_timeout_ns;
  const std::string header = header_for(pool->settings(), connection_);
  Acquired acquired = co_await connect(*pool, header);
  if (acquired.connection == nullptr) co_return client_.reset_on_close();
  worker_.counters().tunnels.add();
  co_await pump(*pool, std::move(acquired), idle != 0 ? net::Duration(idle) : kTunnelIdle);
}

void Tunnel::refuse() {
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
  return pool->settings().protocol == program::BackendProtocol::kHttp2 ? nullptr : pool;
}

// Nothing was sent yet, so an endpoint that does not answer is no loss: the next one is tried.
net::Task<Acquired> Tunnel::connect(BackendPool& pool, std::string_view header) {
  Wanted wanted{.key = pool.keyed() ? client_key(connection_.peer) : 0, .fresh = true, .header = header};
  for (int tries = 1;; ++tries) {
    Acquired acquired = co_await pool.acquire(waiter_, wanted);
    if (acquired.connection != nullptr || acquired.fault != AcquireFault::kConnect || tries == kMaxTries) {
      co_return acquired;
    }
    wanted.avoid = acquired.tried;
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
  if (pump.broken()) {
    client_.reset_on_close();
    upstream.reset_on_close();
  }
  pool.release(std::move(acquired.connection), pump.never_answered() ? AfterUse::kFailed : AfterUse::kClose);
}

}  // namespace edge::runtime
