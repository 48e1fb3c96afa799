#include "runtime/upstream/pool/backend_pool.h"

#include <algorithm>

#include "net/byte_stream.h"
#include "net/marked_socket.h"

namespace edge::runtime {
namespace {

/// A failure is quick, and must not look attractive for it.
constexpr net::Duration kFailedLatency = std::chrono::seconds(5);

/// A new connection has room for a header; one that has not is of no use.
bool announce(UpstreamConnection& connection, std::string_view header) {
  if (header.empty()) return true;
  const iovec whole = net::piece(header);
  const net::Transfer sent = connection.send({&whole, 1});
  return sent.kind == net::Transfer::Kind::kDone && sent.bytes == header.size();
}

bool among(std::span<const net::SocketAddress> addresses, const UpstreamEndpoint& endpoint) {
  return std::ranges::find(addresses, endpoint.address) != addresses.end();
}

}  // namespace

void UpstreamConnection::unattended(std::uint8_t events) {
  // That it can be written to is still reported once when its first answer came as quickly as the connection.
  // And a server may give tickets for the next session at any time (RFC 8446 §4.6.1).
  if (idle_ && (hung_up() || ((events & net::kRead) != 0 && !silent()))) discard_idle();
}

void UpstreamConnection::begin(bool weighs_load, bool probe, net::Time now) {
  probe_ = probe;
  outcome_ = RequestResult::kUnknown;
  if (!weighs_load) return;
  counted_ = true;
  began_ = now;
  endpoint_->state->in_flight.fetch_add(1, std::memory_order_relaxed);
}

void UpstreamConnection::answered(net::Time now, int status) {
  outcome_ = status >= 500 ? RequestResult::kServerError : RequestResult::kSuccess;
  if (counted_) endpoint_->latency.observe(now - began_, now);
}

void UpstreamConnection::end() {
  if (std::exchange(counted_, false)) endpoint_->state->in_flight.fetch_sub(1, std::memory_order_relaxed);
}

void UpstreamConnection::discard_idle() {
  BackendPool& pool = pool_;
  pool.remove_idle(*this);
  pool.discard(std::unique_ptr<UpstreamConnection>(this));
}

std::shared_ptr<BackendPool> BackendPool::make(const PoolContext& context, std::shared_ptr<BackendState> state,
                                               std::uint64_t start) {
  auto pool = std::make_shared<BackendPool>(context, std::move(state), start);
  // From here on other threads may ask for it.
  pool->state_->room().join(*pool);
  return pool;
}

BackendPool::~BackendPool() {
  state_->room().leave(*this);
  close_idle();
}

void BackendPool::configure(const program::BackendRecord& record, net::Duration default_idle_timeout) {
  settings_ = record;
  slow_start_ = net::Duration(record.slow_start_ns);
  idle_timeout_ = record.idle_timeout_ns != 0 ? net::Duration(record.idle_timeout_ns) : default_idle_timeout;
  refresh();
}

void BackendPool::set_ways(std::vector<ClusterWay> ways, std::shared_ptr<const net::tls::Authorities> peers) {
  std::vector<std::shared_ptr<const ClusterWay>> next;
  for (ClusterWay& way : ways) {
    auto known = way_to(way.cluster);
    const bool same = known != nullptr && *known == way;
    next.push_back(same ? std::move(known) : std::make_shared<const ClusterWay>(std::move(way)));
  }
  ways_ = std::move(next);
  if (std::exchange(peers_, std::move(peers)) != peers_) close_refused();
}

std::shared_ptr<const ClusterWay> BackendPool::way_to(const std::string& cluster) const {
  const auto found = std::ranges::find(ways_, std::string_view(cluster),
                                       [](const auto& way) { return std::string_view(way->cluster); });
  return found == ways_.end() ? nullptr : *found;
}

void BackendPool::set_way(UpstreamEndpoint& endpoint) const {
  const std::string& cluster = endpoint.state->cluster;
  endpoint.way = cluster.empty() ? nullptr : way_to(cluster);
  // One of a cluster that no reference names any more is gone with the next endpoints; until then nothing is sent.
  endpoint.shares = !cluster.empty() || settings_.protocol == program::BackendProtocol::kHttp2;
}

void BackendPool::refresh() {
  const BackendState::View view = state_->view(loop_.now());
  seen_ = view.generation;
  seen_until_ = view.until;
  std::vector<std::shared_ptr<UpstreamEndpoint>> next;
  in_use_.clear();
  reserve_.clear();
  // Both are sorted by address and port, so what stays is met in the same order.
  auto known = endpoints_.begin();
  for (const BackendState::Choice& choice : view.endpoints) {
    const auto same = std::find_if(known, endpoints_.end(),
                                   [&](const auto& old) { return old != nullptr && old->state == choice.endpoint; });
    if (same != endpoints_.end()) {
      next.push_back(std::move(*same));
      known = same + 1;
    } else {
      next.push_back(std::make_shared<UpstreamEndpoint>());
      next.back()->address = choice.endpoint->address;
      next.back()->state = choice.endpoint;
    }
    set_way(*next.back());
    next.back()->cluster = choice.cluster;
    next.back()->since = choice.since;
    next.back()->weight = choice.weight;
    if (choice.in_use) in_use_.push_back(next.back());
    if (choice.reserve) reserve_.push_back(next.back());
  }
  endpoints_.swap(next);
  balancer_.prepare(settings_.balance, in_use_, slow_start_);
  counts_load_ = balancer_.weighs_load() || view.counts_load;
  for (const auto& old : next) {
    if (old == nullptr) continue;
    old->gone = true;
    while (old->idle != nullptr) old->idle->discard_idle();
  }
  if (shared_ != nullptr) close_shared(false);
}

void BackendPool::close_idle() {
  for (const auto& endpoint : endpoints_) {
    while (endpoint->idle != nullptr) endpoint->idle->discard_idle();
  }
  close_shared(true);
}

AcquireFault BackendPool::no_endpoint() const {
  return endpoints_.empty() ? AcquireFault::kNoEndpoint : AcquireFault::kNoHealthyEndpoint;
}

std::shared_ptr<UpstreamEndpoint> BackendPool::pick(const Wanted& wanted) {
  if (in_use_.empty()) return nullptr;
  const std::size_t at = balancer_.pick(in_use_, wanted.key, loop_.now());
  return wanted.avoid.empty() ? in_use_[at] : steer(wanted, at);
}

/// `at`: what balancing has chosen.
std::shared_ptr<UpstreamEndpoint> BackendPool::steer(const Wanted& wanted, std::size_t at) {
  if (wanted.prefers_first) {
    const auto* const found = find_usable(wanted.avoid.front());
    return found == nullptr ? in_use_[at] : *found;
  }
  if (!among(wanted.avoid, *in_use_[at])) return in_use_[at];
  at = balancer_.other(in_use_, at);
  for (std::size_t n = 0; n < in_use_.size(); ++n) {
    const auto& endpoint = in_use_[(at + n) % in_use_.size()];
    if (!among(wanted.avoid, *endpoint)) return endpoint;
  }
  const std::size_t first = reserve_.empty() ? 0 : reserve_turn_++ % reserve_.size();
  for (std::size_t n = 0; n < reserve_.size(); ++n) {
    const auto& endpoint = reserve_[(first + n) % reserve_.size()];
    if (!among(wanted.avoid, *endpoint)) return endpoint;
  }
  return in_use_[at];
}

const std::shared_ptr<UpstreamEndpoint>* BackendPool::find_usable(const net::SocketAddress& address) const {
  for (const auto* endpoints : {&in_use_, &reserve_}) {
    const auto found = std::ranges::find(*endpoints, address, [](const auto& one) { return one->address; });
    if (found != endpoints->end()) return &*found;
  }
  return nullptr;
}

std::shared_ptr<const EndpointCluster> BackendPool::cluster_of(const net::SocketAddress& address) const {
  const auto found = std::ranges::find(endpoints_, address, [](const auto& one) { return one->address; });
  return found == endpoints_.end() ? nullptr : (*found)->cluster;
}

bool BackendPool::serves(const net::SocketAddress& endpoint) {
  up_to_date();
  return find_usable(endpoint) != nullptr;
}

bool BackendPool::serves_any() {
  up_to_date();
  return !in_use_.empty();
}

bool BackendPool::has_other(std::span<const net::SocketAddress> than) const {
  const auto is_other = [&](const auto& endpoint) { return !among(than, *endpoint); };
  return std::ranges::any_of(in_use_, is_other) || std::ranges::any_of(reserve_, is_other);
}

UpstreamConnection* BackendPool::take_idle(UpstreamEndpoint& endpoint, std::uint64_t way, bool probe) {
  if (endpoint.shares) return take_stream(endpoint, way, probe);
  UpstreamConnection* connection = endpoint.idle;
  while (connection != nullptr && connection->way_ != way) connection = connection->next_;
  if (connection == nullptr) return nullptr;
  remove_idle(*connection);
  ++connection->requests_;
  connection->begin(counts_load_, probe, loop_.now());
  counts_.reused.add();
  return connection;
}

UpstreamConnection* BackendPool::any_idle() const {
  for (const auto& endpoint : endpoints_) {
    if (endpoint->idle != nullptr) return endpoint->idle;
  }
  return nullptr;
}

bool BackendPool::close_any_idle() {
  if (UpstreamConnection* idle = any_idle()) {
    idle->discard_idle();
  } else if (SharedConnection* shared = idle_shared()) {
    shared->shut();
  } else {
    return false;
  }
  return true;
}

/// At the limit of connections an unused one makes room: it takes the request itself when it leads where the request
/// may go, else it is closed.
std::unique_ptr<UpstreamConnection> BackendPool::take_instead(const UpstreamEndpoint& wanted, const Seeking& seeking) {
  for (const auto& endpoint : in_use_) {
    if (seeking.wanted.fresh && !endpoint->shares) continue;
    if ((keyed() || seeking.wanted.prefers_first) && endpoint.get() != &wanted) continue;
    if (auto* idle = take_idle(*endpoint, seeking.wanted.way, seeking.probe))
      return std::unique_ptr<UpstreamConnection>(idle);
  }
  close_any_idle();
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
  if (std::exchange(connection.idle_counted_, false)) state_->room().give_idle();
  idle_.subtract();
  --endpoint.idle_count;
}

void BackendPool::discard(std::unique_ptr<UpstreamConnection> connection) {
  connection->end();
  connection->close();
  state_->room().give();
  // Events of this batch may still name it.
  loop_.retire(std::move(connection));
  room_freed();
}

void BackendPool::room_freed() {
  const bool theirs = yields();
  ++turn_;
  if (theirs || pending_.empty()) {
    state_->room().offer(*this);
  } else {
    wake_next();
  }
}

void BackendPool::room_wanted() {
  loop_.post([weak = weak_from_this()] {
    const auto pool = weak.lock();
    if (pool == nullptr || pool->state_->room().queued() <= pool->queued_) return;
    pool->close_any_idle();
  });
}

void BackendPool::room_free() {
  loop_.post([weak = weak_from_this()] {
    const auto pool = weak.lock();
    if (pool == nullptr) return;
    if (pool->pending_.empty()) {
      pool->state_->room().offer(*pool);
    } else {
      pool->wake_next();
    }
  });
}

void BackendPool::release(std::unique_ptr<UpstreamConnection> connection, AfterUse after) {
  UpstreamEndpoint& endpoint = *connection->endpoint_;
  const std::uint32_t most = settings_.max_requests_per_connection;
  if (after == AfterUse::kFailed) {
    connection->outcome_ = RequestResult::kNoAnswer;
    endpoint.latency.observe(kFailedLatency, loop_.now());
  }
  state_->observe(*endpoint.state, connection->outcome_, connection->probe_, loop_.now());
  connection->end();
  if (connection->shared_ != nullptr) return end_stream(std::move(connection));
  // Requests that wait on other threads would never get room from us otherwise.
  if (yields()) after = AfterUse::kClose;
  const bool speaks = after == AfterUse::kKeep && connection->readable() && !connection->silent();
  if (after != AfterUse::kKeep || speaks || connection->hung_up() || endpoint.gone ||
      (most != 0 && connection->requests_ >= most) || endpoint.idle_count >= settings_.max_idle_connections ||
      !keeps_idle(*connection)) {
    discard(std::move(connection));
    return;
  }
  UpstreamConnection* idle = connection.release();
  idle->idle_ = true;
  idle_.add();
  idle->next_ = endpoint.idle;
  if (endpoint.idle != nullptr) endpoint.idle->previous_ = idle;
  endpoint.idle = idle;
  ++endpoint.idle_count;
  loop_.timers().set(idle->expiry_, loop_.now() + idle_timeout_);
  ++turn_;
  wake_next();
}

// The bound of the whole backend is counted where there is one, and by those that came to rest under it.
bool BackendPool::keeps_idle(UpstreamConnection& connection) {
  if (settings_.max_idle_total == program::kNone) return true;
  return connection.idle_counted_ = state_->room().take_idle(settings_.max_idle_total);
}

void BackendPool::wake_next() {
  if (pending_.empty()) return;
  net::Waiter* next = pending_.front();
  pending_.pop_front();
  next->wake_later();
}

BackendPool::ChosenEndpoint BackendPool::choose_endpoint(const Wanted& wanted) {
  up_to_date();
  bool probe = false;
  if (!state_->circuit_closed()) {
    const Circuit::Admission admission = state_->admit(loop_.now());
    if (admission == Circuit::Admission::kRefuse) return {nullptr, AcquireFault::kCircuitOpen};
    probe = admission == Circuit::Admission::kProbe;
  }
  std::shared_ptr<UpstreamEndpoint> endpoint = pick(wanted);
  if (endpoint != nullptr) return {std::move(endpoint), AcquireFault::kNone, probe};
  state_->nothing_met(probe, loop_.now());
  return {nullptr, no_endpoint()};
}

net::Task<Acquired> BackendPool::acquire(net::Waiter& waiter, const Wanted& wanted) {
  up_to_date();
  bool probe = false;
  if (!state_->circuit_closed()) {
    const Circuit::Admission admission = state_->admit(loop_.now());
    if (admission == Circuit::Admission::kRefuse) return Acquired{nullptr, AcquireFault::kCircuitOpen};
    probe = admission == Circuit::Admission::kProbe;
  }
  std::shared_ptr<UpstreamEndpoint> endpoint = pick(wanted);
  // A connection that broke takes no stream any more: there is none that has to be passed by.
  if (endpoint != nullptr && (!wanted.fresh || endpoint->shares)) {
    if (UpstreamConnection* idle = take_idle(*endpoint, wanted.way, probe)) {
      return Acquired{std::unique_ptr<UpstreamConnection>(idle), AcquireFault::kNone};
    }
  }
  return seek({waiter, wanted, probe}, std::move(endpoint));
}

Acquired BackendPool::failed(const Seeking& seeking, AcquireFault fault) {
  state_->nothing_met(seeking.probe, loop_.now());
  if (fault == AcquireFault::kOverloaded) state_->count_overflow();
  return {nullptr, fault};
}

net::Task<Acquired> BackendPool::seek(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint) {
  if (endpoint == nullptr) return failed(seeking, no_endpoint());
  if (endpoint->connecting) return join(seeking, std::move(endpoint));
  if (take_room()) return make_connection(seeking, std::move(endpoint));
  if (auto instead = take_instead(*endpoint, seeking)) return Acquired{std::move(instead), AcquireFault::kNone};
  if (take_room()) return make_connection(seeking, std::move(endpoint));
  if (!state_->room().enqueue(*this, settings_.max_pending_requests)) return failed(seeking, AcquireFault::kOverloaded);
  return wait_for_room(seeking);
}

net::Task<Acquired> BackendPool::wait_for_room(Seeking seeking) {
  net::Waiter& waiter = seeking.waiter;
  const net::Time until = std::min(seeking.wanted.deadline, loop_.now() + net::Duration(settings_.connect_timeout_ns));
  ++queued_;
  // It may have been freed since we asked, by a thread that did not see us wait.
  bool has_room = take_room();
  if (!has_room) {
    state_->room().ask(*this);
    pending_.push_back(&waiter);
  }
  while (!has_room) {
    const net::Wake wake = co_await waiter.wait(until);
    if (wake != net::Wake::kReady) {
      // Called just now, and too late: the next one may come instead.
      const bool called = std::erase(pending_, &waiter) == 0;
      leave_queue();
      if (called) room_freed();
      if (wake == net::Wake::kCancelled) co_return failed(seeking, AcquireFault::kCancelled);
      const bool over = until == seeking.wanted.deadline;
      co_return failed(seeking, over ? AcquireFault::kTimeout : AcquireFault::kOverloaded);
    }
    up_to_date();
    const std::shared_ptr<UpstreamEndpoint> endpoint = pick(seeking.wanted);
    if (endpoint == nullptr) break;
    std::unique_ptr<UpstreamConnection> instead = take_instead(*endpoint, seeking);
    if (instead != nullptr) {
      leave_queue();
      co_return Acquired{std::move(instead), AcquireFault::kNone};
    }
    has_room = take_room();
    // Somebody was quicker; keep the place.
    if (!has_room) pending_.push_front(&waiter);
  }
  leave_queue();
  std::shared_ptr<UpstreamEndpoint> endpoint = pick(seeking.wanted);
  if (endpoint == nullptr) {
    if (has_room) state_->room().give();
    room_freed();
    co_return failed(seeking, no_endpoint());
  }
  Acquired result = co_await make_connection(seeking, std::move(endpoint));
  co_return result;
}

void BackendPool::leave_queue() {
  --queued_;
  state_->room().dequeue(*this);
}

net::Task<Acquired> BackendPool::connect(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint) {
  counts_.connects.add();
  state_->count_connect();
  const net::Time deadline = seeking.wanted.deadline;
  const net::Time began = loop_.now();
  const std::uint64_t way = seeking.wanted.way;
  Result<net::Fd> fd = net::connect_tcp_marked(endpoint->address, RouteMarks::mark_of(way));
  auto connection = std::make_unique<UpstreamConnection>(*this, std::move(endpoint));
  connection->requests_ = 1;
  connection->way_ = way;
  connection->begin(counts_load_, seeking.probe, loop_.now());
  if (!fd.ok()) {
    state_->count_connect_failure();
    const net::SocketAddress tried = connection->endpoint().address;
    release(std::move(connection), AfterUse::kFailed);
    co_return Acquired{nullptr, AcquireFault::kConnect, tried};
  }
  connection->open(loop_, std::move(*fd), net::kRead | net::kWrite);
  const net::Time until = std::min(deadline, loop_.now() + net::Duration(settings_.connect_timeout_ns));
  const net::Wake wake = co_await seeking.waiter.wait(until, *connection, net::kWrite);
  AcquireFault fault = AcquireFault::kConnect;
  if (wake == net::Wake::kCancelled) fault = AcquireFault::kCancelled;
  if (wake == net::Wake::kReady && net::connect_error(connection->fd()) == 0) {
    constexpr net::KeepAlive kProbes;
    net::keep_alive(connection->fd(), kProbes);
    net::limit_unacknowledged(connection->fd(), kProbes.found_after());
    fault = announce(*connection, seeking.wanted.header) ? AcquireFault::kNone : AcquireFault::kConnect;
    if (fault == AcquireFault::kNone && encrypts(connection->endpoint()))
      fault = co_await secure(seeking.waiter, *connection, until);
  }
  if (fault == AcquireFault::kNone) co_return Acquired{std::move(connection), AcquireFault::kNone};
  const net::SocketAddress tried = connection->endpoint().address;
  if (fault == AcquireFault::kCancelled) {
    release(std::move(connection), AfterUse::kClose);
    co_return Acquired{nullptr, AcquireFault::kCancelled};
  }
  const bool late = fault == AcquireFault::kConnect && until == deadline && loop_.now() >= deadline;
  const bool at_fault = !late || began < seeking.wanted.fault_before;
  if (at_fault) state_->count_connect_failure();
  release(std::move(connection), at_fault ? AfterUse::kFailed : AfterUse::kClose);
  co_return Acquired{nullptr, late ? AcquireFault::kTimeout : fault, tried};
}

}  // namespace edge::runtime
