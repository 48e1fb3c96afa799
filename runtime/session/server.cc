#include "runtime/session/server.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <iterator>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>

#include "program/values/certificate_file.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

bool is_udp(const program::BindRecord& bind) { return bind.protocol == program::Protocol::kUdp; }

/// A listener's slot. Slots are never reused, so that a session can refer to its own for ever.
struct Slot {
  bool udp = false;
  bool any_address = false;
  IpAddress address;
  std::uint16_t port = 0;
  std::uint16_t bound_port = 0;
  bool open = false;
  std::uint32_t bind = program::kNone;
  std::string listener{};
  std::optional<ListenFault> fault{};  ///< why clients do not reach it; with kAddress it may be open all the same
  std::string fault_text{};

  bool is_for(const program::BindRecord& record, const IpAddress& of) const {
    return udp == is_udp(record) && any_address == (record.any_address != 0) && address == of && port == record.port;
  }
};

IpAddress address_of(const program::BindRecord& bind) {
  IpAddress address;
  if (bind.any_address == 0) std::copy(std::begin(bind.address), std::end(bind.address), address.bytes.begin());
  return address;
}

/// Indices of its listeners, ascending.
std::vector<std::uint32_t> listeners_of(const LoadedProgram& program, const program::BindRecord& bind) {
  std::vector<std::uint32_t> all = {bind.listeners.fallback};
  for (const program::NameEntry& entry : program.listeners_section().array(bind.listeners.entries)) {
    all.push_back(entry.exact);
    all.push_back(entry.wildcard);
  }
  std::erase(all, program::kNone);
  std::ranges::sort(all);
  const auto doubles = std::ranges::unique(all);
  all.erase(doubles.begin(), doubles.end());
  return all;
}

std::string first_listener(const LoadedProgram& program, const program::BindRecord& bind) {
  const std::vector<std::uint32_t> all = listeners_of(program, bind);
  if (all.empty()) return {};
  return std::string(program.listeners_section().string(program.listener(all.front()).record->name));
}

ListenFault fault_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kPermissionDenied:
      return ListenFault::kPort;
    case ErrorCode::kNotFound:
      return ListenFault::kAddress;
    default:
      return ListenFault::kOther;
  }
}

std::string where(const Slot& slot) {
  return (slot.any_address ? "every address" : to_string(slot.address)) + (slot.udp ? " UDP port " : " port ") +
         std::to_string(slot.port);
}

/// Of an open one: whether its address, which may have been bound ahead, is there.
void look_for_address(Slot& slot) {
  slot.fault.reset();
  slot.fault_text.clear();
  if (slot.any_address || net::address_present(slot.address)) return;
  slot.fault = ListenFault::kAddress;
  slot.fault_text = "listens on " + where(slot) + " ahead: the node does not have this address";
}

/// Which secret, and why, stands in the agent's log.
/// `no certificate can be shown; every handshake is refused: file /etc/edge/site.crt`
std::string no_certificate(const program::SectionView& section, const program::ListenerRecord& listener) {
  constexpr std::size_t kMostNamed = 3;
  std::string text = "no certificate can be shown; every handshake is refused";
  std::size_t named = 0;
  for (const program::ListenerTlsRecord& tls : section.array(listener.tls)) {
    for (const program::SecretRecord& record : section.array(tls.certificates)) {
      if (named == kMostNamed) return text + ", ...";
      text += named++ == 0 ? ": " : ", ";
      text += program::certificate_text(section.string(record.name_space), section.string(record.name));
    }
  }
  return text;
}

}  // namespace

struct Server::Impl {
  /// Sockets of a slot that is being opened: at least one a thread, more where a process with more of them was there.
  struct Opening {
    std::uint32_t slot;
    std::vector<net::Fd> sockets;
    bool udp = false;
    bool adopted = false;
  };

