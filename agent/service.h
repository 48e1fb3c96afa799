// One data-plane process: the server, its admin ports, its output lines, signals and draining. edge-agent and
// edge-standalone differ only in the source of programs.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "agent/access_watch.h"
#include "agent/health_log.h"
#include "agent/install.h"
#include "agent/last_hour_pages.h"
#include "agent/observe/metrics_page.h"
#include "agent/observe/span_export.h"
#include "agent/sampler.h"
#include "agent/upgrade.h"
#include "agent/vip/holder.h"
#include "base/log.h"
#include "base/result.h"
#include "cli/flags.h"
#include "daemon/admin.h"
#include "daemon/admin_token.h"
#include "daemon/background.h"
#include "daemon/cpu_profile.h"
#include "daemon/debug_pages.h"
#include "daemon/notify.h"
#include "program/sign.h"
#include "program/values/endpoints.h"
#include "runtime/session/server.h"

namespace edge::agent {

using daemon::AdminReply;
using daemon::AdminRequest;
using daemon::ListenAddress;

struct ServiceOptions {
  std::shared_ptr<Log> log;
  runtime::ServerOptions server;
  std::optional<program::VerifyKey> key;  ///< nullopt: any program is accepted
  std::optional<ListenAddress> metrics;   ///< nullopt: not served
  std::optional<ListenAddress> health;
  /// File of the token required for changes by the health port; empty: in a directory of the process.
  std::string admin_token_file;
  std::chrono::nanoseconds drain_timeout = std::chrono::seconds(30);
  /// Exit when the first program cannot be installed (mostly because a port is in use), so that whoever started the
  /// process notices.
  bool first_must_serve = false;
  /// Configuration arrives while the process runs: it is ready even if the program has no listener.
  bool ready_without_listeners = false;
  /// Limit of series in /metrics: beyond it they are written in less detail, or merged.
  std::size_t max_series = 55'000;
  /// Socket by which a newer process takes over; empty: none.
  std::string upgrade_socket;
  /// Of the command that systemd waits for (daemon::go_to_background); not open: this process is the unit's main one.
  net::Fd served;
  /// Where the spans of requests go.
  SpanExportOptions traces;
  /// Lists of addresses and databases for IPAccess policies.
  AccessFileOptions access_files;
};

/// Returns the flags for ServiceOptions.
std::vector<cli::Flag> service_flags();
/// kInvalidArgument names the flag and the value. `log`: the daemon's, from daemon::log_options.
Result<ServiceOptions> service_options(std::shared_ptr<Log> log, const cli::Arguments& arguments);

class Service {
 public:
  /// To be called before any thread is started: SIGTERM and SIGINT are blocked here and in every later thread.
  static Result<std::unique_ptr<Service>> start(ServiceOptions options);
  ~Service();

  /// Installs as Installer::apply, and reports the result: `ready program=<hash>` on stdout for the first program with
  /// a bound listener, `programmed program=<hash>` for later ones, where stdout is read; failures on stderr. From one
  /// thread only. kCancelled while draining.
  Status apply(std::shared_ptr<const std::vector<std::byte>> bytes, const program::EndpointSet& endpoints,
               const program::SecretSet& secrets);
  /// As `apply`, for the program stored by an earlier run. A failure does not end the process, whatever
  /// first_must_serve says: the program may have another version's format, and a newer one will follow.
  Status restore(std::shared_ptr<const std::vector<std::byte>> bytes, const program::EndpointSet& endpoints,
                 const program::SecretSet& secrets);

  /// Sets the function that /readyz calls on another thread: it returns why the running program (its hash, hex) is not
  /// the last accepted one, as a sentence; empty: it is. An empty function removes the earlier one, and waits for a
  /// call of it.
  void ask_behind(std::function<std::string(const std::string&)> behind);
  /// Sets the key that programs must be signed with from now on.
  void trust(program::VerifyKey key);
  /// For reports. Any thread.
  std::vector<runtime::BackendStatus> backends() const { return server_->backends(); }
  runtime::ServerStats stats() const { return server_->stats(); }
  std::vector<runtime::UnboundListener> unbound() const { return server_->unbound(); }
  /// The server's rate limits that agents share. Any thread.
  runtime::Server& server() { return *server_; }
  std::chrono::nanoseconds drain_timeout() const { return options_.drain_timeout; }
  /// Sets the zone of this agent, unless a flag has; empty: it is not known. Any thread.
  void set_zone(const std::string& zone);
  /// Sets the marks of connections to backends (runtime::Server::set_route_marks). Any thread.
  void set_route_marks(const std::vector<runtime::GatewayMark>& marks) { server_->set_route_marks(marks); }
  void set_region(const std::string& region);
  /// Returns the addresses of the program's listeners, and which are open. Any thread.
  std::vector<vip::ServedAddress> served() const;
  /// Called when the node's addresses have changed. Any thread.
  void addresses_moved();
  /// Sets the holder of virtual addresses, which gives them up when the process ends. null: none.
  void set_holder(std::shared_ptr<vip::Holder> holder);
  /// Sets what is called when another process has taken over, before this one drains: it gives up what only one process
  /// can have. On the thread of `run`; must not wait for connections.
  void when_superseded(std::function<void()> give_up) { when_superseded_ = std::move(give_up); }
  /// Whether another process has taken over from this one. Any thread.
  bool superseded() const { return superseded_; }
  /// Whether this process takes over, or has taken over, from another one.
  bool takes_over() const { return takes_over_; }
  /// Returns the metrics page, to add to. Lives as long as the service.
  MetricsPage& metrics() { return *metrics_; }
  /// Returns the hash of the running program, hex; empty while there is none. Any thread.
  std::string program() const;

