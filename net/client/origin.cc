#include "net/client/origin.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "net/tls/record_layer.h"

namespace edge::net::client {
namespace {

/// A peer that does not answer for so long counts as gone, whether anything is being sent (RFC 5482) or not
/// (RFC 9293 §3.8.4).
void notice_loss(int fd, std::chrono::seconds within) {
  constexpr int kProbes = 3;
  const std::chrono::seconds interval = std::max(std::chrono::seconds(1), within / (kProbes + 1));
  keep_alive(fd, {.idle = interval, .between = interval, .probes = kProbes});
  limit_unacknowledged(fd, within);
}

}  // namespace

void Connection::Expiry::expired() { connection_.origin_.drop_idle(connection_); }

void Connection::unattended(std::uint8_t events) {
  if (!idle_) return;
  // Tickets for the next session may come at any time (RFC 8446 §4.6.1): the layer takes them, and shows nothing.
  char byte;
  const bool silent = !hung_up() && ((events & kRead) == 0 ||
                                     (layer() != nullptr && receive({&byte, 1}).kind == Transfer::Kind::kWouldBlock));
  if (!silent) origin_.drop_idle(*this);
}

Origin::Origin(Room& room, const Url& url, std::shared_ptr<const tls::ClientSettings> security)
    : room_(room), url_(url), security_(std::move(security)) {}

Origin::~Origin() { close_idle(); }

std::unique_ptr<Connection> Origin::take_idle() {
  if (idle_.empty()) return nullptr;
  std::unique_ptr<Connection> connection = std::move(idle_.back());
  idle_.pop_back();
  room_.loop.timers().drop(connection->expiry_);
  connection->idle_ = false;
  ++connection->uses_;
  room_.counts.reused.add();
  return connection;
}

void Origin::discard(std::unique_ptr<Connection> connection) {
  connection->close();
  --open_;
  // Events of this batch may still name it.
  room_.loop.retire(std::move(connection));
}

void Origin::drop_idle(Connection& connection) {
  const auto position = std::ranges::find(idle_, &connection, &std::unique_ptr<Connection>::get);
  room_.loop.timers().drop(connection.expiry_);
  std::unique_ptr<Connection> dropped = std::move(*position);
  idle_.erase(position);
  discard(std::move(dropped));
  wake_next();
}

void Origin::close_idle() {
  while (!idle_.empty()) drop_idle(*idle_.back());
}

void Origin::release(std::unique_ptr<Connection> connection, bool keep) {
  const bool speaks = keep && connection->layer() == nullptr && connection->readable();
  if (!keep || speaks || connection->hung_up() || idle_.size() >= room_.options.max_idle) {
    discard(std::move(connection));
  } else {
    connection->idle_ = true;
    room_.loop.timers().set(connection->expiry_, room_.loop.now() + room_.options.idle_time);
    idle_.push_back(std::move(connection));
  }
  wake_next();
}

void Origin::wake_next() {
  if (pending_.empty()) return;
  Waiter* const next = pending_.front();
  pending_.pop_front();
  next->wake_later();
}

Task<Origin::Got> Origin::acquire(const Patience& patience, bool fresh) {
  if (!fresh) {
    if (auto kept = take_idle()) return Got{std::move(kept)};
  }
  if (open_ >= room_.options.max_connections && !idle_.empty()) drop_idle(*idle_.front());
  if (open_ < room_.options.max_connections && room_.options.dial) return dial();
  if (open_ < room_.options.max_connections) return connect(patience.waiter, patience.until);
  if (pending_.size() >= room_.options.max_waiting) return Got{nullptr, CallFault::kTooMany, "too many calls wait"};
  return wait_for_room(patience, fresh);
}

Task<Origin::Got> Origin::wait_for_room(Patience patience, bool fresh) {
  Waiter& waiter = patience.waiter;
  pending_.push_back(&waiter);
  for (;;) {
    const Wake woken = co_await patience.wait();
    const Wake wake = patience.outcome(woken);
    if (wake != Wake::kReady) {
      // Called just now, and too late: the next one may come instead.
      if (std::erase(pending_, &waiter) == 0) wake_next();
      const bool cancelled = wake == Wake::kCancelled;
      co_return Got{nullptr, cancelled ? CallFault::kCancelled : CallFault::kTimeout, "no connection was free in time"};
    }
    if (!fresh) {
      if (auto kept = take_idle()) co_return Got{std::move(kept)};
    }
    if (open_ >= room_.options.max_connections && !idle_.empty()) drop_idle(*idle_.front());
    if (open_ < room_.options.max_connections) break;
    // Somebody was quicker; keep the place.
    pending_.push_front(&waiter);
  }
  if (room_.options.dial) co_return dial();
  Got got = co_await connect(waiter, patience.until);
  co_return got;
}

Origin::Got Origin::dial() {
  Result<Fd> fd = room_.options.dial();
  if (!fd) return Got{nullptr, CallFault::kConnect, fd.error().text};
  auto connection = std::make_unique<Connection>(*this);
  ++open_;
  connection->open(room_.loop, std::move(*fd), kRead | kWrite);
  room_.counts.connects.add();
  return Got{std::move(connection)};
}

Task<Origin::Got> Origin::connect(Waiter& waiter, Time until) {
  if (url_.secure && !prepare_tls()) co_return Got{nullptr, CallFault::kTls, tls_fault_};
  auto connection = std::make_unique<Connection>(*this);
  ++open_;
  Resolver::Found found = co_await room_.resolver.resolve(room_.loop, waiter, url_.host, until);
  Got got{nullptr, found.cancelled ? CallFault::kCancelled : CallFault::kName, found.error};
  if (!found.addresses.empty()) {
    // These very addresses are connected to: a name that changes between a check and its use gains nothing.
    keep_allowed(found.addresses, room_.options);
    got = {nullptr, CallFault::kDenied, "its address is one that calls may not go to"};
  }
  for (std::size_t i = 0; i < found.addresses.size(); ++i) {
    // One address that does not answer leaves time for the next.
    const Duration left = until - room_.loop.now();
    const Duration share = i + 1 < found.addresses.size() ? left / 2 : left;
    const Time by = room_.loop.now() + std::min(room_.options.connect_time, share);
    got = co_await connect_to(waiter, *connection, found.addresses[i], by);
    if (got.fault == CallFault::kNone && url_.secure) got = co_await secure(waiter, *connection, by);
    if (got.fault == CallFault::kNone) {
      room_.counts.connects.add();
      got.connection = std::move(connection);
      co_return got;
    }
    discard(std::move(connection));
    if (got.fault == CallFault::kCancelled || room_.loop.now() >= until) break;
    connection = std::make_unique<Connection>(*this);
    ++open_;
  }
  if (connection != nullptr) discard(std::move(connection));
  wake_next();
  if (got.fault != CallFault::kCancelled && room_.loop.now() >= until) got.fault = CallFault::kTimeout;
  co_return got;
}

void Origin::keep_allowed(std::vector<IpAddress>& addresses, const ClientOptions& options) {
  if (options.denied == nullptr) return;
  std::erase_if(addresses, [&](const IpAddress& address) {
    return std::ranges::any_of(*options.denied, [&](const Cidr& block) { return block.contains(address); });
  });
}

Task<Origin::Got> Origin::connect_to(Waiter& waiter, Connection& connection, IpAddress address, Time until) {
  Result<Fd> fd = connect_tcp({address, url_.port});
  if (!fd.ok()) co_return Got{nullptr, CallFault::kConnect, fd.error().text};
  if (room_.options.notice_loss.count() > 0) notice_loss(fd->get(), room_.options.notice_loss);
  connection.open(room_.loop, std::move(*fd), kRead | kWrite);
  const Wake wake = co_await waiter.wait(until, connection, kWrite);
  if (wake == Wake::kCancelled) co_return Got{nullptr, CallFault::kCancelled};
  const int error = wake == Wake::kTimeout ? ETIMEDOUT : connect_error(connection.fd());
  if (error == 0) co_return Got{};
  co_return Got{nullptr, CallFault::kConnect, std::generic_category().message(error)};
}

Task<Origin::Got> Origin::secure(Waiter& waiter, Connection& connection, Time until) {
  using Step = tls::RecordLayer::Handshake;
  auto made = tls::RecordLayer::connect(tls_, resumption_, room_.records);
  tls::RecordLayer& layer = *made;
  connection.put(std::move(made));
  Step step = layer.handshake(connection);
  while (step == Step::kRead || step == Step::kWrite) {
    const std::uint8_t interest = step == Step::kRead ? kRead : kRead | kWrite;
    const Wake wake = co_await waiter.wait(until, connection, interest);
    if (wake == Wake::kCancelled) co_return Got{nullptr, CallFault::kCancelled};
    if (wake == Wake::kTimeout) co_return Got{nullptr, CallFault::kConnect, "the handshake was not over in time"};
    step = layer.handshake(connection);
    if (connection.hung_up() && step != Step::kDone) step = Step::kFailed;
  }
  if (step == Step::kDone) co_return Got{};
  co_return Got{nullptr, CallFault::kTls, layer.fault().empty() ? "the handshake was broken off" : layer.fault()};
}

bool Origin::prepare_tls() {
  if (tls_ != nullptr) return true;
  if (security_ == nullptr || (security_->authorities == nullptr && !security_->unverified)) {
    tls_fault_ = "whom to trust is not known";
    return false;
  }
  tls::ClientSettings settings = *security_;
  if (settings.server_name.empty()) settings.server_name = url_.host;
  settings.protocols = {"http/1.1"};
  auto made = tls::ClientContext::make(std::move(settings));
  if (!made.ok()) {
    tls_fault_ = made.error().text;
    return false;
  }
  tls_ = std::move(*made);
  resumption_ = std::make_shared<tls::Resumption>();
  return true;
}

}  // namespace edge::net::client