  /// Opens it, or says in it why it cannot be. `all`: of which it is one.
  void open(Slot& slot, Opening& opening, const std::vector<Slot>& all);
  Status open_sockets(Slot& slot, Opening& opening, const std::vector<Slot>& all);
  std::vector<net::Fd> adopted_sockets(const Slot& slot);
  void listen(std::vector<Opening>& openings, std::size_t index, Worker& worker) const;
  void on_every_worker(const std::function<void(std::size_t, Worker&)>& work);
  std::shared_ptr<const IpAccesses> make_ip_accesses(const LoadedProgram& of) const {
    return IpAccesses::make(of.policies_section(), *secrets, *access_files, ip_accesses.get());
  }
  /// Has every thread go on with the program, and what was made for it.
  void retake();

  net::Time now() const { return shared.options.clock == nullptr ? net::Clock().now() : shared.options.clock->now(); }

  SharedState shared;
  std::vector<std::unique_ptr<Worker>> workers;
  mutable std::mutex mutex;  // of what follows, for readers on other threads
  std::vector<Slot> slots;
  std::shared_ptr<const LoadedProgram> program;
  std::shared_ptr<const program::SecretSet> secrets = std::make_shared<const program::SecretSet>();
  std::shared_ptr<net::tls::TicketKeys> tickets = std::make_shared<net::tls::TicketKeys>();
  std::shared_ptr<const Policies> policies;
  std::shared_ptr<const AccessFiles> access_files = std::make_shared<const AccessFiles>();
  std::shared_ptr<const IpAccesses> ip_accesses;
  std::shared_ptr<const TlsStore> tls;
  std::shared_ptr<const auth::Authentication> authentication;
  /// Of the process before us, until the first program.
  std::vector<ListeningSockets> adopted;
  bool awaits_flows = false;
  bool draining = false;
  /// Names of endpoints; posts to the workers.
  std::optional<EndpointNames> names;
};

std::vector<net::Fd> Server::Impl::adopted_sockets(const Slot& slot) {
  const auto found = std::find_if(adopted.begin(), adopted.end(), [&](const ListeningSockets& sockets) {
    return sockets.udp == slot.udp && sockets.any_address == slot.any_address && sockets.address == slot.address &&
           sockets.port == slot.port;
  });
  return found == adopted.end() ? std::vector<net::Fd>() : std::move(found->sockets);
}

void Server::Impl::open(Slot& slot, Opening& opening, const std::vector<Slot>& all) {
  if (const Status opened = open_sockets(slot, opening, all); !opened) {
    opening.sockets.clear();
    slot.fault = fault_of(opened.error());
    slot.fault_text = opened.error().text;
    return;
  }
  slot.open = true;
  slot.fault.reset();
  slot.fault_text.clear();
  look_for_address(slot);
}

Status Server::Impl::open_sockets(Slot& slot, Opening& opening, const std::vector<Slot>& all) {
  const std::optional<IpAddress> address = slot.any_address ? std::nullopt : std::optional(slot.address);
  std::uint16_t port = shared.options.ephemeral_ports ? 0 : slot.port;
  opening.sockets = adopted_sockets(slot);
  const bool taken_over = !opening.sockets.empty();
  if (taken_over) port = net::local_address(opening.sockets[0].get()).port;
  // The process before us may not have asked for it.
  if (!slot.udp) {
    for (const net::Fd& socket : opening.sockets) net::keep_alive(socket.get());
  }
  // SO_REUSEPORT would let us share the port with another process of this user, in silence. Our own sockets on other
  // addresses of this port are no such process.
  const bool shared_with_us = std::ranges::any_of(
      all, [&](const Slot& other) { return other.open && other.udp == slot.udp && other.port == slot.port; });
  const auto taken = slot.udp ? net::udp_port_taken : net::port_taken;
  if (!taken_over && port != 0 && !shared_with_us && taken(address, port)) {
    return Error{ErrorCode::kAlreadyExists, "cannot listen on " + where(slot) + ": in use by another process"};
  }
  // Another socket of UDP would move flows from the others.
  while (opening.sockets.size() < workers.size() && !(slot.udp && taken_over)) {
    const auto listen = slot.udp ? net::listen_udp : net::listen_tcp;
    Result<net::Fd> socket = listen(address, port, net::BindAhead::kYes);
    if (!socket.ok()) return socket.error();
    if (port == 0) port = net::local_address(socket->get()).port;
    opening.sockets.push_back(std::move(*socket));
  }
  slot.bound_port = port;
  opening.udp = slot.udp;
  opening.adopted = taken_over;
  return {};
}