  /// Blocks until SIGTERM, SIGINT or `stop`; then drains. A second signal ends the process at once.
  /// \returns the exit code.
  int run();
  /// Makes `run` return `exit_code`. Any thread.
  void stop(int exit_code);

  /// Returns the logger for the parts of the process.
  const Logger& log() const { return log_; }
  Log& whole_log() const { return *options_.log; }
  void message(const std::string& text) const { log_.info(text); }

  /// Answers the admin ports' pages, except slow ones. Does not authenticate. Any thread.
  std::optional<AdminReply> answer(const AdminRequest& request) const;

 private:
  explicit Service(ServiceOptions options);
  Status start_export();
  Status start_admin(std::vector<net::Fd> inherited = {});
  /// Called when the first program serves: the predecessor, if any, may end, and a successor may come.
  void become();
  std::vector<net::Fd> give_up();
  void take_back(std::vector<net::Fd> ports);
  /// On a thread of its own: tells the predecessor to end a moment after the start.
  void settle(const std::stop_token& stop);
  void fill_debug_pages();
  std::shared_ptr<vip::Holder> holder() const;
  void leave_addresses();
  void fill_last_hour_pages();
  /// Logs problems that began or ended.
  void look_at_health();
  std::optional<AdminReply> health(const AdminRequest& request) const;
  /// Serves a request at the health port.
  net::Task<AdminReply> attend(net::Loop& loop, const AdminRequest& request);
  AdminReply debug_program() const;
  void tell_listeners();
  void tell_secret_faults();
  Status install(std::shared_ptr<const std::vector<std::byte>> bytes, const program::EndpointSet& endpoints,
                 const program::SecretSet& secrets);
  /// Reads the files of IPAccess policies, and follows them.
  Status start_access_files();
  void set_access_files(std::shared_ptr<const runtime::AccessFiles> files);
  void tell_unbound();
  /// Returns why nothing is served; empty: something is.
  std::string serves_nothing() const;
  void tell_program(const std::string& hash);
  void tell_capability(std::span<const runtime::UnboundListener> unbound);
  /// Called on the retry thread. \returns whether binds are still unopened.
  bool recheck_listeners();

  ServiceOptions options_;
  const Logger log_;
  daemon::Notify notify_ = daemon::Notify::of_environment();
  std::unique_ptr<runtime::trace::SpanExporter> exporter_;  ///< null: spans go nowhere; sends what the server left
  std::unique_ptr<runtime::Server> server_;
  std::unique_ptr<Installer> installer_;
  std::mutex install_mutex_;  ///< held while a program is installed, and when draining begins
  std::optional<Predecessor> predecessor_;
  bool takes_over_ = false;                ///< there was a predecessor at the start
  std::function<void()> when_superseded_;  ///< may be null
  std::atomic<bool> draining_ = false;
  std::atomic<bool> superseded_ = false;  ///< another process has taken over
  mutable std::mutex holder_mutex_;
  std::shared_ptr<vip::Holder> holder_;  ///< guarded by holder_mutex_
  int holder_figures_ = 0;               ///< its number in the metrics page; likewise
  std::atomic<int> exit_code_ = cli::kExitOk;
  mutable std::mutex behind_mutex_;
  std::function<std::string(const std::string&)> behind_;  ///< guarded by behind_mutex_
  mutable std::mutex state_mutex_;                         ///< guards what the admin thread reads
  std::vector<std::string> secret_faults_;                 ///< already logged; guarded by install_mutex_
  std::map<std::string, std::string> listeners_told_;      ///< logged, by address; guarded by install_mutex_
  std::vector<runtime::UnboundListener> unbound_told_;     ///< guarded by install_mutex_
  std::string capability_told_;                            ///< guarded by install_mutex_
  bool ready_told_ = false;                                ///< guarded by install_mutex_
  std::string nothing_told_;                               ///< guarded by install_mutex_
  bool output_lost_ = false;                               ///< the last line could not be written to stdout; guarded by
                                                           ///< install_mutex_
  InstallFacts installs_;
  daemon::AdminToken admin_token_;
  std::unique_ptr<MetricsPage> metrics_;
  std::unique_ptr<LastHourPages> last_hour_;
  mutable std::mutex health_mutex_;
  HealthLog health_log_;  ///< guarded by health_mutex_
  daemon::ProfilePage profile_;
  daemon::DebugPages debug_pages_;              ///< complete before the first request
  std::unique_ptr<daemon::AdminServer> admin_;  ///< its handlers use everything above
  std::unique_ptr<daemon::Watchdog> watchdog_;
  std::unique_ptr<UpgradeSocket> upgrade_;  ///< it ends the one before
  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<AccessWatch> access_watch_;  ///< null: there are no such files
  std::jthread settling_;
};

}  // namespace edge::agent
