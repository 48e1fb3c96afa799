#include "runtime/upstream/backend_pool.h"

#include <algorithm>

namespace edge::runtime {
namespace {

std::uint32_t share(std::uint32_t limit, unsigned threads) { return limit == 0 ? 0 : (limit + threads - 1) / threads; }

/// A failure is quick, and must not look attractive for it.
constexpr net::Duration kFailedLatency = std::chrono::seconds(5);

Acquired fault(AcquireFault what) { return {nullptr, what}; }

}  // namespace

void UpstreamConnection::unattended(std::uint8_t events) {
  // That it can be written to is still reported once when its first answer came as quickly as the connection.
  if (idle_ && ((events & net::kRead) != 0 || hung_up())) discard_idle();
}

void UpstreamConnection::begin(bool weighs_load, net::Time now) {
  if (!weighs_load) return;
  counted_ = true;
  began_ = now;
  endpoint_->load->in_flight.fetch_add(1, std::memory_order_relaxed);
}

void UpstreamConnection::answered(net::Time now) {
  if (counted_) endpoint_->latency.observe(now - began_, now);
}

void UpstreamConnection::end() {
  if (std::exchange(counted_, false)) endpoint_->load->in_flight.fetch_sub(1, std::memory_order_relaxed);
}

void UpstreamConnection::discard_idle() {
  BackendPool& pool = pool_;
  pool.remove_idle(*this);
  pool.discard(std::unique_ptr<UpstreamConnection>(this));
}

BackendPool::~BackendPool() { close_idle(); }

void BackendPool::configure(const program::BackendRecord& record, net::Duration default_idle_timeout) {
  settings_ = record;
  idle_timeout_ = record.idle_timeout_ns != 0 ? net::Duration(record.idle_timeout_ns) : default_idle_timeout;
  max_connections_ = share(record.max_connections, threads_);
  max_pending_ = share(record.max_pending_requests, threads_);
  balancer_.prepare(record.balance, endpoints_);
}

void BackendPool::set_endpoints(std::span<const program::Endpoint> endpoints) {
  std::vector<std::shared_ptr<UpstreamEndpoint>> next;
  for (const program::Endpoint& endpoint : endpoints) {
    if (!endpoint.ready) continue;
    const net::SocketAddress address{endpoint.address, endpoint.port};
    const auto known = std::find_if(endpoints_.begin(), endpoints_.end(),
                                    [&](const auto& old) { return old != nullptr && old->address == address; });
    if (known != endpoints_.end()) {
      next.push_back(std::move(*known));
    } else {
      next.push_back(std::make_shared<UpstreamEndpoint>());
      next.back()->address = address;
      next.back()->load = loads_.of(settings_.id, address);
    }
  }
  endpoints_.swap(next);
  balancer_.prepare(settings_.balance, endpoints_);
  for (const auto& old : next) {
    if (old == nullptr) continue;
    old->gone = true;
    while (old->idle != nullptr) old->idle->discard_idle();
  }
}

void BackendPool::close_idle() {
  for (const auto& endpoint : endpoints_) {
    while (endpoint->idle != nullptr) endpoint->idle->discard_idle();
  }
}

std::shared_ptr<UpstreamEndpoint> BackendPool::pick(std::uint64_t key) {
  if (endpoints_.empty()) return nullptr;
  return endpoints_[balancer_.pick(endpoints_, key, loop_.now())];
}

UpstreamConnection* BackendPool::take_idle(UpstreamEndpoint& endpoint) {
  UpstreamConnection* connection = endpoint.idle;
  if (connection == nullptr) return nullptr;
  remove_idle(*connection);
  ++connection->requests_;
  connection->begin(balancer_.weighs_load(), loop_.now());
  counts_.reused.add();
  return connection;
}

UpstreamConnection* BackendPool::take_any_idle() {
  for (const auto& endpoint : endpoints_) {
    if (UpstreamConnection* connection = take_idle(*endpoint)) return connection;
  }
  return nullptr;
}

/// At the limit of connections an unused one makes room: it takes the request itself when it leads where the request
/// may go, else it is closed.
std::unique_ptr<UpstreamConnection> BackendPool::take_instead(const UpstreamEndpoint& wanted, bool fresh) {
  UpstreamConnection* idle = take_any_idle();
  if (idle == nullptr) return nullptr;
  std::unique_ptr<UpstreamConnection> connection(idle);
  if (!fresh && (!keyed() || &connection->endpoint() == &wanted)) return connection;
  discard(std::move(connection));
  return nullptr;
}

void BackendPool::remove_idle(UpstreamConnection& connection) {
  loop_.timers().drop(connection.expiry_);
  UpstreamEndpoint& endpoint = *connection.endpoint_;
  if (connection.previous_ != nullptr) {
    connection.previous_->next_ = connection.next_;
  } else {
    endpoint.idle = connection.next_;
  }
  if (connection.next_ != nullptr) connection.next_->previous_ = connection.previous_;
  connection.previous_ = connection.next_ = nullptr;
  connection.idle_ = false;
  --endpoint.idle_count;
}

void BackendPool::discard(std::unique_ptr<UpstreamConnection> connection) {
  connection->end();
  connection->close();
  --connections_;
  // Events of this batch may still name it.
  loop_.retire(std::move(connection));
  wake_next();
}

void BackendPool::release(std::unique_ptr<UpstreamConnection> connection, AfterUse after) {
  UpstreamEndpoint& endpoint = *connection->endpoint_;
  const std::uint32_t most = settings_.max_requests_per_connection;
  if (after == AfterUse::kFailed) endpoint.latency.observe(kFailedLatency, loop_.now());
  connection->end();
  if (after != AfterUse::kKeep || connection->readable() || connection->hung_up() || endpoint.gone ||
      (most != 0 && connection->requests_ >= most) || endpoint.idle_count >= settings_.max_idle_connections) {
    discard(std::move(connection));
    return;
  }
  UpstreamConnection* idle = connection.release();
  idle->idle_ = true;
  idle->next_ = endpoint.idle;
  if (endpoint.idle != nullptr) endpoint.idle->previous_ = idle;
  endpoint.idle = idle;
  ++endpoint.idle_count;
  loop_.timers().set(idle->expiry_, loop_.now() + idle_timeout_);
  wake_next();
}

void BackendPool::wake_next() {
  if (pending_.empty()) return;
  net::Waiter* next = pending_.front();
  pending_.pop_front();
  next->wake_later();
}

net::Task<Acquired> BackendPool::acquire(net::Waiter& waiter, net::Time deadline, std::uint64_t key, bool fresh) {
  std::shared_ptr<UpstreamEndpoint> endpoint = pick(key);
  if (endpoint == nullptr) return fault(AcquireFault::kNoEndpoint);
  if (!fresh) {
    if (UpstreamConnection* idle = take_idle(*endpoint)) {
      return Acquired{std::unique_ptr<UpstreamConnection>(idle), AcquireFault::kNone};
    }
  }
  if (!full()) return connect(waiter, deadline, std::move(endpoint));
  if (auto instead = take_instead(*endpoint, fresh)) return Acquired{std::move(instead), AcquireFault::kNone};
  if (!full()) return connect(waiter, deadline, std::move(endpoint));
  if (pending_.size() >= max_pending_) return fault(AcquireFault::kOverloaded);
  return wait_for_room(waiter, deadline, key, fresh);
}

net::Task<Acquired> BackendPool::wait_for_room(net::Waiter& waiter, net::Time deadline, std::uint64_t key, bool fresh) {
  const net::Time until = std::min(deadline, loop_.now() + net::Duration(settings_.connect_timeout_ns));
  pending_.push_back(&waiter);
  for (;;) {
    const net::Wake wake = co_await waiter.wait(until);
    if (wake != net::Wake::kReady) {
      // Called just now, and too late: the next one may come instead.
      if (std::erase(pending_, &waiter) == 0) wake_next();
      if (wake == net::Wake::kCancelled) co_return fault(AcquireFault::kCancelled);
      co_return fault(until == deadline ? AcquireFault::kTimeout : AcquireFault::kOverloaded);
    }
    std::shared_ptr<UpstreamEndpoint> endpoint = pick(key);
    if (endpoint == nullptr) co_return fault(AcquireFault::kNoEndpoint);
    std::unique_ptr<UpstreamConnection> instead = take_instead(*endpoint, fresh);
    if (instead != nullptr) co_return Acquired{std::move(instead), AcquireFault::kNone};
    if (full()) {
      // Somebody was quicker; keep the place.
      pending_.push_front(&waiter);
      continue;
    }
    Acquired result = co_await connect(waiter, deadline, std::move(endpoint));
    co_return result;
  }
}

net::Task<Acquired> BackendPool::connect(net::Waiter& waiter, net::Time deadline,
                                         std::shared_ptr<UpstreamEndpoint> endpoint) {
  counts_.connects.add();
  Result<net::Fd> fd = net::connect_tcp(endpoint->address);
  if (!fd.ok()) co_return fault(AcquireFault::kConnect);
  auto connection = std::make_unique<UpstreamConnection>(*this, std::move(endpoint));
  ++connections_;
  connection->requests_ = 1;
  connection->begin(balancer_.weighs_load(), loop_.now());
  connection->open(loop_, std::move(*fd), net::kRead | net::kWrite);
  const net::Time until = std::min(deadline, loop_.now() + net::Duration(settings_.connect_timeout_ns));
  const net::Wake wake = co_await waiter.wait(until, *connection, net::kWrite);
  if (wake == net::Wake::kReady && net::connect_error(connection->fd()) == 0) {
    co_return Acquired{std::move(connection), AcquireFault::kNone};
  }
  if (wake != net::Wake::kCancelled) connection->endpoint_->latency.observe(kFailedLatency, loop_.now());
  discard(std::move(connection));
  if (wake == net::Wake::kCancelled) co_return fault(AcquireFault::kCancelled);
  co_return fault(wake == net::Wake::kTimeout && until == deadline ? AcquireFault::kTimeout : AcquireFault::kConnect);
}

}  // namespace edge::runtime
