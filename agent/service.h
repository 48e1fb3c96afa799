// One data-plane process: the server, its admin ports, the lines it prints, signals and draining. edge-agent and
// edge-standalone differ only in where programs come from.
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

#include "agent/health_log.h"
#include "agent/install.h"
#include "agent/last_hour_pages.h"
#include "agent/listener_retry.h"
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
  std::optional<program::VerifyKey> key;  ///< nullopt: any program is taken
  std::optional<ListenAddress> metrics;   ///< nullopt: not served
  std::optional<ListenAddress> health;
  /// Of the token that changes by the health port must show; empty: in a directory of the process.
  std::string admin_token_file;
  std::chrono::nanoseconds drain_timeout = std::chrono::seconds(30);
  /// A first program that cannot be put to work (a port that is taken, mostly) ends the process: whoever started it
  /// has to know.
  bool first_must_serve = false;
  /// What is served is configured while it runs: it is ready though the program has no listener.
  bool ready_without_listeners = false;
  /// Series that /metrics may have: what is over it is told in less detail, or together.
  std::size_t max_series = 55'000;
  /// Where a process of a newer version takes over; empty: nowhere.
  std::string upgrade_socket;
  /// Where the spans of requests go.
  SpanExportOptions traces;
};

/// The flags that fill ServiceOptions, for the table of a program.
std::vector<cli::Flag> service_flags();
/// kInvalidArgument names the flag and the value. `log`: of the daemon, by daemon::log_options.
Result<ServiceOptions> service_options(std::shared_ptr<Log> log, const cli::Arguments& arguments);

class Service {
 public:
  /// Call it before any thread is started: SIGTERM and SIGINT are blocked here and in every thread that follows.
  static Result<std::unique_ptr<Service>> start(ServiceOptions options);
  ~Service();

  /// Installer::apply, with its outcome told: `ready program=<hash>` on stdout for the first program of which a
  /// listener is bound, `programmed program=<hash>` for later ones, where somebody reads them; failures on stderr.
  /// From one thread alone.
  /// kCancelled once it drains.
  Status apply(std::shared_ptr<const std::vector<std::byte>> bytes, const program::EndpointSet& endpoints,
               const program::SecretSet& secrets);
  /// As `apply`, of what a run before this one kept. That it is refused ends nothing, first_must_serve or not: it may
  /// be of another version's format, and a newer one is still to come.
  Status restore(std::shared_ptr<const std::vector<std::byte>> bytes, const program::EndpointSet& endpoints,
                 const program::SecretSet& secrets);

  /// Asked by /readyz, on another thread: why the program that serves (its hash, hex) is not what was last accepted, in
  /// a line; empty: it is. An empty function takes the one before back, and waits for a call of it.
  void ask_behind(std::function<std::string(const std::string&)> behind);
  /// Programs must be signed with this key from now on.
  void trust(program::VerifyKey key);
  /// For reports. From any thread.
  std::vector<runtime::BackendStatus> backends() const { return server_->backends(); }
  runtime::ServerStats stats() const { return server_->stats(); }
  std::vector<runtime::UnboundListener> unbound() const { return server_->unbound(); }
  std::chrono::nanoseconds drain_timeout() const { return options_.drain_timeout; }
  /// Addresses that the program's listeners are open at, and how well. From any thread.
  std::vector<vip::ServedAddress> served() const;
  /// The node has addresses that it had not, or the other way round. From any thread.
  void addresses_moved();
  /// Who holds virtual addresses: let go of when the process ends, and shown. null: nobody does.
  void set_holder(std::shared_ptr<vip::Holder> holder);
  /// To add to. It is there as long as the service.
  MetricsPage& metrics() { return *metrics_; }
  /// Hash of the running program, hex; empty while there is none. From any thread.
  std::string program() const;

  /// Blocks until SIGTERM, SIGINT or `stop`; then drains. A second signal ends the process at once.
  /// \returns the exit code.
  int run();
  /// Makes `run` return `exit_code`. From any thread.
  void stop(int exit_code);

  /// Where the parts that it serves write their lines.
  const Logger& log() const { return log_; }
  Log& whole_log() const { return *options_.log; }
  void message(const std::string& text) const { log_.info(text); }

