#include "agent/service.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "agent/capabilities.h"
#include "agent/observe/access_log.h"
#include "agent/observe/backend_report.h"
#include "agent/observe/cache_admin.h"
#include "agent/observe/debug_config.h"
#include "agent/observe/program_body.h"
#include "agent/vip/pages.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "daemon/descriptors.h"
#include "daemon/ending.h"
#include "daemon/logging.h"
#include "net/tls/certificate.h"
#include "program/read.h"
#include "program/values/endpoints.h"

namespace edge::agent {
namespace {

/// How long a process serves before the one that it took over from goes.
constexpr auto kSettleAfter = std::chrono::seconds(1);
/// Of a program's hash, where a person reads it.
constexpr std::size_t kShortHash = 12;

/// Never waits: whoever does not read the standard output must hold neither programs nor the end of this process.
/// `line` is no longer than a pipe takes at once (PIPE_BUF). \returns whether it is out.
bool print_line(const std::string& line) {
  pollfd output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&output, 1, 0) > 0 && cli::write_text(stdout, line + "\n");
}

bool is_get(const AdminRequest& request) { return request.method == "GET" || request.method == "HEAD"; }

}  // namespace

Service::Service(ServiceOptions options) : options_(std::move(options)), log_(options_.log->logger()) {}
Service::~Service() {
  if (settling_.joinable()) {
    settling_.request_stop();
    settling_.join();
  }
  sampler_.reset();
  upgrade_.reset();
  watchdog_.reset();
  profile_.end();
  admin_.reset();
  access_watch_.reset();
}

Result<std::unique_ptr<Service>> Service::start(ServiceOptions options) {
  daemon::block_ending_signals();
  daemon::raise_descriptor_limit();
  std::unique_ptr<Service> service(new Service(std::move(options)));
  service->options_.server.log = service->log_;
  if (Status status = service->start_export(); !status) return status.error();
  auto server = runtime::Server::start(service->options_.server);
  if (!server) return server.error();
  service->server_ = std::move(*server);
  service->metrics_ =
      std::make_unique<MetricsPage>(*service->server_, service->options_.max_series, [raw = service.get()] {
        const std::lock_guard lock(raw->state_mutex_);
        return raw->installs_;
      });
  service->metrics_->add([exporter = service->exporter_.get()](metrics::Exposition& out) {
    write_span_metrics(out, exporter == nullptr ? runtime::trace::SpanCounts{} : exporter->counts());
  });
  if (service->options_.health) {
    auto token = daemon::AdminToken::open(service->options_.admin_token_file);
    // Who reads is served without it.
    if (!token) service->log_.warn("changes by the health port are refused", {{"reason", token.error().text}});
    if (token) service->admin_token_ = std::move(*token);
  }
  service->installer_ = std::make_unique<Installer>(*service->server_, service->options_.key);
  if (Status status = service->start_access_files(); !status) return status.error();
  service->last_hour_ =
      std::make_unique<LastHourPages>([metrics = service->metrics_.get()] { return metrics->traffic(); });
  service->fill_debug_pages();
  if (service->options_.served.valid()) service->notify_.become_main(std::move(service->options_.served));
  service->watchdog_ = std::make_unique<daemon::Watchdog>(
      service->notify_, [server = service->server_.get()](auto patience) { return server->answers(patience); },
      service->log_);
  service->sampler_ =
      std::make_unique<Sampler>(SamplerTasks{.look = [raw = service.get()] { raw->look_at_health(); },
                                             .record = [raw = service.get()] { raw->last_hour_->record(); },
                                             .recheck = [raw = service.get()] { return raw->recheck_listeners(); }});
  service->notify_.status("waits for its first program");
  if (!service->options_.upgrade_socket.empty()) {
    auto predecessor = Predecessor::find(service->options_.upgrade_socket);
    if (!predecessor) return predecessor.error();
    service->predecessor_ = std::move(*predecessor);
    service->takes_over_ = service->predecessor_.has_value();
  }
  if (!service->predecessor_) {
    if (Status status = service->start_admin(); !status) return status.error();
    return service;
  }
  // Its admin ports are its own until it goes.
  auto sockets = service->predecessor_->sockets();
  if (!sockets) return sockets.error();
  service->message("takes over from the running process");
  service->server_->adopt(std::move(*sockets));
  return service;
}

