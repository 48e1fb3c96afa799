// The parts of edge-standalone: resource API, controller, agent, and the files that a user follows. Each speaks to the
// next as it would on machines of their own, but for the agent, which calls its controller (decision 0152).
//
//   files -> Applier -> ResourceApiServer -> Controller -> Sync -> Service (data plane)
//
// The last served program is served at once, from disk, while the files are read and compared with it. On a full disk
// the agent serves alone, and the other parts start once there is space. So it does after taking over from a process
// that has the same data directory, until that one has closed its store.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/service.h"
#include "agent/sync/sync.h"
#include "base/labels.h"
#include "base/result.h"
#include "controller/controller.h"
#include "controller/follow.h"
#include "controller/resource_api/http/resource_api_server.h"
#include "standalone/applier.h"
#include "standalone/trace_store.h"

namespace edge::standalone {

struct StandaloneOptions {
  std::string data_dir;
  std::vector<std::string> certificate_directories{};  ///< as in ControllerOptions
  std::string dns_hook{};                              ///< as in ControllerOptions
  std::vector<std::string> files;                      ///< none: only the API is the configuration
  agent::ListenAddress api;
  std::string agents;        ///< the controller's address for agents: `127.0.0.1:0`
  net::SocketAddress peers;  ///< address for messages of other agents: port 0: there are none
  std::string controller_class;
  Labels labels;            ///< of the built-in agent
  std::string group_label;  ///< as in ControllerOptions
  std::vector<std::string> published_addresses;
  std::string hub{};                          ///< as in ControllerOptions
  std::string hub_join{};                     ///< likewise
  std::vector<std::string> hub_kinds{};       ///< likewise
  std::vector<std::string> hub_namespaces{};  ///< likewise
  bool hub_reads_traces = false;              ///< likewise
  bool hub_reads = true;                      ///< likewise
  Colour colour = Colour::kNo;
  TraceStore* traces = nullptr;  ///< outlives this object
};

class Standalone {
 public:
  /// `service` must outlive this object. If the previous run left no complete version of the files, no program is made
  /// before they are applied, so that the first one has all of them.
  static Result<std::unique_ptr<Standalone>> start(StandaloneOptions options, agent::Service& service);
  /// Ends file watching, controller and API; the data plane belongs to the service.
  ~Standalone();
  Standalone(const Standalone&) = delete;
  Standalone& operator=(const Standalone&) = delete;

 private:
  Standalone(StandaloneOptions options, agent::Service& service) : options_(std::move(options)), service_(service) {}
  Status start_all();
  Status take_over();
  /// On a thread: what the agent serves meanwhile is what served last.
  void start_when_there_is_space(const Error& why);
  void start_when_store_is_closed();
  /// Waits for `pause`. \returns whether this object ends.
  bool ends_within(std::chrono::milliseconds pause);
  Status start_api();
  Status start_files();
  Status start_controller();
  Status open_sync();
  Status start_agent();
  Result<agent::ToLocalController> connect(const std::string& hello, agent::FromLocalController from);
  void follow();
  void take(controller::Update update);

  StandaloneOptions options_;
  agent::Service& service_;
  std::unique_ptr<resource_api::http::ResourceApiServer> api_;
  std::unique_ptr<controller::Follower> follower_;
  std::unique_ptr<Applier> applier_;
  std::unique_ptr<controller::Controller> controller_;
  std::unique_ptr<agent::Sync> sync_;
  std::thread following_;
  std::thread waiting_;  ///< waits for disk space, or for the process before
  std::mutex ending_mutex_;
  std::condition_variable ending_changed_;
  bool ending_ = false;                   ///< guarded by ending_mutex_
  std::atomic<bool> files_wait_ = false;  ///< for what the API has not received yet
  std::optional<int> metrics_;            ///< number of the metrics added to the service's page
};

}  // namespace edge::standalone
