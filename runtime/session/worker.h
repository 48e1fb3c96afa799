// One thread of the data plane: its loop, its listening sockets, its pools, its sessions. On the request path threads
// share only the counts that least-load balancing needs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log.h"
#include "net/client/http_client.h"
#include "net/http2/server_connection.h"
#include "net/loop.h"
#include "net/tls/record_layer.h"
#include "runtime/match/decide.h"
#include "runtime/observe/access_log/access_log.h"
#include "runtime/observe/access_log/request_log.h"
#include "runtime/observe/tally/request_tally.h"
#include "runtime/observe/trace/tracer.h"
#include "runtime/phase/request_id.h"
#include "runtime/phase/scratch.h"
#include "runtime/policy/auth/auth_context.h"
#include "runtime/policy/auth/stores.h"
#include "runtime/policy/rate_limit_table.h"
#include "runtime/session/client_session.h"
#include "runtime/session/counters.h"
#include "runtime/session/server.h"
#include "runtime/session/server/loop_probe.h"
#include "runtime/session/thread_program.h"
#include "runtime/session/udp/udp_batches.h"
#include "runtime/session/udp/udp_session.h"
#include "runtime/shape/cache/cache.h"
#include "runtime/shape/compress.h"
#include "runtime/shape/spool.h"
#include "runtime/shape/worker_parts.h"
#include "runtime/upstream/balance/split.h"
#include "runtime/upstream/pool/pools.h"

namespace edge::runtime {

/// State shared by all threads.
struct SharedState {
  ServerOptions options;
  unsigned threads = 1;
  /// Updated when a connection opens or closes, never by a request.
  std::atomic<std::size_t> connections{0};
  Sources sources;
  /// Used by failed handshakes: clients must not be able to flood the log.
  LogLimit handshake_lines{5, std::chrono::seconds(10)};
  /// Used when connections cannot be accepted.
  LogLimit accept_lines{1, std::chrono::seconds(10)};
  /// The state of each backend; written by a request only where it fails, or where load is weighed.
  Backends backends;
  /// Used by requests to routes with a rate limit.
  RateLimitTable rate_limits;
  /// Used by requests to routes with a concurrency limit: the lock of one shard at their begin and end.
  ConcurrencyTable concurrency;
  LimitCounts limit_counts;
  /// Used by requests to routes with a rate limit of scope Cluster: the lock of one shard.
  SharedLimits shared_limits;
  /// Used by handshakes at listeners that get certificates on demand.
  WantedNames wanted_names;
  /// Used by requests to gateways with a cache: the lock of one shard during a lookup.
  cache::Caches caches{Random().next()};
  /// Used by requests whose bodies are buffered.
  std::optional<SpoolSpace> spools;
  /// Used by requests that are authenticated.
  std::optional<auth::Stores> authentication;
};

class Worker {
 public:
  explicit Worker(SharedState& shared);
  /// The loop must have ended.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // For the server's thread.
  void start();
  /// Ends every session and the loop; returns when the thread has ended.
  void stop();
  /// Runs `work` on the thread and waits for it.
  void call(const std::function<void()>& work);
  void post(std::function<void()> work) { loop_.post(std::move(work)); }
  const Counters& counters() const { return counters_; }
  const UpstreamCounts& upstream_counts() const { return pools_.counts(); }
  const RequestTally& tally() const { return tally_; }
  const LoopProbe& probe() const { return probe_; }

  // For the worker's own thread.
  Status prepare(const LoadedProgram& program) { return match_scratch_.prepare(program); }
  /// Serves the next requests by it. `bind_of_slot`: ThreadProgram::bind_of_slot.
  void take(const SharedProgram& shared, std::vector<std::uint32_t> bind_of_slot);
  /// Adds one more socket to the slot.
  void listen(std::uint32_t slot, net::Fd listener);
  /// The same for datagrams; `most_sessions`: of this socket.
  void listen_udp(std::uint32_t slot, net::Fd socket, std::size_t most_sessions, UdpListener::Receiving receiving);
  /// Receives no more datagrams, and gives away the flows that it has.
  void give_flows(std::vector<HandedFlow>& into);
  /// Takes those of the flows that come to its sockets, and receives on sockets that were held.
  void take_flows(std::vector<HandedFlow>& flows);
  void share_listener(std::uint32_t slot, std::vector<net::Fd>& into) const;
  void close_listener(std::uint32_t slot);
  void refresh_endpoints() { pools_.refresh(); }
  /// `on_empty` is called once, when the last session has ended.
  void drain(std::function<void()> on_empty);
  void cancel_sessions();

