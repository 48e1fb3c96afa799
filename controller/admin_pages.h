// The pages of edge-controller's admin port: /metrics, /healthz, /readyz, and pages for debugging.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "controller/controller.h"
#include "controller/distribute/agent_answer.h"
#include "daemon/admin.h"
#include "daemon/admin_token.h"
#include "daemon/cpu_profile.h"
#include "daemon/debug_pages.h"
#include "daemon/logging.h"
#include "daemon/scrapes.h"

namespace edge::controller {

class AdminPages {
 public:
  using WriteMetrics = std::function<void(metrics::Exposition& out, const Controller& controller)>;

  /// `log` must outlive this object. `token`: required of admin requests that change something.
  AdminPages(Log& log, daemon::AdminToken token, WriteMetrics metrics);

  /// Sets the controller that the pages describe, which must outlive all requests.
  void serve(const Controller& controller) { controller_ = &controller; }
  /// Answers pages of the process, except slow ones. Does not authenticate. Any thread.
  std::optional<daemon::AdminReply> answer(const daemon::AdminRequest& request);
  /// The same for an administrator's request by the agents' port.
  AgentAnswer answer(const AgentQuestion& question);
  /// Serves a request at the admin port. `local`: the port is on a loopback address, so that /debug is served too.
  net::Task<daemon::AdminReply> attend(net::Loop& loop, const daemon::AdminRequest& request, bool local);
  /// Ends a running CPU profile now.
  void end() { profile_.end(); }

 private:
  std::atomic<const Controller*> controller_ = nullptr;
  daemon::AdminToken token_;
  daemon::Scrapes scrapes_;
  daemon::ProfilePage profile_;
  daemon::DebugPages debug_pages_;
};

}  // namespace edge::controller
