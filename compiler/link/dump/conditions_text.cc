#include "compiler/link/dump/conditions_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace edge::compiler::link {
namespace {

bool is_false(const Condition* found) { return found != nullptr && found->status == ConditionStatus::kFalse; }

void fill(std::vector<Condition>& conditions, std::string_view type, std::string_view reason,
          ConditionStatus status = ConditionStatus::kTrue) {
  if (find_condition(conditions, type) != nullptr) return;
  conditions.push_back({std::string(type), status, std::string(reason)});
}

void sort_by_type(std::vector<Condition>& conditions) {
  std::sort(conditions.begin(), conditions.end(),
            [](const Condition& a, const Condition& b) { return a.type < b.type; });
}

bool is_api_route(std::string_view kind) {
  return kind == "HTTPRoute" || kind == "GRPCRoute" || kind == "TLSRoute" || kind == "TCPRoute" || kind == "UDPRoute";
}

std::string_view status_text(ConditionStatus status) {
  return status == ConditionStatus::kTrue ? "True" : status == ConditionStatus::kFalse ? "False" : "Unknown";
}

class Text {
 public:
  void conditions(const std::vector<Condition>& conditions, std::string_view indent) {
    for (const Condition& condition : conditions) {
      out.append(indent).append(condition.type).append(" ").append(status_text(condition.status));
      out.append(" ").append(condition.reason);
      if (!condition.message.empty()) out.append(": ").append(condition.message);
      out += '\n';
    }
  }

  void heading(std::string_view kind, std::string_view name_space, std::string_view name, std::int64_t generation) {
    out.append(kind).append(" ");
    if (!name_space.empty()) out.append(name_space).append("/");
    out.append(name);
    if (generation != 0) out.append(" observedGeneration ").append(std::to_string(generation));
    out += '\n';
  }

  void gateway(const ResourceStatus& status) {
    for (const std::string& address : status.addresses) out.append("  address ").append(address) += '\n';
    for (const PoolUse& one : status.allocations.value_or(std::vector<PoolUse>())) {
      out.append("  allocation ").append(one.address).append(" ").append(one.kind).append(" ");
      out.append(one.name_space).append("/").append(one.name) += '\n';
    }
    if (status.attached_listener_sets != 0) {
      out.append("  attachedListenerSets ").append(std::to_string(status.attached_listener_sets)) += '\n';
    }
    const bool set = status.kind == "ListenerSet";
    conditions(set                        ? status.conditions
               : status.kind == "Gateway" ? gateway_conditions(status)
                                          : conditions_of(status.kind, &status),
               "  ");
    for (const ListenerStatus& listener : status.listeners) {
      out.append("  listener ").append(listener.name).append(": attachedRoutes ");
      out.append(std::to_string(listener.attached_routes)).append(", supportedKinds");
      for (const std::string& kind : listener.supported_kinds) out.append(" ").append(kind);
      out += '\n';
      conditions(listener_conditions(listener), "    ");
    }
  }

  /// Their names are in docs/gateway-api.md.
  void features(const std::vector<std::string>& names) {
    if (!names.empty()) out.append("  supportedFeatures ").append(std::to_string(names.size())) += '\n';
  }

  /// Gateway API has a status for each Gateway that a policy comes to count for; ours is the same for all of them.
  void policy(const ResourceStatus& status) {
    out.append("  every ancestor\n");
    conditions(parent_conditions(&status, nullptr), "    ");
  }

  /// The targets of a ProxyPolicy that say something else than the policy does.
  void targets(const ResourceStatus& status) {
    for (const ParentStatus& target : status.parents) {
      out.append("  target ").append(std::to_string(target.parent_ref)) += '\n';
      conditions(parent_conditions(&status, &target), "    ");
    }
  }

  void route(const ResourceStatus* status) {
    if (status != nullptr) {
      for (const ParentStatus& parent : status->parents) {
        out.append("  parentRefs[").append(std::to_string(parent.parent_ref)).append("]\n");
        conditions(parent_conditions(status, &parent), "    ");
      }
    }
    out.append(status != nullptr && !status->parents.empty() ? "  every other parent\n" : "  every parent\n");
    conditions(parent_conditions(status, nullptr), "    ");
  }

  std::string out;
};

}  // namespace