void Server::Impl::listen(std::vector<Opening>& openings, std::size_t index, Worker& worker) const {
  for (Opening& opening : openings) {
    for (std::size_t i = index; i < opening.sockets.size(); i += workers.size()) {
      if (opening.udp) {
        worker.listen_udp(
            opening.slot, std::move(opening.sockets[i]),
            std::max<std::size_t>(1, shared.options.max_udp_sessions / opening.sockets.size()),
            opening.adopted && awaits_flows ? UdpListener::Receiving::kHeld : UdpListener::Receiving::kAtOnce);
      } else {
        worker.listen(opening.slot, std::move(opening.sockets[i]));
      }
    }
  }
}

void Server::Impl::on_every_worker(const std::function<void(std::size_t, Worker&)>& work) {
  std::latch done(static_cast<std::ptrdiff_t>(workers.size()));
  for (std::size_t i = 0; i < workers.size(); ++i) {
    workers[i]->post([&, i] {
      work(i, *workers[i]);
      done.count_down();
    });
  }
  done.wait();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  impl_->names.reset();
  for (const auto& worker : impl_->workers) worker->stop();
}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  net::ignore_sigpipe();
  auto impl = std::make_unique<Impl>();
  impl->shared.options = options;
  if (options.clock != nullptr) impl->shared.backends.measure_by(*options.clock);
  impl->shared.backends.set_zone(options.zone);
  impl->shared.spools.emplace(options.buffer_directory,
                              SpoolLimits{.memory_all = options.buffer_memory, .files_all = options.buffer_files});
  // One that was named, and cannot be used, is a mistake; that of the environment may never be needed.
  if (!options.buffer_directory.empty() && !impl->shared.spools->open_file().valid()) {
    return Error{ErrorCode::kFailedPrecondition, "no file can be made in " + options.buffer_directory};
  }
  impl->shared.authentication.emplace(options.call_authorities, options.log, options.denied_calls,
                                      options.names.queries);
  impl->shared.threads = options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < impl->shared.threads; ++i) {
    impl->workers.push_back(std::make_unique<Worker>(impl->shared));
    impl->workers.back()->start();
  }
  EndpointNameOptions names = options.names;
  names.denied = options.denied_calls;
  impl->names.emplace(std::move(names), impl->shared.backends, [all = impl.get()](bool changed) {
    if (!changed) return;
    for (const auto& worker : all->workers) worker->post([&one = *worker] { one.refresh_endpoints(); });
  });
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Status Server::install(std::shared_ptr<const LoadedProgram> program) {
  Impl& impl = *impl_;
  if (impl.draining) return Error{ErrorCode::kFailedPrecondition, "the server is draining"};
  // First of all: sockets that are taken over from another process can be had once.
  std::mutex failed_mutex;
  Status prepared;
  impl.on_every_worker([&](std::size_t, Worker& worker) {
    Status status = worker.prepare(*program);
    const std::lock_guard lock(failed_mutex);
    if (!status.ok()) prepared = status;
  });
  if (!prepared.ok()) return prepared;

  std::vector<Slot> slots = impl.slots;
  std::vector<Impl::Opening> openings;
  for (Slot& slot : slots) slot.bind = program::kNone;
  for (std::uint32_t i = 0; i < program->binds().size(); ++i) {
    const program::BindRecord& bind = program->binds()[i];
    const IpAddress address = address_of(bind);
    auto slot = std::find_if(slots.begin(), slots.end(), [&](const Slot& s) {
      return (s.open || s.fault) && s.bind == program::kNone && s.is_for(bind, address);
    });
    if (slot == slots.end()) {
      slots.push_back(
          {.udp = is_udp(bind), .any_address = bind.any_address != 0, .address = address, .port = bind.port});
      slot = slots.end() - 1;
    }
    if (!slot->open) {
      openings.push_back({static_cast<std::uint32_t>(slot - slots.begin()), {}});
      impl.open(*slot, openings.back(), slots);
    }
    slot->bind = i;
    slot->listener = first_listener(*program, bind);
  }

  const auto policies = std::make_shared<const Policies>(*program, &impl.shared.limit_counts);
  impl.shared.shared_limits.set(policies->shared_limits());
  const auto tls = TlsStore::make(*program, *impl.secrets, impl.tickets, impl.tls.get());
  const auto authentication = auth::Authentication::make(*program, *impl.secrets, *impl.shared.authentication);
  const auto ip_accesses = impl.make_ip_accesses(*program);
  impl.shared.backends.configure(program->backends(), program->backends_section(), tls->backends(), tls->clusters());
  std::vector<std::uint32_t> bind_of_slot;
  for (const Slot& slot : slots) bind_of_slot.push_back(slot.bind);
  impl.on_every_worker([&](std::size_t index, Worker& worker) {
    worker.take(program, policies, ip_accesses, tls, authentication, bind_of_slot);
    impl.listen(openings, index, worker);
  });
  impl.on_every_worker([&](std::size_t, Worker& worker) {
    for (std::uint32_t i = 0; i < slots.size(); ++i) {
      if (slots[i].open && slots[i].bind == program::kNone) worker.close_listener(i);
    }
  });
  impl.adopted.clear();
  for (Slot& slot : slots) {
    if (slot.bind != program::kNone) continue;
    slot.open = false;
    slot.fault.reset();
  }
  const std::lock_guard lock(impl.mutex);
  impl.slots = std::move(slots);
  impl.program = std::move(program);
  impl.policies = policies;
  impl.ip_accesses = ip_accesses;
  impl.tls = tls;
  impl.authentication = authentication;
  return {};
}

