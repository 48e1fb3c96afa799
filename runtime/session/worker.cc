#include "runtime/session/worker.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <latch>

#include <fcntl.h>

#include "base/os/thread_priority.h"
#include "base/text/times.h"
#include "runtime/session/accept/client_certificate.h"
#include "runtime/session/accept/greeting.h"
#include "runtime/session/accept/tls_handshake.h"
#include "runtime/session/session.h"

namespace edge::runtime {
namespace {

using std::chrono::milliseconds;

constexpr int kAcceptsATurn = 64;
/// How long accepting rests when the process is out of descriptors or memory: those that wait are not reported again.
constexpr net::Duration kAcceptPause = milliseconds(100);

net::Fd open_spare() { return net::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

net::http1::HeadLimits head_limits(const ServerOptions& options) {
  return {options.max_header_bytes, std::min(options.max_headers, net::http1::HeadFields::kMax), options.max_uri_bytes};
}

}  // namespace

/// A listening socket of this thread. No coroutine waits on it: each event accepts the pending connections.
class Worker::Listener final : public net::Channel {
 public:
  Listener(Worker& worker, std::uint32_t slot, net::Fd socket) : worker_(worker), slot_(slot), pause_(*this) {
    open(worker.loop(), std::move(socket));
  }
  void accept_all() {
    while (accept_some()) {
    }
  }

 private:
  class Pause final : public net::TimerNode {
   public:
    explicit Pause(Listener& listener) : listener_(listener) {}
    void expired() override { listener_.resume(); }

   private:
    Listener& listener_;
  };

  void unattended(std::uint8_t) override {
    if (accept_some()) report_again();
  }
  void resume() {
    if (is_open()) report_again();
  }
  /// \returns whether more may be waiting.
  bool accept_some() {
    for (int i = 0; i < kAcceptsATurn; ++i) {
      net::SocketAddress peer;
      int error = 0;
      net::Fd client = net::accept_tcp(fd(), peer, error);
      if (client.valid()) {
        worker_.accept(std::move(client), peer, slot_);
        continue;
      }
      if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) {
        if (worker_.refuse_one(fd(), error)) continue;
        worker_.loop().timers().set(pause_, worker_.loop().now() + kAcceptPause);
        return false;
      }
      // A connection that went away before it was accepted is no reason to stop.
      if (error != ECONNABORTED && error != EINTR && error != EPROTO) return false;
    }
    return true;
  }

