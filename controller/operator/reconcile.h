// Brings one installation nearer to what its EdgeCluster says: access, then the controller, then agents, one first.
// Each call does what can be done now and says when to look again; what it waits for comes as a change of an object.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/log.h"
#include "controller/kube/client.h"
#include "controller/kube/recorder.h"
#include "controller/operator/definitions.h"
#include "controller/operator/followed.h"
#include "controller/operator/installation.h"
#include "controller/operator/render/render.h"
#include "controller/operator/rollout/replacement.h"
#include "controller/operator/rollout/rollout.h"
#include "controller/operator/status.h"
#include "controller/operator/writer.h"

namespace edge::cluster_operator {

struct Outcome {
  bool ok = true;
  /// Whether or not something changes until then.
  WallTime again = WallTime::max();
};

/// Every function on the client's loop, one reconciliation at a time.
class Reconciler {
 public:
  Reconciler(kube::Client& client, const Followed& followed, AskAgent ask, std::function<WallTime()> wall, Logger log);

  /// `cluster`: `namespace/name`. One that is gone leaves what has no owner; that is removed.
  net::Task<Outcome> reconcile(net::Waiter& waiter, std::string cluster);
  /// Of the definitions of the kinds; for the statuses. \returns whether it is something else than before.
  bool set_definitions(DefinitionsResult result);
  std::uint64_t writes() const { return writer_.writes() + own_writes_; }

 private:
  /// What was written, until the informer has told of it.
  template <typename T>
  struct Written {
    T value{};
    std::string before;  ///< version of the object that was there
  };

  net::Task<Outcome> remove_rest(net::Waiter& waiter, std::string cluster);
  net::Task<bool> install(net::Waiter& waiter, const Installation& installation, Standing& standing, WallTime& again);
  net::Task<bool> find_identity(net::Waiter& waiter, const Installation& installation, Identity& identity,
                                Standing& standing, WallTime& again);
  net::Task<bool> keep_identity(net::Waiter& waiter, const Installation& installation, const Identity& identity,
                                bool there, Standing& standing);
  net::Task<bool> apply_stage(net::Waiter& waiter, const std::vector<Rendered>& rendered, Stage stage,
                              Standing& standing);
  net::Task<bool> keep_dashboard(net::Waiter& waiter, const Installation& installation, const Identity& identity,
                                 const std::vector<Rendered>& rendered, Standing& standing);
  bool controller_runs(const Installation& installation, const std::vector<Rendered>& rendered,
                       Standing& standing) const;
  /// What an exchange of agents goes by: whose they are, and how they are reached.
  struct Exchange {
    const Installation& installation;
    const Controllers& controllers;
    const Rendered& agents;
  };
  net::Task<bool> exchange_agents(net::Waiter& waiter, const Exchange& exchange, Standing& standing, WallTime& again);
  net::Task<Comparison> compare_canary(net::Waiter& waiter, const Exchange& exchange, const RolloutView& view,
                                       const RolloutRecord& record);
  net::Task<bool> take_step(net::Waiter& waiter, const Exchange& exchange, const RolloutView& view, RolloutStep& step,
                            const RolloutRecord& before, Standing& standing);
  net::Task<bool> keep_record(net::Waiter& waiter, const Installation& installation, const RolloutRecord& record,
                              Standing& standing);
  net::Task<bool> replace_pods(net::Waiter& waiter, const Exchange& exchange, const RolloutView& view,
                               RolloutStep& step, Standing& standing);
  Controllers controllers_of(const Installation& installation, const Identity& identity) const;
  std::vector<AgentPod> agent_pods(const Installation& installation) const;
  RolloutView view_of(const Installation& installation, const Rendered& agents, std::int64_t wanted) const;
  RolloutRecord record_of(const Installation& installation) const;
  void count_parts(const Installation& installation, Standing& standing) const;
  net::Task<bool> write_status(net::Waiter& waiter, const ObjectPtr& object, const Standing& standing);
  void tell(const nlohmann::json& object, const nlohmann::json& before, const nlohmann::json& after);
  const nlohmann::json* older_sibling(const nlohmann::json& object) const;

  kube::Client& client_;
  const Followed& followed_;
  std::function<WallTime()> wall_;
  Logger log_;
  Writer writer_;
  kube::Recorder recorder_;
  Replacement replacement_;
  std::map<std::string, Written<RolloutRecord>> records_;  ///< by installation
  std::map<std::string, Written<std::string>> statuses_;
  DefinitionsResult definitions_;
  std::uint64_t own_writes_ = 0;
};

}  // namespace edge::cluster_operator