bool Server::recheck_listeners() {
  Impl& impl = *impl_;
  if (impl.draining) return false;
  std::vector<Slot> slots = impl.slots;
  std::vector<Impl::Opening> openings;
  bool changed = false;
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots[i];
    if (slot.bind == program::kNone) continue;
    const auto before = std::pair(slot.fault, slot.fault_text);
    if (slot.open) {
      look_for_address(slot);
    } else {
      openings.push_back({i, {}});
      impl.open(slot, openings.back(), slots);
    }
    changed |= before != std::pair(slot.fault, slot.fault_text);
  }
  if (!changed) return false;
  impl.on_every_worker([&](std::size_t index, Worker& worker) { impl.listen(openings, index, worker); });
  const std::lock_guard lock(impl.mutex);
  impl.slots = std::move(slots);
  return true;
}

std::vector<UnboundListener> Server::unbound() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<UnboundListener> all;
  for (const Slot& slot : impl_->slots) {
    if (slot.bind == program::kNone) continue;
    const program::SectionView& section = impl_->program->listeners_section();
    for (const std::uint32_t index : listeners_of(*impl_->program, impl_->program->binds()[slot.bind])) {
      const bool refuses = impl_->tls->shows_nothing(index);
      if (!slot.fault && !refuses) continue;
      const LoadedListener& listener = impl_->program->listener(index);
      all.push_back({.gateway_id = listener.gateway->id,
                     .name_space = std::string(section.string(listener.gateway->name_space)),
                     .gateway = std::string(section.string(listener.gateway->name)),
                     .listener = std::string(section.string(listener.record->name)),
                     .any_address = slot.any_address,
                     .address = slot.address,
                     .port = slot.port,
                     .fault = slot.fault.value_or(ListenFault::kCertificate),
                     .reason = slot.fault ? slot.fault_text : no_certificate(section, *listener.record)});
    }
  }
  return all;
}

