// The parts of edge-standalone, put together over loopback: resource API, controller, agent, and the files that a user
// follows. Each speaks to the next as it would on machines of their own.
//
//   files -> Applier -> ResourceApiServer -> Controller -> Sync -> Service (data plane)
//
// What served last serves at once, from disk; files are read and compared with it while it does. On a full disk it
// serves by itself, and the other parts start once there is space.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
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

namespace edge::standalone {

struct StandaloneOptions {
  std::string data_dir;
  std::vector<std::string> certificate_directories{};  ///< as ControllerOptions
  std::vector<std::string> files;                      ///< none: the API alone is the configuration
  agent::ListenAddress api;
  std::string agents;        ///< where the controller listens for agents: `127.0.0.1:0`
  net::SocketAddress peers;  ///< where its agent hears others: port 0: there are none
  std::string controller_class;
  Labels labels;            ///< of its own agent
  std::string group_label;  ///< as ControllerOptions
  std::vector<std::string> published_addresses;
  Colour colour = Colour::kNo;
  /// What else is told to administrators, beside the agent's pages; nullopt: that is none of it.
  std::function<std::optional<controller::AgentAnswer>(const controller::AgentQuestion&)> pages{};
};

class Standalone {
 public:
  /// `service` must outlive it. Where there is no whole version of the files from a run before, no program is made
  /// before they are applied, so that the first one is that of all of them.
  static Result<std::unique_ptr<Standalone>> start(StandaloneOptions options, agent::Service& service);
  /// Ends what follows and what serves the API; the data plane is the service's.
  ~Standalone();
  Standalone(const Standalone&) = delete;
  Standalone& operator=(const Standalone&) = delete;

 private:
  Standalone(StandaloneOptions options, agent::Service& service) : options_(std::move(options)), service_(service) {}
  Status start_all();
  void start_when_there_is_space(const Error& why);
  Status start_api();
  Status start_files();
  Status start_controller();
  Status open_sync();
  Status start_agent();
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
  std::thread waiting_;  ///< for space
  std::mutex ending_mutex_;
  std::condition_variable ending_changed_;
  bool ending_ = false;                   ///< guarded by ending_mutex_
  std::atomic<bool> files_wait_ = false;  ///< for what the API has not got yet
  std::optional<int> metrics_;            ///< what the service's /metrics holds of us
};

}  // namespace edge::standalone
