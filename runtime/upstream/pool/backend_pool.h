// The connections of one thread to one backend, and the choice among its endpoints.
//
// Keyed by the backend's stable id, it outlives swaps of the program: settings and endpoints change under it, its
// connections stay. What is known of endpoints and circuit, and the limits, are the process's (backend_state.h).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "net/counter.h"
#include "net/http2/client_connection.h"
#include "net/loop.h"
#include "net/task.h"
#include "net/tls/client.h"
#include "net/tls/record_layer.h"
#include "program/format/format.h"
#include "program/values/endpoints.h"
#include "runtime/upstream/balance/balance.h"
#include "runtime/upstream/health/backend_state.h"
#include "runtime/upstream/pool/connection.h"
#include "runtime/upstream/pool/shared_connection.h"

namespace edge::runtime {

enum class AcquireFault : std::uint8_t {
  kNone,
  kNoEndpoint,         ///< 503 `no-endpoint`
  kNoHealthyEndpoint,  ///< 503 `no-healthy-endpoint`: all of them failed their checks, or are ejected
  kCircuitOpen,        ///< 503 `circuit-open`
  kOverloaded,         ///< 503 `overloaded`: connection limit reached and the queue full, or waited too long in it
  kConnect,            ///< 502 `connect-failed`
  kTls,                ///< 502 `tls-failed`
  kTimeout,            ///< 504: the request's own deadline came first
  kCancelled,
};

/// What a request asks of a pool.
struct Wanted {
  net::Time deadline = net::kNever;
  /// An attempt to connect that began before this time counts against its endpoint when the deadline ends it.
  net::Time fault_before = net::Time::min();
  /// As Balancer::pick takes it.
  std::uint64_t key = 0;
  /// Never a pooled connection.
  bool fresh = false;
  /// The first of `avoid` is wanted instead, if it takes traffic.
  bool prefers_first = false;
  /// Another endpoint than these, where there is one.
  std::vector<net::SocketAddress> avoid{};
  /// A PROXY header, which a new connection begins with; whose it is, is said by it. Must outlive the acquiring.
  std::string_view header{};
};

struct Acquired {
  std::unique_ptr<UpstreamConnection> connection;
  AcquireFault fault = AcquireFault::kNone;
  /// The endpoint that could not be reached: nothing of the request was sent.
  std::optional<net::SocketAddress> tried{};
};

/// What becomes of a connection after a request.
enum class AfterUse : std::uint8_t {
  kKeep,    ///< the response was read to its exact end, and both sides let the connection live
  kClose,   ///< it cannot carry another
  kFailed,  ///< the endpoint failed before the response's head: it counts as slow
};

/// Of one thread.
struct UpstreamCounts {
  net::Counter connects;
  net::Counter reused;
  net::Counter tls_failures;
};

/// What the pools of a thread share.
struct PoolContext {
  net::Loop& loop;
  UpstreamCounts& counts;
  net::http2::ClientEngine& http2;
  net::tls::RecordRoom& records;
};

class BackendPool final : public std::enable_shared_from_this<BackendPool>, private ConnectionRoom::Member {
 public:
  /// `start` differs from thread to thread.
  static std::shared_ptr<BackendPool> make(const PoolContext& context, std::shared_ptr<BackendState> state,
                                           std::uint64_t start);
  BackendPool(const PoolContext& context, std::shared_ptr<BackendState> state, std::uint64_t start)
      : loop_(context.loop),
        counts_(context.counts),
        http2_(context.http2),
        records_(context.records),
        state_(std::move(state)),
        balancer_(start) {}
  ~BackendPool();
  BackendPool(const BackendPool&) = delete;
  BackendPool& operator=(const BackendPool&) = delete;

  void configure(const program::BackendRecord& record, net::Duration default_idle_timeout);
  /// How endpoints are called where the settings ask for TLS; null: not at all.
  void encrypt(std::shared_ptr<const net::tls::ClientContext> context);
  const program::BackendRecord& settings() const { return settings_; }
  BackendState& state() { return *state_; }
  /// Takes over what is known of the endpoints now. Idle connections to those that went away are closed.
  void refresh();
  /// The same, where something has changed.
  void up_to_date() {
    if (seen_ != state_->generation() || loop_.now() >= seen_until_) refresh();
  }