// Before any thread serves: they leave their spans where it looks.
Status Service::start_export() {
  SpanExportOptions& traces = options_.traces;
  if (traces.endpoint.empty()) return {};
  traces.authorities = options_.server.call_authorities;
  traces.tell = [this](const std::string& line) { log_.warn(line); };
  options_.server.spans = std::make_shared<runtime::trace::SpanBuffers>();
  auto exporter = start_span_export(traces, options_.server.spans);
  if (!exporter) return exporter.error();
  exporter_ = std::move(*exporter);
  return {};
}

void Service::become() {
  if (options_.upgrade_socket.empty()) return;
  if (predecessor_) {
    auto ports = predecessor_->ready();
    if (!ports) log_.warn(ports.error().text);
    // The listeners serve by now: whoever wants to see them must not be the reason that they stop.
    Status status = start_admin(ports ? std::move(*ports) : std::vector<net::Fd>());
    if (!status) log_.error(status.error().text);
    settling_ = std::jthread([this](const std::stop_token& stop) { settle(stop); });
  }
  UpgradeSocket::Owner owner;
  owner.share = [this] {
    const std::lock_guard installing(install_mutex_);
    return draining_ ? std::vector<runtime::ListeningSockets>() : server_->share_listeners();
  };
  owner.give_up = [this] { return give_up(); };
  owner.give_flows = [this] {
    const std::lock_guard installing(install_mutex_);
    return draining_ ? std::vector<runtime::HandedFlow>() : server_->give_flows();
  };
  owner.leave = [this] {
    superseded_ = true;
    notify_.leave();
    stop(cli::kExitOk);
  };
  owner.take_back = [this](std::vector<net::Fd> ports) { take_back(std::move(ports)); };
  auto opened = UpgradeSocket::open(options_.upgrade_socket, std::move(owner));
  if (!opened) return log_.error(opened.error().text);
  upgrade_ = std::move(*opened);
}

std::vector<net::Fd> Service::give_up() {
  message("another process has taken over");
  std::vector<net::Fd> ports;
  profile_.end();
  if (admin_) {
    // Ports that the system chose, too, are the same should they be taken back.
    const std::vector<ListenAddress> addresses = admin_->addresses();
    ports = admin_->give_up();
    if (options_.health) options_.health = addresses.back();
    if (options_.metrics) options_.metrics = addresses.front();
  }
  admin_.reset();
  return ports;
}

void Service::take_back(std::vector<net::Fd> ports) {
  if (draining_) return;
  if (Status status = start_admin(std::move(ports)); !status) log_.error(status.error().text);
  log_.error("the process that took over ended at once: this one keeps serving");
}

void Service::settle(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, kSettleAfter, [] { return false; });
  // Whoever is told to end before has not settled.
  if (!stop.stop_requested() && !draining_) {
    std::vector<runtime::HandedFlow> flows = predecessor_->settled();
    const std::lock_guard installing(install_mutex_);
    if (!draining_) server_->take_flows(std::move(flows));
  }
  predecessor_.reset();
}

Status Service::start_admin(std::vector<net::Fd> inherited) {
  std::vector<daemon::AdminPort> ports;
  std::vector<const char*> names;
  if (options_.metrics) {
    const auto handler = [this](const AdminRequest& request) {
      return request.path == "/metrics" ? std::optional(metrics_->answer(request)) : std::nullopt;
    };
    ports.push_back({*options_.metrics, daemon::at_once(handler), "--metrics-listen"});
    names.push_back("metrics");
  }
  if (options_.health) {
    const auto handler = [this](net::Loop& loop, const AdminRequest& request) { return attend(loop, request); };
    ports.push_back({*options_.health, handler, "--health-listen"});
    names.push_back("health");
  }
  if (ports.empty()) return {};
  auto admin = daemon::AdminServer::start(std::move(ports), std::move(inherited));
  if (!admin) return admin.error();
  admin_ = std::move(*admin);
  for (std::size_t i = 0; i < names.size(); ++i) {
    message(std::string(names[i]) + " on " + to_string(admin_->addresses()[i]));
  }
  return {};
}

// What tells of the inside, or changes it, is for whoever is on this machine alone.
net::Task<AdminReply> Service::attend(net::Loop& loop, const AdminRequest& request) {
  const auto page = daemon::at_once([this](const AdminRequest& asked) -> std::optional<AdminReply> {
    if (!daemon::is_debug_path(asked.path)) return health(asked);
    if (!daemon::is_loopback(options_.health->address)) return daemon::text_reply(403, "only on a loopback address\n");
    auto refused = daemon::foreign(asked);
    if (!refused) refused = admin_token_.refuse(asked);
    return refused ? std::move(refused) : debug_pages_.answer(asked);
  });
  const bool waits = request.path == daemon::ProfilePage::kPath && is_get(request) &&
                     daemon::is_loopback(options_.health->address) && !daemon::foreign(request);
  return waits ? profile_.answer(loop, request.query) : page(loop, request);
}