void Server::set_secrets(const program::SecretSet& secrets) {
  Impl& impl = *impl_;
  impl.secrets = std::make_shared<const program::SecretSet>(secrets);
  if (impl.program == nullptr) return;
  const auto tls = TlsStore::make(*impl.program, secrets, impl.tickets, impl.tls.get());
  const auto authentication = auth::Authentication::make(*impl.program, secrets, *impl.shared.authentication);
  impl.shared.backends.configure(impl.program->backends(), impl.program->backends_section(), tls->backends(),
                                 tls->clusters());
  const auto ip_accesses = impl.make_ip_accesses(*impl.program);
  {
    const std::lock_guard lock(impl.mutex);
    impl.tls = tls;
    impl.authentication = authentication;
    impl.ip_accesses = ip_accesses;
  }
  impl.retake();
}

void Server::set_access_files(std::shared_ptr<const AccessFiles> files) {
  Impl& impl = *impl_;
  impl.access_files = std::move(files);
  if (impl.program == nullptr) return;
  auto made = impl.make_ip_accesses(*impl.program);
  {
    const std::lock_guard lock(impl.mutex);
    impl.ip_accesses = std::move(made);
  }
  impl.retake();
}

void Server::Impl::retake() {
  std::vector<std::uint32_t> bind_of_slot;
  for (const Slot& slot : slots) bind_of_slot.push_back(slot.bind);
  on_every_worker([&](std::size_t, Worker& worker) {
    worker.take(program, policies, ip_accesses, tls, authentication, bind_of_slot);
  });
}

std::vector<std::string> Server::secret_faults() const {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->tls == nullptr) return {};
  std::vector<std::string> faults = impl_->tls->faults();
  const std::vector<std::string>& others = impl_->authentication->faults();
  faults.insert(faults.end(), others.begin(), others.end());
  const std::vector<std::string>& accesses = impl_->ip_accesses->faults();
  faults.insert(faults.end(), accesses.begin(), accesses.end());
  return faults;
}

void Server::set_endpoints(const program::EndpointSet& endpoints) {
  impl_->names->set(std::make_shared<const program::EndpointSet>(endpoints));
  impl_->on_every_worker([](std::size_t, Worker& worker) { worker.refresh_endpoints(); });
}

bool Server::set_region(std::string region) { return impl_->shared.backends.set_region(std::move(region)); }
bool Server::set_zone(std::string zone) { return impl_->shared.backends.set_zone(std::move(zone)); }

void Server::set_route_marks(std::span<const GatewayMark> marks) { impl_->shared.backends.route_marks().set(marks); }

std::string Server::zone() const { return impl_->shared.backends.zone(); }

bool Server::wait_for_names(std::chrono::milliseconds patience) const {
  return impl_->names->wait_for_answers(patience);
}

std::vector<ListeningSockets> Server::share_listeners() {
  std::vector<ListeningSockets> all;
  for (std::uint32_t i = 0; i < impl_->slots.size(); ++i) {
    const Slot& slot = impl_->slots[i];
    if (!slot.open) continue;
    ListeningSockets listening{slot.udp, slot.any_address, slot.address, slot.port, {}};
    std::mutex mutex;
    impl_->on_every_worker([&](std::size_t, Worker& worker) {
      const std::lock_guard lock(mutex);
      worker.share_listener(i, listening.sockets);
    });
    all.push_back(std::move(listening));
  }
  return all;
}