std::vector<Condition> gateway_conditions(const ResourceStatus& status) {
  std::vector<Condition> all;
  bool refused = false;
  for (const Condition& condition : status.conditions) {
    // What it says of listeners is worded below.
    if (condition.reason == reason::kListenersNotValid) continue;
    all.push_back(condition);
    refused |= condition.status == ConditionStatus::kFalse &&
               (condition.type == condition::kAccepted || condition.type == condition::kProgrammed);
  }
  std::size_t valid = 0;
  std::string why;
  for (const ListenerStatus& listener : status.listeners) {
    const Condition* conflicted = find_condition(listener.conditions, condition::kConflicted);
    const bool bad = is_false(find_condition(listener.conditions, condition::kAccepted)) ||
                     is_false(find_condition(listener.conditions, condition::kProgrammed)) || conflicted != nullptr;
    if (!bad) ++valid;
    if (bad && conflicted != nullptr && why.empty()) why = "listener `" + listener.name + "`: " + conflicted->message;
  }
  if (valid < status.listeners.size() && !refused) {
    set_condition(all,
                  {std::string(condition::kAccepted), valid == 0 ? ConditionStatus::kFalse : ConditionStatus::kTrue,
                   std::string(reason::kListenersNotValid), std::move(why)});
  }
  if (valid == 0) fill(all, condition::kProgrammed, reason::kInvalid, ConditionStatus::kFalse);
  fill(all, condition::kAccepted, reason::kAccepted);
  fill(all, condition::kProgrammed, reason::kProgrammed);
  sort_by_type(all);
  return all;
}

std::vector<Condition> listener_conditions(const ListenerStatus& status) {
  std::vector<Condition> all = status.conditions;
  const bool refused = is_false(find_condition(all, condition::kAccepted)) ||
                       find_condition(all, condition::kConflicted) != nullptr ||
                       is_false(find_condition(all, condition::kResolvedRefs));
  fill(all, condition::kAccepted, reason::kAccepted);
  fill(all, condition::kConflicted, reason::kNoConflicts, ConditionStatus::kFalse);
  // A listener that asks for one kind too many serves the others.
  const Condition* refs = find_condition(all, condition::kResolvedRefs);
  const bool kinds_only =
      refs != nullptr && refs->reason == reason::kInvalidRouteKinds && !status.supported_kinds.empty();
  fill(all, condition::kProgrammed, refused && !kinds_only ? reason::kInvalid : reason::kProgrammed,
       refused && !kinds_only ? ConditionStatus::kFalse : ConditionStatus::kTrue);
  fill(all, condition::kResolvedRefs, reason::kResolvedRefs);
  sort_by_type(all);
  return all;
}

std::vector<Condition> parent_conditions(const ResourceStatus* route, const ParentStatus* parent) {
  std::vector<Condition> all;
  if (parent != nullptr) all = parent->conditions;
  if (route != nullptr) {
    for (const Condition& condition : route->conditions) {
      // Gateway API knows no other of a route's parent; Shadowed is our own.
      const bool known = condition.type == condition::kAccepted || condition.type == condition::kResolvedRefs ||
                         condition.type == condition::kPartiallyInvalid || condition.type == condition::kShadowed;
      if (known) set_condition(all, condition);
    }
  }
  fill(all, condition::kAccepted, reason::kAccepted);
  fill(all, condition::kResolvedRefs, reason::kResolvedRefs);
  sort_by_type(all);
  return all;
}

std::string conditions_text(const LinkedConfig& config) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, const ResourceStatus*> resources;
  for (const LinkedRoute& route : config.routes) {
    const Identity& identity = route.identity;
    if (is_api_route(identity.kind)) resources.emplace(Key{identity.kind, identity.name_space, identity.name}, nullptr);
  }
  for (const ResourceStatus& status : config.statuses)
    resources[{status.kind, status.name_space, status.name}] = &status;
  Text text;
  for (const auto& [key, status] : resources) {
    const auto& [kind, name_space, name] = key;
    text.heading(kind, name_space, name, status == nullptr ? 0 : status->observed_generation);
    if (is_api_route(kind)) {
      text.route(status);
    } else if (status->kind == "GatewayClass") {
      text.conditions(status->conditions, "  ");
      text.features(status->supported_features);
    } else if (status->kind == "BackendTLSPolicy") {
      text.policy(*status);
    } else {
      text.gateway(*status);
      if (kind == "ProxyPolicy") text.targets(*status);
    }
  }
  return std::move(text.out);
}

}  // namespace edge::compiler::link