void Service::fill_debug_pages() {
  vip::add_pages(debug_pages_, [this] { return holder(); });
  debug_pages_.add(
      {"/debug/config", "GET", "what is served, in short", [this](const AdminRequest&) -> std::optional<AdminReply> {
         return AdminReply{.content_type = "application/json", .body = config_document(*server_)};
       }});
  debug_pages_.add({"/debug/stats", "GET", "the figures of /metrics, in text",
                    [this](const AdminRequest& request) { return metrics_->answer_whole(request); }});
  debug_pages_.add(
      {"/debug/heap", "GET", "what the allocator says", [](const AdminRequest&) { return daemon::heap_figures(); }});
  debug_pages_.add({std::string(daemon::ProfilePage::kPath), "GET", "CPU profile for pprof: ?seconds=10, up to 60",
                    [](const AdminRequest&) { return daemon::text_reply(501, "takes time: ask the port itself\n"); }});
  daemon::add_log_pages(debug_pages_, *options_.log);
  if (const runtime::AccessLog* const access_log = options_.server.access_log.get()) {
    debug_pages_.add(
        {"/debug/access-log", "GET",
         "the latest requests of gateways with an access log: ?gateway= ?route= ?status= ?since= ?after= ?limit=",
         [access_log](const AdminRequest& request) { return recent_requests(*access_log, request.query); }});
  }
  debug_pages_.add({"/debug/program", "GET", "the running program (edgectl explain, diff, routes read it)",
                    [this](const AdminRequest&) { return debug_program(); }});
  debug_pages_.add({"/debug/endpoints", "GET", "backends and their endpoints, with health",
                    [this](const AdminRequest&) -> std::optional<AdminReply> {
                      return AdminReply{.content_type = "application/json",
                                        .body = endpoints_document(server_->backends(),
                                                                   std::chrono::system_clock::now(), server_->zone())};
                    }});
  debug_pages_.add(
      {"/debug/cache", "GET", "figures of the cache", [this](const AdminRequest&) { return cache_stats(*server_); }});
  debug_pages_.add({"/debug/cache/purge", "POST",
                    "removes stored responses: ?all, ?hostname=PATTERN, ?route=[NAMESPACE/]NAME",
                    [this](const AdminRequest& request) { return purge_cache(*server_, request.query); }});
  fill_last_hour_pages();
}

void Service::fill_last_hour_pages() {
  debug_pages_.add({"/debug/traffic", "GET", "what came in the last ?window=5m, by gateway, route and backend",
                    [this](const AdminRequest& request) {
                      return last_hour_->traffic(request.query, server_->backends(), program());
                    }});
  debug_pages_.add({"/debug/traffic/line", "GET",
                    "the last hour over time: ?range=30m&points=60, of one ?gateway= ?route= ?backend= NAMESPACE/NAME",
                    [this](const AdminRequest& request) { return last_hour_->line(request.query); }});
  debug_pages_.add({"/debug/troubles", "GET", "what is amiss with backends, certificates and listeners, since when",
                    [this](const AdminRequest&) -> std::optional<AdminReply> {
                      const std::lock_guard lock(health_mutex_);
                      return AdminReply{.content_type = "application/json",
                                        .body = troubles_document(health_log_.troubles())};
                    }});
}

void Service::look_at_health() {
  const auto backends = server_->backends();
  const auto certificates = server_->certificates();
  const auto unbound = server_->unbound();
  const std::lock_guard lock(health_mutex_);
  for (std::string& line : health_log_.look({backends, certificates, unbound}, std::chrono::system_clock::now())) {
    log_.warn(std::move(line));
  }
}

std::optional<AdminReply> Service::answer(const AdminRequest& request) const {
  if (daemon::is_debug_path(request.path)) return debug_pages_.answer(request);
  if (request.path == "/metrics") return metrics_->answer_whole(request);
  return health(request);
}

void Service::ask_behind(std::function<std::string(const std::string&)> behind) {
  const std::lock_guard lock(behind_mutex_);
  behind_ = std::move(behind);
}