  Worker& worker_;
  std::uint32_t slot_;
  Pause pause_;
};

Worker::Worker(SharedState& shared)
    : shared_(shared),
      loop_(shared.options.clock),
      probe_(loop_),
      tracer_(shared.options.spans == nullptr ? nullptr : &shared.options.spans->add_thread(),
              shared.options.clock == nullptr ? &loop_ : nullptr),
      tally_(shared.options.max_tallied),
      access_log_(shared.options.access_log == nullptr ? nullptr : &shared.options.access_log->add_thread()),
      split_(random_.next()),
      scratch_(head_limits(shared.options)),
      http2_({head_limits(shared.options)}, random_.next()),
      pools_(loop_, shared.backends, record_room_, random_.next()),
      calls_(loop_, shared.authentication->resolver, record_room_, {.denied = shared.authentication->denied}),
      spare_(open_spare()) {
  // Until a program is installed there is one that matches nothing: no listener, so no session asks it.
  program_ = ProgramPin(new ThreadProgram);
  read_wall_clock();
}

Worker::~Worker() = default;

void Worker::start() {
  // A clock of a test moves by itself: how late somebody came is not to be read of it.
  if (shared_.options.clock == nullptr) probe_.begin();
  thread_ = std::thread([this] {
    raise_thread_priority();
    loop_.run();
  });
}

void Worker::stop() {
  if (!thread_.joinable()) return;
  call([this] {
    for (const auto& listeners : listeners_) {
      for (const auto& listener : listeners) listener->release();
    }
    for (const auto& listeners : udp_listeners_) {
      for (const auto& listener : listeners) listener->shut("cancelled");
    }
    udp_listeners_.clear();
    cancel_sessions();
    pools_.close_idle();
    calls_.close_idle();
  });
  loop_.stop();
  thread_.join();
}

void Worker::call(const std::function<void()>& work) {
  std::latch done(1);
  loop_.post([&] {
    work();
    done.count_down();
  });
  done.wait();
}

void Worker::take(const SharedProgram& shared, std::vector<std::uint32_t> bind_of_slot) {
  const std::shared_ptr<const LoadedProgram>& program = shared.program;
  const std::shared_ptr<const TlsStore>& tls = shared.tls;
  auto next = std::make_unique<ThreadProgram>();
  next->pools = pools_.apply(program->backends(), program->backends_section(), tls->backends(), tls->clusters(),
                             tls->cluster_peers(), shared_.options.upstream_idle_timeout);
  next->announces = std::ranges::any_of(program->backends(), [](const program::BackendRecord& backend) {
    return backend.proxy_protocol != program::ProxyProtocol::kNone &&
           backend.protocol != program::BackendProtocol::kUdp;
  });
  next->policies = shared.policies;
  next->ip_accesses = shared.ip_accesses;
  next->tls = tls;
  calls_.trust(shared.authentication->authorities());
  next->authentication = shared.authentication;
  next->entrances = entrances_of(*program, bind_of_slot);
  next->bind_of_slot = std::move(bind_of_slot);
  // A session of HTTP that outlives a swap to another protocol finds nothing there.
  for (std::size_t slot = 0; slot < next->entrances.size(); ++slot) {
    if (next->entrances[slot].raw()) next->bind_of_slot[slot] = program::kNone;
  }
  const program::SectionView& section = program->listeners_section();
  for (const program::BindRecord& bind : program->binds()) {
    bool asks = false;
    const auto look = [&](std::uint32_t index) {
      if (index == program::kNone) return;
      const LoadedListener& listener = program->listener(index);
      const program::ClientCertificateNeed need = client_certificate_need(*program, listener);
      next->announces |= need != program::kNoClientCertificate;
      asks |= listener.gateway->trusted_proxies.count != 0 || listener.acts_before_rule ||
              listener.tracing != nullptr || listener.gateway->path_flags != 0 ||
              need == program::kNeedsClientCertificate || need == program::kOptionalClientCertificate;
    };
    look(bind.listeners.fallback);
    for (const program::NameEntry& entry : section.array(bind.listeners.entries)) {
      look(entry.exact);
      look(entry.wildcard);
    }
    next->listener_asks.push_back(asks);
  }
  for (const program::GatewayRecord& gateway : section.array(section.header<program::ListenersHeader>().gateways)) {
    const auto* settings = program::optional_of(section, gateway.cache);
    next->caches.push_back(settings == nullptr
                               ? nullptr
                               : shared_.caches.of_gateway(gateway.id, {settings->max_size, settings->max_entry_size}));
  }
  next->logged = logged_gateways(*program, shared_.options.access_log.get());
  next->looks_first = next->logged.any() || next->tls->challenges() != nullptr;
  next->program = program;
  tally_.forget_places();
  // Before the first program there is no connection.
  const bool first = program_->tls == nullptr;
  const bool same_peers = first || program_->tls->cluster_peers() == next->tls->cluster_peers();
  program_ = ProgramPin(next.release());
  if (!same_peers) cancel_refused();
}

bool Worker::believes(const ClientConnection& connection) const {
  if (!is_of_cluster(connection)) return true;
  // Without a list the program has no listener for clusters any more: what is under way there ends as elsewhere.
  const auto& peers = program_->tls->cluster_peers();
  return peers == nullptr || peers->allows(connection.tls->cluster_certificate.get());
}

void Worker::cancel_refused() {
  for_each_session([this](ClientSession& session) {
    const ClientConnection* const connection = session.connection();
    if (connection != nullptr && !believes(*connection)) session.cancel();
  });
}

void Worker::log_lost(const ThreadProgram& program, const ClientConnection& connection, const LostConnection& lost) {
  if (!program.logged.any()) return;
  runtime::log_lost(program.logged_bind(connection.slot), connection, lost, {loop_.now(), unix_milliseconds()},
                    access_log());
}

void Worker::listen(std::uint32_t slot, net::Fd socket) {
  if (listeners_.size() <= slot) listeners_.resize(slot + 1);
  listeners_[slot].push_back(std::make_unique<Listener>(*this, slot, std::move(socket)));
}

void Worker::listen_udp(std::uint32_t slot, net::Fd socket, std::size_t most_sessions,
                        UdpListener::Receiving receiving) {
  if (udp_listeners_.size() <= slot) udp_listeners_.resize(slot + 1);
  udp_listeners_[slot].push_back(
      std::make_shared<UdpListener>(*this, slot, std::move(socket), most_sessions, receiving));
}

void Worker::give_flows(std::vector<HandedFlow>& into) {
  for (const auto& listeners : udp_listeners_) {
    for (const auto& listener : listeners) listener->give(into);
  }
}

void Worker::take_flows(std::vector<HandedFlow>& flows) {
  for (HandedFlow& flow : flows) {
    const bool taken = std::ranges::any_of(udp_listeners_, [&](const auto& listeners) {
      return std::ranges::any_of(listeners, [&](const auto& listener) { return listener->take(flow); });
    });
    if (taken) flow.listening = 0;
  }
  for (const auto& listeners : udp_listeners_) {
    for (const auto& listener : listeners) listener->resume();
  }
}

UdpBatches& Worker::udp() {
  if (udp_ == nullptr) udp_ = std::make_unique<UdpBatches>(loop_);
  return *udp_;
}

void Worker::share_listener(std::uint32_t slot, std::vector<net::Fd>& into) const {
  const auto share = [&](int fd) {
    net::Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (copy.valid()) into.push_back(std::move(copy));
  };
  if (slot < listeners_.size()) {
    for (const auto& listener : listeners_[slot]) share(listener->fd());
  }
  if (slot < udp_listeners_.size()) {
    for (const auto& listener : udp_listeners_[slot]) share(listener->socket());
  }
}

void Worker::close_listener(std::uint32_t slot) {
  if (slot < udp_listeners_.size()) {
    for (const auto& listener : std::exchange(udp_listeners_[slot], {})) {
      listener->receive_all();
      // While we drain, a process that took over has the port; else nobody is to be left on it.
      if (draining_) {
        listener->stop();
      } else {
        listener->shut("no-route");
      }
    }
  }
  if (slot >= listeners_.size()) return;
  for (std::unique_ptr<Listener>& listener : std::exchange(listeners_[slot], {})) {
    // What the kernel has already accepted for us would be reset with the socket.
    listener->accept_all();
    // Not just closed: a process that took over may hold a duplicate, and events would go on to come here.
    listener->release();
    loop_.retire(std::move(listener));
  }
}

// Proxies before us speak for many; what they tell of a connection's source is bounded when they have told it.
std::optional<Sources::Part> Worker::admit(const IpAddress& source, std::uint32_t slot) {
  const Entrance& entrance = program_->entrances[slot];
  const std::uint32_t most = entrance.max_connections_per_source;
  if (most == 0 || entrance.trusts(*program_->program, source)) return Sources::Part();
  std::optional<Sources::Part> part = shared_.sources.admit(slot, source, most);
  if (!part) counters_.refused.add();
  return part;
}

void Worker::accept(net::Fd client, const net::SocketAddress& peer, std::uint32_t slot) {
  if (shared_.connections.fetch_add(1, std::memory_order_relaxed) >= shared_.options.max_connections) {
    shared_.connections.fetch_sub(1, std::memory_order_relaxed);
    counters_.refused.add();
    return;
  }
  std::optional<Sources::Part> part = admit(peer.address, slot);
  if (!part) {
    shared_.connections.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  counters_.accepted.add();
  counters_.active.add();
  const auto begin = [&](auto* session) {
    session->counted_ = true;
    static_cast<ClientSession*>(session)->part_ = std::move(*part);
    keep(*session);
    session->start();
  };
  ClientConnection connection(peer, slot);
  if (program_->announces) [[unlikely]] {
    connection.local = net::local_address(client.get());
  }
  const Entrance& entrance = program_->entrances[slot];
  if (entrance.plain()) [[likely]] {
    begin(new Session(*this, std::move(connection), {std::move(client), nullptr}, Session::Kind::kConnection));
  } else if (entrance.decrypts() && program_->tls->sites(entrance.bind) != nullptr) {
    begin(new TlsHandshake(*this, std::move(connection), std::move(client), program_->tls->sites(entrance.bind)));
  } else {
    begin(new Greeting(*this, std::move(connection), std::move(client)));
  }
}

UdpSession* Worker::keep_udp(std::unique_ptr<UdpSession> session, const IpAddress& source, std::uint32_t slot) {
  const auto give = [&] { shared_.connections.fetch_sub(1, std::memory_order_relaxed); };
  if (shared_.connections.fetch_add(1, std::memory_order_relaxed) >= shared_.options.max_connections) {
    give();
    counters_.refused.add();
    return nullptr;
  }
  std::optional<Sources::Part> part = admit(source, slot);
  if (!part) {
    give();
    return nullptr;
  }
  counters_.accepted.add();
  counters_.active.add();
  ClientSession* const kept = session.get();
  kept->counted_ = true;
  kept->part_ = std::move(*part);
  keep(*kept);
  return session.release();
}

bool Worker::refuse_one(int listener, int error) {
  if (const auto held_back = shared_.accept_lines.admit()) {
    const bool descriptors = error == EMFILE || error == ENFILE;
    // Not std::generic_category: a sanitizer that checks its virtual call needs a descriptor for that.
    LogFields fields = {{"error", std::strerror(error)}};
    if (*held_back != 0) fields.push_back({"not_told", std::to_string(*held_back)});
    options().log.error(descriptors
                            ? "out of file descriptors, clients are refused: raise the hard limit of open files "
                              "(LimitNOFILE of systemd, `ulimit -Hn`, for ENFILE fs.file-max)"
                            : "out of memory for sockets, clients wait: see net.ipv4.tcp_mem and the memory limit",
                        std::move(fields));
  }
  if (error != EMFILE && error != ENFILE) return false;
  if (!spare_.valid()) spare_ = open_spare();
  if (!spare_.valid()) return false;
  spare_.reset();
  net::SocketAddress peer;
  int still = 0;
  net::Fd client = net::accept_tcp(listener, peer, still);
  const bool refused = client.valid();
  if (refused) {
    counters_.refused.add();
    net::reset_on_close(client.get());
    client.reset();
  }
  spare_ = open_spare();
  return refused;
}

void Worker::keep(ClientSession& session) {
  session.next_ = sessions_;
  if (sessions_ != nullptr) sessions_->previous_ = &session;
  sessions_ = &session;
}

void Worker::hand_over(ClientSession& from, ClientSession& to) {
  to.counted_ = std::exchange(from.counted_, false);
  to.part_ = std::move(from.part_);
  keep(to);
}

void Worker::forget(ClientSession& session) {
  if (session.previous_ != nullptr) {
    session.previous_->next_ = session.next_;
  } else {
    sessions_ = session.next_;
  }
  if (session.next_ != nullptr) session.next_->previous_ = session.previous_;
  if (session.counted_) {
    counters_.active.subtract();
    shared_.connections.fetch_sub(1, std::memory_order_relaxed);
  }
  loop_.retire(std::unique_ptr<ClientSession>(&session));
  if (sessions_ == nullptr && on_empty_) std::exchange(on_empty_, {})();
}

void Worker::drain(std::function<void()> on_empty) {
  draining_ = true;
  const auto slots = static_cast<std::uint32_t>(std::max(listeners_.size(), udp_listeners_.size()));
  for (std::uint32_t slot = 0; slot < slots; ++slot) close_listener(slot);
  for_each_session([](ClientSession& session) { session.drain(); });
  pools_.close_idle();
  if (sessions_ == nullptr) {
    on_empty();
  } else {
    on_empty_ = std::move(on_empty);
  }
}

void Worker::cancel_sessions() {
  for_each_session([](ClientSession& session) { session.cancel(); });
}

void Worker::read_wall_clock() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  wall_read_at_ = loop_.now();
  wall_milliseconds_ = static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(since_epoch).count());
  write_http_date(static_cast<std::int64_t>(wall_milliseconds_ / 1000), date_);
}

std::uint64_t Worker::unix_milliseconds() {
  const net::Duration since = loop_.now() - wall_read_at_;
  // Up to the end of the second that the date stands for.
  if (since >= milliseconds(1000 - wall_milliseconds_ % 1000)) {
    read_wall_clock();
    return wall_milliseconds_;
  }
  return wall_milliseconds_ + static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(since).count());
}

std::string_view Worker::date() {
  unix_milliseconds();
  return {date_.data(), date_.size() - 1};
}

}  // namespace edge::runtime
