// Shared connections (HTTP/2), and how a pool uses them instead of connections that serve one request at a time.
#include "runtime/upstream/pool/shared_connection.h"

#include <algorithm>

#include "net/tls/record_layer.h"
#include "program/cluster_traffic.h"
#include "runtime/upstream/pool/backend_pool.h"

namespace edge::runtime {

SharedConnection::SharedConnection(BackendPool& pool, std::shared_ptr<UpstreamEndpoint> endpoint,
                                   net::Transport transport)
    : pool_(pool), endpoint_(std::move(endpoint)), channel_(pool.loop_, pool.http2_, *this) {
  next_ = pool_.shared_;
  if (next_ != nullptr) next_->previous_ = this;
  pool_.shared_ = this;
  endpoint_->shared.push_back(this);
  cluster_way_ = endpoint_->way;
  if (cluster_way_ != nullptr) {
    // BackendPool::secure has put this layer there.
    certificate_ = static_cast<const net::tls::RecordLayer&>(*transport.layer).peer_certificate();
  }
  channel_.start(std::move(transport), pool_.encrypts(*endpoint_));
  if (cluster_way_ != nullptr) {
    channel_.label({.name = std::string(program::kClusterServiceField),
                    .value = cluster_way_->service,
                    .counter = std::string(program::kClusterHopsField),
                    .most = program::kMostClusterHops});
  }
}

bool SharedConnection::used_up() const {
  const std::uint32_t most = pool_.settings_.max_requests_per_connection;
  return channel_.closing() || endpoint_->gone || endpoint_->way != cluster_way_ || (most != 0 && requests_ >= most);
}

bool SharedConnection::has_room() const { return !used_up() && channel_.room() > 0; }

std::unique_ptr<net::Layer> SharedConnection::open_stream() {
  pool_.loop_.timers().drop(*this);
  gives_idle();
  ++requests_;
  return channel_.open_stream();
}

void SharedConnection::keep_or_close() {
  if (!idle()) return;
  // Requests that wait on other threads would never get room from us otherwise.
  if (used_up() || pool_.yields() || !keeps_idle()) return shut();
  pool_.loop_.timers().set(*this, pool_.loop_.now() + pool_.idle_timeout_);
}

bool SharedConnection::keeps_idle() {
  const std::uint32_t most = pool_.settings_.max_idle_total;
  if (idle_counted_ || most == program::kNone) return true;
  return idle_counted_ = pool_.state_->room().take_idle(most);
}

void SharedConnection::gives_idle() {
  if (std::exchange(idle_counted_, false)) pool_.state_->room().give_idle();
}

void SharedConnection::expired() {
  if (idle()) shut();
}

void SharedConnection::changed(net::http2::ClientChannel& /*channel*/) {
  pool_.wake_for_room(*this);
  keep_or_close();
}

void SharedConnection::ended(net::http2::ClientChannel& /*channel*/) {
  (previous_ != nullptr ? previous_->next_ : pool_.shared_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  std::erase(endpoint_->shared, this);
  pool_.loop_.timers().drop(*this);
  gives_idle();
  pool_.state_->room().give();
  pool_.room_freed();
  // Events of this batch may still name its channel.
  pool_.loop_.retire(std::unique_ptr<net::Retirable>(this));
}

// ---- The pool -----------------------------------------------------------------------------------------------------

UpstreamConnection* BackendPool::take_stream(UpstreamEndpoint& endpoint, std::uint64_t way, bool probe) {
  for (SharedConnection* shared : endpoint.shared) {
    if (shared->way_ != way || !shared->has_room()) continue;
    auto connection = std::make_unique<UpstreamConnection>(*this, shared->endpoint_);
    connection->begin(counts_load_, probe, loop_.now());
    put_stream(*shared, *connection);
    counts_.reused.add();
    return connection.release();
  }
  return nullptr;
}

void BackendPool::put_stream(SharedConnection& shared, UpstreamConnection& connection) {
  connection.open(loop_, net::Transport{net::Fd(), shared.open_stream()});
  connection.shared_ = &shared;
  connection.requests_ = shared.requests();
}

/// The connection that was made becomes one that is shared, and its request the first stream of it. \returns false when
/// it takes none: its peer has ended it already, as one does that refuses our certificate (TLS 1.3 tells a client of
/// that after the handshake).
bool BackendPool::share(UpstreamConnection& connection) {
  auto* shared = new SharedConnection(*this, connection.endpoint_, connection.release());
  shared->way_ = connection.way_;
  // Its place among the backend's connections is the shared one's from here on.
  connection.shared_ = shared;
  if (shared->channel_.room() == 0) {
    shared->keep_or_close();
    return false;
  }
  put_stream(*shared, connection);
  wake_for_room(*shared);
  return true;
}

net::Task<Acquired> BackendPool::connect_shared(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint) {
  endpoint->connecting = true;
  Acquired acquired = co_await connect(seeking, endpoint);
  if (acquired.connection != nullptr && !share(*acquired.connection)) {
    state_->count_connect_failure();
    release(std::move(acquired.connection), AfterUse::kFailed);
    acquired = {nullptr, AcquireFault::kConnect, endpoint->address};
  }
  connected(*endpoint, acquired.fault == AcquireFault::kConnect);
  co_return acquired;
}

void BackendPool::end_stream(std::unique_ptr<UpstreamConnection> connection) {
  // The stream tells its connection, which may be gone already.
  connection->close();
  loop_.retire(std::move(connection));
}

/// Waits for the connection that another request is making.
net::Task<Acquired> BackendPool::join(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint) {
  UpstreamEndpoint::Joiner self{&seeking.waiter};
  endpoint->joiners.push_back(&self);
  const net::Time deadline = seeking.wanted.deadline;
  const net::Time until = std::min(deadline, loop_.now() + net::Duration(settings_.connect_timeout_ns));
  const net::Wake wake = co_await seeking.waiter.wait(until);
  if (wake != net::Wake::kReady) {
    std::erase(endpoint->joiners, &self);
    if (wake == net::Wake::kCancelled) co_return failed(seeking, AcquireFault::kCancelled);
    Acquired late = failed(seeking, until == deadline ? AcquireFault::kTimeout : AcquireFault::kConnect);
    late.tried = endpoint->address;
    co_return late;
  }
  if (self.failed) {
    Acquired failure = failed(seeking, AcquireFault::kConnect);
    failure.tried = endpoint->address;
    co_return failure;
  }
  if (UpstreamConnection* stream = take_stream(*endpoint, seeking.wanted.way, seeking.probe)) {
    co_return Acquired{std::unique_ptr<UpstreamConnection>(stream), AcquireFault::kNone};
  }
  Acquired result = co_await seek(seeking, std::move(endpoint));
  co_return result;
}

/// `failed`: the endpoint cannot be reached. Without it and without a connection one of them makes the next attempt.
void BackendPool::connected(UpstreamEndpoint& endpoint, bool failed) {
  endpoint.connecting = false;
  for (UpstreamEndpoint::Joiner* joiner : endpoint.joiners) {
    joiner->failed = failed;
    joiner->waiter->wake_later();
  }
  endpoint.joiners.clear();
}

void BackendPool::wake_for_room(const SharedConnection& shared) {
  if (!shared.has_room()) return;
  for (std::size_t room = shared.channel_.room(); room > 0 && !pending_.empty(); --room) wake_next();
}

SharedConnection* BackendPool::idle_shared() const {
  for (SharedConnection* shared = shared_; shared != nullptr; shared = shared->next_) {
    if (shared->idle()) return shared;
  }
  return nullptr;
}

/// Closes those of endpoints that are gone, or are reached in another way now; `all`: every one that nobody uses.
void BackendPool::close_shared(bool all) {
  for (SharedConnection* shared = shared_; shared != nullptr;) {
    SharedConnection* next = shared->next_;
    if (shared->idle() && (all || shared->endpoint_->gone || shared->endpoint_->way != shared->cluster_way_))
      shared->shut();
    shared = next;
  }
}

/// Closes those to clusters that are not believed any more, whatever is under way on them.
void BackendPool::close_refused() {
  for (SharedConnection* shared = shared_; shared != nullptr;) {
    SharedConnection* next = shared->next_;
    const bool remote = shared->cluster_way_ != nullptr;
    if (remote && (peers_ == nullptr || !peers_->allows(shared->certificate_.get()))) shared->shut();
    shared = next;
  }
}

}  // namespace edge::runtime
