#include "compiler/link/conditions.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace edge::compiler {
namespace {

/// Whether a condition says that something is wrong. Of Conflicted, Shadowed and the like `True` is the bad news.
bool is_fault(const Condition& condition) {
  const bool bad_when_true = condition.type == condition::kConflicted || condition.type == condition::kShadowed ||
                             condition.type == condition::kPartiallyInvalid || condition.type == condition::kNoEjection;
  return (condition.status == ConditionStatus::kTrue) == bad_when_true;
}

/// A policy on an Ingress is linked once for each route of it, each time with the same target.
void merge_parents(std::vector<ParentStatus>& more, std::vector<ParentStatus>& into) {
  for (ParentStatus& parent : more) {
    const auto known = std::ranges::find(into, parent.parent_ref, &ParentStatus::parent_ref);
    if (known == into.end()) {
      into.push_back(std::move(parent));
      continue;
    }
    for (Condition& condition : parent.conditions) set_condition(known->conditions, std::move(condition));
  }
  // In whatever order its parts were linked.
  std::ranges::sort(into, {}, &ParentStatus::parent_ref);
}

auto key(const ResourceStatus& status) { return std::tie(status.kind, status.name_space, status.name); }

int rank(std::string_view type) {
  constexpr std::string_view kFirst[] = {condition::kAccepted, condition::kProgrammed, condition::kResolvedRefs};
  const auto* const found = std::find(std::begin(kFirst), std::end(kFirst), type);
  return static_cast<int>(found - std::begin(kFirst));
}

/// Shadowed rules are served as written, and so are backends without ejection: Ready does not fall with them.
bool takes_ready(const Condition& condition) {
  return is_fault(condition) && condition.type != condition::kShadowed && condition.type != condition::kNoEjection;
}

/// The listeners of a gateway fail alone; that not all of them serve is nothing to call ready.
void take_ready_by_listener(const std::vector<ListenerStatus>& listeners, Condition& ready) {
  for (const ListenerStatus& listener : listeners) {
    const auto fault = std::ranges::find_if(listener.conditions, takes_ready);
    if (fault == listener.conditions.end()) continue;
    ready.status = ConditionStatus::kFalse;
    ready.reason = fault->reason;
    ready.message = "listener `" + listener.name + "`: " + fault->message;
    return;
  }
}

}  // namespace

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found =
      std::find_if(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

void set_condition(std::vector<Condition>& conditions, Condition condition) {
  for (Condition& present : conditions) {
    if (present.type != condition.type) continue;
    if (!is_fault(present)) present = std::move(condition);
    return;
  }
  conditions.push_back(std::move(condition));
}

std::vector<Condition> conditions_of(std::string_view kind, const ResourceStatus* stored) {
  std::vector<Condition> all;
  if (stored != nullptr) {
    all = stored->conditions;
    for (const ParentStatus& parent : stored->parents) {
      for (const Condition& condition : parent.conditions) set_condition(all, condition);
    }
  }
  const auto fill = [&](std::string_view type, std::string_view reason) {
    if (find_condition(all, type) == nullptr) {
      all.push_back({std::string(type), ConditionStatus::kTrue, std::string(reason)});
    }
  };
  fill(condition::kAccepted, reason::kAccepted);
  const Condition* accepted = find_condition(all, condition::kAccepted);
  if (accepted->status == ConditionStatus::kTrue) {
    fill(condition::kProgrammed, reason::kProgrammed);
  } else if (find_condition(all, condition::kProgrammed) == nullptr) {
    all.push_back({std::string(condition::kProgrammed), ConditionStatus::kFalse, std::string(reason::kInvalid),
                   "the " + std::string(kind) + " is not accepted"});
  }
  fill(condition::kResolvedRefs, reason::kResolvedRefs);
  std::sort(all.begin(), all.end(), [](const Condition& a, const Condition& b) {
    return std::tuple(rank(a.type), std::string_view(a.type)) < std::tuple(rank(b.type), std::string_view(b.type));
  });
  const auto fault = std::find_if(all.begin(), all.end(), takes_ready);
  Condition ready{std::string(condition::kReady), ConditionStatus::kTrue, std::string(reason::kValid)};
  if (fault != all.end()) {
    ready = {ready.type, ConditionStatus::kFalse, fault->reason, fault->message};
  } else if (stored != nullptr) {
    take_ready_by_listener(stored->listeners, ready);
  }
  all.push_back(std::move(ready));
  return all;
}

void sort_and_merge(std::vector<ResourceStatus>& statuses) {
  std::stable_sort(statuses.begin(), statuses.end(),
                   [](const ResourceStatus& a, const ResourceStatus& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    if (kept == 0 || key(statuses[kept - 1]) != key(statuses[i])) {
      if (kept != i) statuses[kept] = std::move(statuses[i]);
      ++kept;
      continue;
    }
    ResourceStatus& into = statuses[kept - 1];
    for (Condition& condition : statuses[i].conditions) set_condition(into.conditions, std::move(condition));
    const auto append = [](auto& list, auto& more) {
      list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    };
    merge_parents(statuses[i].parents, into.parents);
    append(into.listeners, statuses[i].listeners);
    append(into.addresses, statuses[i].addresses);
  }
  statuses.erase(statuses.begin() + static_cast<std::ptrdiff_t>(kept), statuses.end());
}

const ResourceStatus* find_status(const std::vector<ResourceStatus>& statuses, std::string_view kind,
                                  std::string_view name_space, std::string_view name) {
  const auto wanted = std::tuple(kind, name_space, name);
  const auto found =
      std::lower_bound(statuses.begin(), statuses.end(), wanted, [](const ResourceStatus& status, const auto& key) {
        return std::tuple<std::string_view, std::string_view, std::string_view>(status.kind, status.name_space,
                                                                                status.name) < key;
      });
  if (found == statuses.end() || std::tie(found->kind, found->name_space, found->name) != wanted) return nullptr;
  return &*found;
}

}  // namespace edge::compiler
