// What edge-controller answers at its admin port: /metrics, /healthz, /readyz, and what operators debug by.
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

  /// `log` must outlive it. `token`: what changes by the admin port must show.
  AdminPages(Log& log, daemon::AdminToken token, WriteMetrics metrics);

  /// Whom they tell of. `controller` must outlive the questions.
  void serve(const Controller& controller) { controller_ = &controller; }
  /// Pages of the process, but for what takes time. No question is asked of who asks. From any thread.
  std::optional<daemon::AdminReply> answer(const daemon::AdminRequest& request);
  /// The same for an administrator who asks by the agents' port.
  AgentAnswer answer(const AgentQuestion& question);
  /// For whoever is at the admin port. `local`: it is on a loopback address, so that it serves /debug too.
  net::Task<daemon::AdminReply> attend(net::Loop& loop, const daemon::AdminRequest& request, bool local);
  /// What takes time ends now.
  void end() { profile_.end(); }

 private:
  std::atomic<const Controller*> controller_ = nullptr;
  daemon::AdminToken token_;
  daemon::Scrapes scrapes_;
  daemon::ProfilePage profile_;
  daemon::DebugPages debug_pages_;
};

}  // namespace edge::controller