void Server::adopt(std::vector<ListeningSockets> sockets) {
  impl_->adopted = std::move(sockets);
  impl_->awaits_flows = true;
}

std::vector<HandedFlow> Server::give_flows() {
  std::mutex mutex;
  std::vector<HandedFlow> all;
  impl_->on_every_worker([&](std::size_t, Worker& worker) {
    std::vector<HandedFlow> own;
    worker.give_flows(own);
    const std::lock_guard lock(mutex);
    std::ranges::move(own, std::back_inserter(all));
  });
  return all;
}

void Server::take_flows(std::vector<HandedFlow> flows) {
  impl_->awaits_flows = false;
  // One thread after the other, as each takes its own out of the list.
  for (const auto& worker : impl_->workers) worker->call([&] { worker->take_flows(flows); });
}

std::shared_ptr<const LoadedProgram> Server::program() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->program;
}

std::vector<BoundAddress> Server::addresses() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<BoundAddress> result;
  for (const Slot& slot : impl_->slots) {
    if (slot.open) result.push_back({slot.bind, slot.address, slot.bound_port, slot.listener});
  }
  return result;
}

ServerStats Server::stats() const {
  ServerStats sum;
  for (const auto& worker : impl_->workers) {
    const Counters& counters = std::as_const(*worker).counters();
    sum.connections_accepted += counters.accepted.value();
    sum.connections_active += counters.active.value();
    sum.connections_refused += counters.refused.value();
    sum.requests += counters.requests.value();
    for (std::size_t i = 1; i < std::size(sum.responses); ++i) sum.responses[i] += counters.responses[i].value();
    sum.upstream_connects += worker->upstream_counts().connects.value();
    sum.upstream_reused += worker->upstream_counts().reused.value();
    sum.upstream_retries += counters.upstream_retries.value();
    sum.tls_handshakes += counters.tls_handshakes.value();
    sum.tls13_resumed += counters.tls13_resumed.value();
    sum.tls13_handshakes += counters.tls13_handshakes.value();
    sum.tls_resumed += counters.tls_resumed.value();
    sum.tls_failures += counters.tls_failures.value();
    sum.upstream_tls_failures += worker->upstream_counts().tls_failures.value();
    sum.mirrors += counters.mirrors.value();
    sum.mirrors_dropped += counters.mirrors_dropped.value();
    sum.tunnels += counters.tunnels.value();
    sum.tunnels_refused += counters.tunnels_refused.value();
    sum.tunnel_bytes_up += counters.tunnel_bytes_up.value();
    sum.tunnel_bytes_down += counters.tunnel_bytes_down.value();
    sum.udp_sessions += counters.udp_sessions.value();
    sum.udp_sessions_active += counters.udp_sessions_active.value();
    sum.udp_sessions_evicted += counters.udp_sessions_evicted.value();
    sum.udp_datagrams_up += counters.udp_datagrams_up.value();
    sum.udp_datagrams_down += counters.udp_datagrams_down.value();
    sum.udp_bytes_up += counters.udp_bytes_up.value();
    sum.udp_bytes_down += counters.udp_bytes_down.value();
    for (std::size_t i = 0; i < kUdpDrops; ++i) sum.udp_drops[i] += counters.udp_drops[i].value();
    sum.cache.add(counters.cache);
    std::as_const(*worker).probe().add_to(sum.loop_lag);
    for (std::size_t type = 0; type < kAuthTypes; ++type) {
      for (std::size_t outcome = 0; outcome < auth::kOutcomes; ++outcome) {
        sum.authentication[type][outcome] += counters.authentication[type][outcome].value();
      }
    }
  }
  sum.login_faults = impl_->shared.authentication->login_faults.counts();
  if (impl_->shared.options.access_log != nullptr) sum.access_log = impl_->shared.options.access_log->counts();
  sum.buffer_memory_used = impl_->shared.spools->memory_used();
  sum.buffer_files_used = impl_->shared.spools->files_used();
  const cache::StoreStats stored = impl_->shared.caches.stats();
  sum.cache.evictions = stored.evictions;
  sum.cache.entries = stored.entries;
  sum.cache.bytes = stored.bytes;
  return sum;
}