  /// What the admin ports answer, but for what takes time. No question is asked of who asks. From any thread.
  std::optional<AdminReply> answer(const AdminRequest& request) const;

 private:
  explicit Service(ServiceOptions options);
  Status start_export();
  Status start_admin(std::vector<net::Fd> inherited = {});
  /// The first program serves: the process before us, if there is one, may go, and the next may come.
  void become();
  std::vector<net::Fd> give_up();
  void take_back(std::vector<net::Fd> ports);
  /// Of a thread of its own: a moment after the start the predecessor may go.
  void settle(const std::stop_token& stop);
  void fill_debug_pages();
  std::shared_ptr<vip::Holder> holder() const;
  void leave_addresses();
  void fill_last_hour_pages();
  /// Logs what has become amiss, or is so no more.
  void look_at_health();
  std::optional<AdminReply> health(const AdminRequest& request) const;
  /// For whoever is at the health port.
  net::Task<AdminReply> attend(net::Loop& loop, const AdminRequest& request);
  AdminReply debug_program() const;
  void tell_listeners();
  void tell_secret_faults();
  Status install(std::shared_ptr<const std::vector<std::byte>> bytes, const program::EndpointSet& endpoints,
                 const program::SecretSet& secrets);
  void tell_unbound();
  /// What serves; empty: something does.
  std::string serves_nothing() const;
  void tell_program(const std::string& hash);
  void tell_capability(std::span<const runtime::UnboundListener> unbound);
  /// Of the thread that tries again what could not be opened. \returns whether there is something left to open.
  bool recheck_listeners();

  ServiceOptions options_;
  const Logger log_;
  const daemon::Notify notify_ = daemon::Notify::of_environment();
  std::unique_ptr<runtime::trace::SpanExporter> exporter_;  ///< null: spans go nowhere; sends what the server left
  std::unique_ptr<runtime::Server> server_;
  std::unique_ptr<Installer> installer_;
  std::mutex install_mutex_;  ///< held while a program is installed, and when draining begins
  std::optional<Predecessor> predecessor_;
  std::atomic<bool> draining_ = false;
  std::atomic<bool> superseded_ = false;  ///< another process goes on
  mutable std::mutex holder_mutex_;
  std::shared_ptr<vip::Holder> holder_;  ///< guarded by holder_mutex_
  int holder_figures_ = 0;               ///< among the metrics; likewise
  std::atomic<int> exit_code_ = cli::kExitOk;
  mutable std::mutex behind_mutex_;
  std::function<std::string(const std::string&)> behind_;  ///< guarded by behind_mutex_
  mutable std::mutex state_mutex_;                         ///< guards what the admin thread reads
  std::vector<std::string> secret_faults_;                 ///< that were told; guarded by install_mutex_
  std::map<std::string, std::string> listeners_told_;      ///< by address; guarded by install_mutex_
  std::vector<runtime::UnboundListener> unbound_told_;     ///< guarded by install_mutex_
  std::string capability_told_;                            ///< guarded by install_mutex_
  bool ready_told_ = false;                                ///< guarded by install_mutex_
  std::string nothing_told_;                               ///< guarded by install_mutex_
  bool output_lost_ = false;                               ///< the last line for stdout; guarded by install_mutex_
  InstallFacts installs_;
  daemon::AdminToken admin_token_;
  std::unique_ptr<MetricsPage> metrics_;
  std::unique_ptr<LastHourPages> last_hour_;
  mutable std::mutex health_mutex_;
  HealthLog health_log_;  ///< guarded by health_mutex_
  daemon::ProfilePage profile_;
  daemon::DebugPages debug_pages_;              ///< filled before anybody asks
  std::unique_ptr<daemon::AdminServer> admin_;  ///< its handlers use everything above
  std::unique_ptr<daemon::Watchdog> watchdog_;
  std::unique_ptr<UpgradeSocket> upgrade_;  ///< it ends the one before
  std::unique_ptr<ListenerRetry> listener_retry_;
  std::unique_ptr<Sampler> sampler_;
  std::jthread settling_;
};

}  // namespace edge::agent