std::optional<AdminReply> Service::health(const AdminRequest& request) const {
  if (request.path != "/healthz" && request.path != "/readyz") return std::nullopt;
  if (!is_get(request)) return daemon::text_reply(405, "only GET and HEAD\n");
  if (request.path == "/healthz") return daemon::text_reply(200, "ok\n");
  if (draining_) return daemon::text_reply(503, "draining\n");
  std::string behind;
  {
    const std::string serves = program();
    const std::lock_guard lock(behind_mutex_);
    if (behind_) behind = behind_(serves);
  }
  if (!behind.empty()) behind = "not what was last accepted: " + behind + "\n";
  const std::lock_guard lock(state_mutex_);
  if (installs_.program.empty()) return daemon::text_reply(503, "no program yet\n");
  if (const std::string why = serves_nothing(); !why.empty()) return daemon::text_reply(503, why + "\n");
  return daemon::text_reply(200, "ready program=" + installs_.program + "\n" + behind);
}

/// Header values and the names of everything stand in a program.
AdminReply Service::debug_program() const {
  const auto program = server_->program();
  if (!program) return daemon::text_reply(503, "no program yet\n");
  auto body = std::make_unique<ProgramBody>(program);
  const std::size_t size = body->size();
  return {.content_type = "application/octet-stream", .stream = std::move(body), .stream_size = size};
}

Status Service::apply(std::shared_ptr<const std::vector<std::byte>> bytes, const program::EndpointSet& endpoints,
                      const program::SecretSet& secrets) {
  Status status = install(std::move(bytes), endpoints, secrets);
  if (status || status.error().code == ErrorCode::kCancelled || !options_.first_must_serve) return status;
  if (program().empty()) stop(cli::kExitFindings);
  return status;
}

Status Service::restore(std::shared_ptr<const std::vector<std::byte>> bytes, const program::EndpointSet& endpoints,
                        const program::SecretSet& secrets) {
  return install(std::move(bytes), endpoints, secrets);
}

Status Service::install(std::shared_ptr<const std::vector<std::byte>> bytes, const program::EndpointSet& endpoints,
                        const program::SecretSet& secrets) {
  const std::lock_guard installing(install_mutex_);
  if (draining_) return Error{ErrorCode::kCancelled, "draining"};
  const auto began = std::chrono::steady_clock::now();
  auto outcome = installer_->apply(bytes, endpoints, secrets);
  const auto took = std::chrono::steady_clock::now() - began;
  if (!outcome) {
    log_.error("the program was refused: " + outcome.error().text);
    const std::lock_guard lock(state_mutex_);
    ++installs_.refused;
    return outcome.error();
  }
  tell_secret_faults();
  if (*outcome == Installer::InstallResult::kUnchanged) {
    // A certificate may have come, and a listener with it.
    if (!ready_told_) tell_program(program());
    return {};
  }
  const std::string hash = program::to_hex(server_->program()->hash());
  {
    const std::lock_guard lock(state_mutex_);
    ++installs_.installed;
    installs_.program = hash;
    installs_.at = std::chrono::system_clock::now();
    installs_.took = took;
  }
  const bool first = *outcome == Installer::InstallResult::kFirst;
  if (first) become();
  const std::string status = "serves the program " + hash.substr(0, kShortHash);
  first ? notify_.ready(status) : notify_.status(status);
  tell_listeners();
  tell_unbound();
  if (const auto own = holder()) own->look_again();
  tell_program(hash);
  return {};
}

// Whoever waits for `ready` sends requests then.
void Service::tell_program(const std::string& hash) {
  if (const std::string why = ready_told_ ? std::string() : serves_nothing(); !why.empty()) {
    if (why != nothing_told_) log_.warn("not ready: " + why);
    nothing_told_ = why;
    return;
  }
  const std::string line = (std::exchange(ready_told_, true) ? "programmed program=" : "ready program=") + hash;
  const bool lost = !print_line(line);
  if (lost && !output_lost_) log_.warn("the standard output is not read: it does not take `" + line + "`");
  output_lost_ = lost;
}

// Only what is new, as with secrets; what several listeners share is told once.
void Service::tell_unbound() {
  std::vector<runtime::UnboundListener> unbound = server_->unbound();
  std::string last;
  for (const runtime::UnboundListener& one : unbound) {
    if (std::ranges::find(unbound_told_, one) != unbound_told_.end() || one.reason == last) continue;
    if (one.fault == runtime::ListenFault::kCertificate) continue;  // among the faults of secrets
    last = one.reason;
    const std::string line = "listener " + one.name_space + "/" + one.gateway + "/" + one.listener + ": " + one.reason;
    // Of a virtual address another node may answer.
    one.fault == runtime::ListenFault::kAddress ? log_.warn(line) : log_.error(line + "; it is tried again");
  }
  tell_capability(unbound);
  const bool tries =
      std::ranges::any_of(unbound, [](const auto& one) { return one.fault != runtime::ListenFault::kCertificate; });
  unbound_told_ = std::move(unbound);
  if (tries && sampler_) sampler_->recheck_soon();
}

