#include "compiler/link/gateways/listener_sets.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/link/dump/conditions_text.h"

namespace edge::compiler::link {
namespace {

bool is_served(const ListenerStatus& listener) {
  const std::vector<Condition> conditions = listener_conditions(listener);
  const Condition* const programmed = find_condition(conditions, condition::kProgrammed);
  return programmed != nullptr && programmed->status == ConditionStatus::kTrue;
}

void refuse(ResourceStatus& status, std::string_view reason, const std::string& message) {
  for (const std::string_view type : {condition::kAccepted, condition::kProgrammed}) {
    set_condition(status.conditions, {std::string(type), ConditionStatus::kFalse, std::string(reason), message});
  }
}

/// Of a set that its Gateway takes.
void set_conditions_of(ResourceStatus& status) {
  const auto served = static_cast<std::size_t>(std::ranges::count_if(status.listeners, is_served));
  if (served == 0) return refuse(status, reason::kListenersNotValid, "no listener of the ListenerSet is served");
  const bool all = served == status.listeners.size();
  set_condition(status.conditions, {std::string(condition::kAccepted), ConditionStatus::kTrue,
                                    std::string(all ? reason::kAccepted : reason::kListenersNotValid),
                                    all ? std::string()
                                        : std::to_string(served) + " of " + std::to_string(status.listeners.size()) +
                                              " listeners are served"});
  set_condition(status.conditions,
                {std::string(condition::kProgrammed), ConditionStatus::kTrue, std::string(reason::kProgrammed)});
}

}  // namespace

std::uint32_t add_set_statuses(const model::ProxyGateway& gateway, std::string_view refused,
                               std::vector<ListenerSetState> sets, std::vector<ResourceStatus>& statuses) {
  std::uint32_t accepted = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const model::Metadata& set = gateway.listener_sets[i];
    ResourceStatus status{.kind = set.kind,
                          .name_space = set.name_space,
                          .name = set.name,
                          .observed_generation = set.generation,
                          .parent_space = gateway.metadata.name_space,
                          .parent_name = gateway.metadata.name};
    if (!sets[i].allowed) {
      refuse(status, reason::kNotAllowed,
             "the Gateway takes no listeners of ListenerSets of the namespace `" + set.name_space + "`");
    } else if (!refused.empty()) {
      refuse(status, reason::kParentNotAccepted, "the Gateway is not served");
    } else {
      status.listeners = std::move(sets[i].listeners);
      set_conditions_of(status);
    }
    const Condition* const verdict = find_condition(status.conditions, condition::kAccepted);
    if (verdict->status == ConditionStatus::kTrue) ++accepted;
    statuses.push_back(std::move(status));
  }
  return accepted;
}

}  // namespace edge::compiler::link