  // For sessions.
  net::Loop& loop() { return loop_; }
  Scratch& scratch() { return scratch_; }
  MatchScratch& match_scratch() { return match_scratch_; }
  net::http2::ServerEngine& http2() { return http2_; }
  Counters& counters() { return counters_; }
  RequestTally& tally() { return tally_; }
  /// For sessions whose gateway has an access log.
  AccessLog::Pen& access_log() { return *access_log_; }
  trace::Tracer& tracer() { return tracer_; }
  Random& random() { return random_; }
  SplitSequence& split() { return split_; }
  LimitTables limit_tables() { return {shared_.rate_limits, shared_.concurrency, shared_.shared_limits}; }
  /// Returns the context for one request's authentication, which waits on `waiter` until `asker` hangs up.
  auth::AuthContext auth_context(net::Waiter& waiter, net::Channel& asker) {
    const auto unix_now = static_cast<std::int64_t>(unix_milliseconds() / 1000);
    return {loop_, waiter, calls_, *shared_.authentication, unix_now, &asker};
  }
  ProgramPin pin() const { return program_; }
  WorkerParts parts() { return {loop_, scratch_, encoders_, date(), draining_}; }
  net::tls::RecordRoom& record_room() { return record_room_; }
  SpoolSpace& spool_space() { return *shared_.spools; }
  const ServerOptions& options() const { return shared_.options; }
  LogLimit& handshake_lines() { return shared_.handshake_lines; }
  WantedNames& wanted_names() { return shared_.wanted_names; }
  const bool& draining() const { return draining_; }
  /// Returns the IMF-fixdate of this second (RFC 9110 §5.6.7); below, the time in milliseconds.
  std::string_view date();
  std::uint64_t unix_milliseconds();
  void accept(net::Fd client, const net::SocketAddress& peer, std::uint32_t slot);
  /// Buffers for datagrams, made when they are first asked for.
  UdpBatches& udp();
  /// Takes a session of a client's datagrams among those of connections. Null: there are too many.
  UdpSession* keep_udp(std::unique_ptr<UdpSession> session, const IpAddress& source, std::uint32_t slot);
  /// Counts one more connection of the source. \returns nullopt when it has too many: the connection must be closed.
  std::optional<Sources::Part> admit(const IpAddress& source, std::uint32_t slot);
  /// Logs a connection that ended before a request, where the program has an access log.
  void log_lost(const ThreadProgram& program, const ClientConnection& connection, const LostConnection& lost);
  /// Adds a session that is not an accepted connection's: a stream's.
  void keep(ClientSession& session);
  /// Returns whether a connection's cluster may call now; true for those that no cluster has made.
  bool believes(const ClientConnection& connection) const;
  /// Transfers the connection of `from` to `to`; `from` is freed next.
  void hand_over(ClientSession& from, ClientSession& to);
  /// Removes a session that has ended; it is freed at the end of the batch.
  void forget(ClientSession& session);

 private:
  class Listener;
  void read_wall_clock();
  /// Ends connections of clusters that are not believed any more, with all that is under way on them.
  void cancel_refused();
  /// Called when the process is out of descriptors (`error`, of accept): accepts and closes one client of `listener`
  /// with the spare descriptor, so that the client does not wait in vain. False: none could be accepted.
  bool refuse_one(int listener, int error);
  /// Calls `visit` for each session; it may end this session or others: they are freed at the end of the batch.
  template <typename Visit>
  void for_each_session(Visit visit) {
    for (ClientSession* session = sessions_; session != nullptr;) {
      ClientSession* next = session->next_;
      visit(*session);
      session = next;
    }
  }

  SharedState& shared_;
  EncoderPool encoders_;
  net::Loop loop_;
  LoopProbe probe_;
  Counters counters_;
  trace::Tracer tracer_;
  RequestTally tally_;
  /// Null: the process keeps no access log, whatever a program says.
  AccessLog::Pen* access_log_;
  Random random_;
  SplitSequence split_;
  Scratch scratch_;
  MatchScratch match_scratch_;
  net::http2::ServerEngine http2_;
  net::tls::RecordRoom record_room_;
  Pools pools_;
  net::client::HttpClient calls_;
  ProgramPin program_;
  /// By slot; mostly one each.
  std::vector<std::vector<std::unique_ptr<Listener>>> listeners_;
  std::vector<std::vector<std::shared_ptr<UdpListener>>> udp_listeners_;
  std::unique_ptr<UdpBatches> udp_;
  ClientSession* sessions_ = nullptr;
  std::function<void()> on_empty_;
  bool draining_ = false;
  net::Fd spare_;  ///< reserved for `refuse_one`
  net::Time wall_read_at_{};
  std::uint64_t wall_milliseconds_ = 0;
  std::array<char, 30> date_{};
  std::thread thread_;
};

}  // namespace edge::runtime
