// Asks the resource API what a user may do: SelfSubjectAccessReview and SelfSubjectRulesReview, as the user.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "controller/kube/client.h"
#include "edgectl/web/access/visible.h"
#include "edgectl/web/api/call_waiters.h"
#include "net/task.h"
#include "schemas/schema.h"

namespace edge::edgectl::web {

/// What agents, their traffic and the history count as: no objects of the API, but names that a role may have. `list`
/// shows them, `update` drains.
inline constexpr std::string_view kAgentsGroup = "edgeproxy.io";
inline constexpr std::string_view kAgentsResource = "agents";

struct ReviewedAction {
  std::string verb, group, resource, name_space{}, name{}, subresource{};
};

struct Reviewed {
  bool allowed = false;
  std::string fault{};  ///< why the API did not say; empty: it did
};
/// Returns whether the client's user may do it.
net::Task<Reviewed> review(kube::Client& client, net::Waiter& waiter, ReviewedAction action);

struct FoundVisible {
  std::shared_ptr<const Visible> visible{};  ///< null: the API did not say
  std::string fault{};
};
/// Finds what the client's user may list of `kinds` in `spaces`: one call for whoever may list everything; else one for
/// each kind, and one for each namespace, which has its rules.
net::Task<FoundVisible> find_visible(std::shared_ptr<kube::Client> client, CallWaiters& waiters,
                                     std::vector<const schemas::Kind*> kinds, std::set<std::string> spaces);

/// Adds what a SelfSubjectRulesReview's status allows in a namespace. Returns whether the rules are all there are.
bool add_rules(const nlohmann::json& status, const std::vector<const schemas::Kind*>& kinds,
               const std::string& name_space, Visible& visible);

/// The group of a kind, empty for that of `v1`.
std::string_view group_of(const schemas::Kind& kind);

}  // namespace edge::edgectl::web
