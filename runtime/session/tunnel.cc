#include "runtime/session/tunnel.h"

#include <algorithm>
#include <string>

#include "net/http1/parse.h"
#include "net/http2/tcp_tunnel.h"
#include "runtime/session/accept/client_address.h"
#include "runtime/session/worker.h"
#include "runtime/upstream/balance/split.h"
#include "runtime/upstream/relay/byte_pump.h"

namespace edge::runtime {
namespace {

/// What a session writes for a CONNECT (net/http2/tcp_tunnel.h). The gateway goes by the service's field; the authority
/// is for who reads along.
std::string tunnel_request(std::string_view service, std::string_view client) {
  // `service/shop/api:80`
  const std::size_t space = service.find('/') + 1;
  const std::size_t name = service.find('/', space) + 1;
  const std::size_t colon = service.find(':', name);
  const std::string_view port = colon == std::string_view::npos ? std::string_view() : service.substr(colon + 1);
  const bool numbered = !port.empty() && std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  std::string text = "GET / HTTP/1.1\r\nHost: ";
  text.append(service.substr(name, colon - name)).append(".").append(service.substr(space, name - 1 - space));
  text.append(":").append(numbered ? port : "0");
  text.append("\r\nConnection: upgrade\r\nUpgrade: ").append(net::http2::kTcpTunnel);
  return text.append("\r\nX-Forwarded-For: ").append(client).append("\r\n\r\n");
}

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
  const PolicyChain& chain = program_->policies->chain(*decision_->host, decision_->treatment());
  if (const auto refused = pass_address(chain, connection_.peer, *program_->ip_accesses)) {
    co_return refuse(refused->reason);
  }
  BackendPool* const pool = choose_pool(*decision_);
  if (pool == nullptr) co_return refuse("no-backend");
  const net::Duration idle(decision_->treatment().idle_timeout_ns);
  const std::string header = header_for(pool->settings(), connection_);
  connecting_at_ = worker_.loop().now();
  Acquired acquired = co_await connect(*pool, header);
  if (acquired.connection == nullptr) {
    if (acquired.tried) {
      endpoint_ = *acquired.tried;
      cluster_ = pool->cluster_of(*acquired.tried);
    }
    ending_.reason = "connect-failed";
    co_return client_.reset_on_close();
  }
  connected_at_ = worker_.loop().now();
  endpoint_ = acquired.connection->endpoint().address;
  cluster_ = acquired.connection->endpoint().cluster;
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
    if (acquired.connection != nullptr && acquired.connection->endpoint().way != nullptr) [[unlikely]] {
      const net::Time until = worker_.loop().now() + net::Duration(pool.settings().connect_timeout_ns);
      const AcquireFault fault = co_await open_to_cluster(*acquired.connection, until);
      if (fault != AcquireFault::kNone) {
        const net::SocketAddress tried = acquired.connection->endpoint().address;
        const bool at_fault = fault == AcquireFault::kConnect;
        pool.release(std::move(acquired.connection), at_fault ? AfterUse::kFailed : AfterUse::kClose);
        acquired = {nullptr, fault, tried};
      }
    }
    if (acquired.connection != nullptr || acquired.fault != AcquireFault::kConnect || tries == kMaxTries) {
      co_return acquired;
    }
    if (acquired.tried) wanted.avoid.push_back(*acquired.tried);
  }
}

// The gateway of another cluster is asked by a CONNECT, which goes over a connection that others share (decision 401).
// Nothing of the client's was sent until it has answered.
net::Task<AcquireFault> Tunnel::open_to_cluster(UpstreamConnection& upstream, net::Time until) {
  from_upstream_.drop();
  to_upstream_ = {};
  const std::string asked = tunnel_request(upstream.endpoint().way->service, connection_.peer_text());
  iovec whole = net::piece(asked);
  if (!to_upstream_.send(upstream, {&whole, 1})) co_return AcquireFault::kConnect;
  net::http1::ParseHint hint;
  for (;;) {
    const net::Transfer got = from_upstream_.fill(upstream, worker_.scratch().upstream());
    if (got.kind == net::Transfer::Kind::kDone) {
      net::http1::ResponseHead& head = worker_.scratch().response;
      const net::http1::ParseResult parsed = net::http1::parse_response(
          from_upstream_.unread(), net::http1::Method::kGet, worker_.scratch().limits, hint, head);
      if (parsed.state == net::http1::ParseState::kFault) co_return AcquireFault::kConnect;
      if (parsed.state == net::http1::ParseState::kComplete) {
        hint = {};
        from_upstream_.consume(parsed.consumed);
        if (head.status == 101) co_return AcquireFault::kNone;
        if (head.status >= 200) co_return AcquireFault::kConnect;
      }
      continue;
    }
    if (got.kind != net::Transfer::Kind::kWouldBlock) co_return AcquireFault::kConnect;
    from_upstream_.keep();
    // The client's own bytes, as a greeting that names the site, wait meanwhile.
    inlet_.keep();
    const net::Wake wake = co_await waiter_.wait(until, upstream, net::kRead, client_, net::kHangUp);
    if (wake == net::Wake::kCancelled || client_.hung_up()) co_return AcquireFault::kCancelled;
    if (wake == net::Wake::kTimeout) co_return AcquireFault::kConnect;
  }
}

net::Task<void> Tunnel::pump(BackendPool& pool, Acquired acquired, net::Duration idle) {
  UpstreamConnection& upstream = *acquired.connection;
  BytePump pump({worker_.loop(), worker_.scratch(), worker_.counters()}, {client_, inlet_, outlet_},
                {upstream, from_upstream_, to_upstream_}, idle);
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
  std::string elsewhere;
  if (cluster_ != nullptr) {
    elsewhere = entry[LogText::kDestination];
    append_cluster(*cluster_, elsewhere);
    entry[LogText::kDestination] = elsewhere;
  }
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