// A port that cannot be opened: often it is this.
void Service::tell_capability(std::span<const runtime::UnboundListener> unbound) {
  std::vector<std::uint16_t> ports;
  for (const runtime::UnboundListener& one : unbound) {
    if (one.fault == runtime::ListenFault::kPort) ports.push_back(one.port);
  }
  std::ranges::sort(ports);
  const auto doubles = std::ranges::unique(ports);
  ports.erase(doubles.begin(), doubles.end());
  std::string missing = missing_capability(ports, own_privileges());
  if (missing.empty() || missing == capability_told_) return;
  log_.warn(missing);
  capability_told_ = std::move(missing);
}

bool Service::recheck_listeners() {
  const std::lock_guard installing(install_mutex_);
  if (draining_) return false;
  if (server_->recheck_listeners()) {
    tell_listeners();
    tell_unbound();
    if (!ready_told_) tell_program(program());
  }
  return std::ranges::any_of(unbound_told_, [](const runtime::UnboundListener& one) {
    return one.fault != runtime::ListenFault::kAddress && one.fault != runtime::ListenFault::kCertificate;
  });
}

void Service::trust(program::VerifyKey key) {
  const std::lock_guard installing(install_mutex_);
  installer_->trust(std::move(key));
}

std::string Service::program() const {
  const std::lock_guard lock(state_mutex_);
  return installs_.program;
}

// Only what is new: a program a second would else say the same each time.
Status Service::start_access_files() {
  if (!options_.access_files.any()) return {};
  auto watch =
      AccessWatch::start(options_.access_files, log_, [this](auto files) { set_access_files(std::move(files)); });
  if (!watch) return watch.error();
  access_watch_ = std::move(*watch);
  metrics_->add([own = access_watch_.get()](metrics::Exposition& out) { own->write_metrics(out); });
  return {};
}

void Service::set_access_files(std::shared_ptr<const runtime::AccessFiles> files) {
  const std::lock_guard installing(install_mutex_);
  server_->set_access_files(std::move(files));
  tell_secret_faults();
}

void Service::tell_secret_faults() {
  std::vector<std::string> faults = server_->secret_faults();
  for (const std::string& fault : faults) {
    if (std::ranges::find(secret_faults_, fault) == secret_faults_.end()) log_.warn(fault);
  }
  secret_faults_ = std::move(faults);
}

// Only what is new: most programs leave the listeners as they are.
void Service::tell_listeners() {
  std::map<std::string, std::string> listeners;
  for (const runtime::BoundAddress& bound : server_->addresses()) {
    const std::string address = to_string(ListenAddress{bound.address, bound.port});
    const auto reported = listeners_told_.find(address);
    if (reported == listeners_told_.end() || reported->second != bound.listener) {
      message("listener " + bound.listener + " on " + address);
    }
    listeners[address] = bound.listener;
  }
  for (const auto& [address, listener] : listeners_told_) {
    if (!listeners.contains(address)) message("listener " + listener + " on " + address + " is closed");
  }
  listeners_told_ = std::move(listeners);
}

void Service::stop(int exit_code) {
  exit_code_ = exit_code;
  ::kill(::getpid(), SIGTERM);
}

int Service::run() {
  daemon::await_ending_signal();
  {
    // From here on no program opens a listener.
    const std::lock_guard installing(install_mutex_);
    draining_ = true;
  }
  const std::string drains = "draining for at most " + duration_text(options_.drain_timeout);
  notify_.stopping(drains);
  message(drains);
  std::thread([] { ::_exit(128 + daemon::await_ending_signal_of_others()); }).detach();
  leave_addresses();
  if (superseded_ && when_superseded_) when_superseded_();
  if (!server_->drain(options_.drain_timeout))
    log_.warn("the drain timeout has expired; the remaining connections are reset");
  if (const auto own = holder()) own->finish_forwarding();
  // Now, as long as the process is sure to go on: who ends the rest of it may have to be left behind.
  if (exporter_) exporter_->stop();
  return exit_code_;
}

}  // namespace edge::agent