RequestSums Server::requests() const {
  RequestSums sums;
  for (const auto& worker : impl_->workers) sums.add(std::as_const(*worker).tally());
  return sums;
}

void Server::forget_requests(std::span<const TallyNames> names) {
  std::vector<std::unique_ptr<RequestTally::Cell>> removed;
  std::mutex mutex;
  impl_->on_every_worker([&](std::size_t, Worker& worker) {
    auto cells = worker.tally().remove(names);
    const std::lock_guard lock(mutex);
    std::ranges::move(cells, std::back_inserter(removed));
  });
}

std::vector<CertificateExpiry> Server::certificates() const {
  std::shared_ptr<const TlsStore> tls;
  {
    const std::lock_guard lock(impl_->mutex);
    tls = impl_->tls;
  }
  return tls == nullptr ? std::vector<CertificateExpiry>() : tls->expiries();
}

std::vector<RateLimitCount> Server::rate_limits() const { return impl_->shared.limit_counts.rates.counts(); }

bool Server::shares_limits() const { return impl_->shared.shared_limits.any(); }

std::uint64_t Server::shared_limit_seed() const { return impl_->shared.shared_limits.seed(); }

std::vector<SharedUse> Server::take_shared_uses(std::size_t most) { return impl_->shared.shared_limits.take(most); }

void Server::apply_shared_news(const SharedNews& news) {
  impl_->shared.shared_limits.apply(news, impl_->now(), impl_->shared.rate_limits);
}

SharedLimitFacts Server::shared_limits() const {
  const SharedLimits& shared = impl_->shared.shared_limits;
  return {shared.share(impl_->now()), shared.untold()};
}

std::vector<RateLimitCount> Server::concurrency_limits() const {
  return impl_->shared.limit_counts.concurrency.counts();
}

std::vector<BackendStatus> Server::backends() const {
  std::vector<BackendStatus> all = impl_->shared.backends.status();
  impl_->names->add_to(all);
  return all;
}

std::size_t Server::purge_cache(const cache::Purge& what) { return impl_->shared.caches.purge(what); }

bool Server::answers(std::chrono::nanoseconds patience) const {
  // Shared with the threads: they may come to it after we stopped waiting.
  const auto all = std::make_shared<std::promise<void>>();
  const auto left = std::make_shared<std::atomic<std::size_t>>(impl_->workers.size());
  auto done = all->get_future();
  for (const auto& worker : impl_->workers) {
    worker->post([all, left] {
      if (left->fetch_sub(1) == 1) all->set_value();
    });
  }
  return done.wait_for(patience) == std::future_status::ready;
}

bool Server::drain(std::chrono::nanoseconds deadline) {
  struct Progress {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t busy;
  };
  impl_->draining = true;
  // Shared with the workers: they may report after we stopped waiting.
  const auto progress = std::make_shared<Progress>();
  progress->busy = impl_->workers.size();
  for (const auto& worker : impl_->workers) {
    worker->post([&target = *worker, progress] {
      target.drain([progress] {
        const std::lock_guard lock(progress->mutex);
        --progress->busy;
        progress->changed.notify_all();
      });
    });
  }
  bool in_time;
  {
    std::unique_lock lock(progress->mutex);
    in_time = progress->changed.wait_for(lock, deadline, [&] { return progress->busy == 0; });
  }
  if (!in_time) impl_->on_every_worker([](std::size_t, Worker& worker) { worker.cancel_sessions(); });
  const std::lock_guard lock(impl_->mutex);
  for (Slot& slot : impl_->slots) {
    slot.open = false;
    slot.fault.reset();
  }
  return in_time;
}

}  // namespace edge::runtime