  /// Whether the endpoint takes traffic now.
  bool serves(const net::SocketAddress& endpoint);
  /// Whether some endpoint does.
  bool serves_any();
  /// Whether some endpoint takes traffic that is none of these.
  bool has_other(std::span<const net::SocketAddress> than) const;
  /// Whether requests with equal keys go to equal endpoints.
  bool keyed() const { return balancer_.keyed(); }
  /// A pooled connection if there is one, else a new one. Ready at once when pooled.
  net::Task<Acquired> acquire(net::Waiter& waiter, const Wanted& wanted);
  void release(std::unique_ptr<UpstreamConnection> connection, AfterUse after);
  /// Closes every connection that nobody uses.
  void close_idle();

 private:
  friend class SharedConnection;
  friend class UpstreamConnection;

  /// What an acquire carries along.
  struct Seeking {
    net::Waiter& waiter;
    Wanted wanted;
    bool probe = false;
  };

  // From other threads.
  void room_wanted() override;
  void room_free() override;

  AcquireFault no_endpoint() const;
  std::shared_ptr<UpstreamEndpoint> pick(const Wanted& wanted);
  std::shared_ptr<UpstreamEndpoint> steer(const Wanted& wanted, std::size_t at);
  bool keeps_idle(UpstreamConnection& connection);
  std::unique_ptr<UpstreamConnection> take_instead(const UpstreamEndpoint& wanted, const Seeking& seeking);
  UpstreamConnection* take_idle(UpstreamEndpoint& endpoint, bool probe);
  UpstreamConnection* any_idle() const;
  /// \returns false when every connection is in use.
  bool close_any_idle();
  void remove_idle(UpstreamConnection& connection);
  void discard(std::unique_ptr<UpstreamConnection> connection);
  bool take_room() { return state_->room().take(settings_.max_connections); }
  void room_freed();
  void wake_next();
  void leave_queue();
  /// Whether room that is freed now is for a request on another thread.
  bool yields() const { return state_->room().queued() > queued_ && (pending_.empty() || turn_ % 2 == 0); }
  Acquired failed(const Seeking& seeking, AcquireFault fault);
  net::Task<Acquired> seek(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint);
  /// Room for the connection was taken.
  net::Task<Acquired> make_connection(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint) {
    if (shares()) return connect_shared(std::move(seeking), std::move(endpoint));
    return connect(std::move(seeking), std::move(endpoint));
  }
  net::Task<AcquireFault> secure(net::Waiter& waiter, UpstreamConnection& connection, net::Time until);
  net::Task<Acquired> connect(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint);
  net::Task<Acquired> wait_for_room(Seeking seeking);

  // HTTP/2: shared_connection.cc.
  bool shares() const { return settings_.protocol == program::BackendProtocol::kHttp2; }
  UpstreamConnection* take_stream(UpstreamEndpoint& endpoint, bool probe);
  void put_stream(SharedConnection& shared, UpstreamConnection& connection);
  void share(UpstreamConnection& connection);
  void end_stream(std::unique_ptr<UpstreamConnection> connection);
  net::Task<Acquired> join(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint);
  net::Task<Acquired> connect_shared(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint);
  void connected(UpstreamEndpoint& endpoint, bool failed);
  void wake_for_room(const SharedConnection& shared);
  SharedConnection* idle_shared() const;
  void close_shared(bool all);

  net::Loop& loop_;
  UpstreamCounts& counts_;
  net::http2::ClientEngine& http2_;
  net::tls::RecordRoom& records_;
  std::shared_ptr<const net::tls::ClientContext> tls_;
  const std::shared_ptr<BackendState> state_;
  program::BackendRecord settings_{};
  net::Duration idle_timeout_{};
  net::Duration slow_start_{};
  Balancer balancer_;
  std::uint32_t seen_ = 0;
  net::Time seen_until_{};
  std::vector<std::shared_ptr<UpstreamEndpoint>> endpoints_;
  /// Those that take traffic: what the balancer chooses among.
  std::vector<std::shared_ptr<UpstreamEndpoint>> in_use_;
  /// All shared connections, those of endpoints that are gone included.
  SharedConnection* shared_ = nullptr;
  std::deque<net::Waiter*> pending_;
  /// As many as wait here, those included that were woken and had not their turn yet.
  std::uint32_t queued_ = 0;
  /// Whose turn it is when room is freed while others wait as well: theirs when even.
  std::uint32_t turn_ = 0;
};

}  // namespace edge::runtime
