#include "compiler/analyze/shadow_status.h"

#include <map>
#include <string>

#include "compiler/ir/dump.h"

namespace edge::compiler::analyze {
namespace {

std::string message_of(const LinkedConfig& config, const Shadowing& first, std::size_t others) {
  const ir::Candidate& loser = first.loser;
  std::string text = "rules[" + std::to_string(loser.rule) + "].matches[" + std::to_string(loser.match) +
                     "] is never reached: " + ir::candidate_text(config, first.winners.front());
  text += first.winners.size() > 1 ? " and others take its requests" : " takes its requests";
  if (first.request) text += ", such as `" + witness_text(*first.request) + "`";
  if (others > 0) text += "; " + std::to_string(others) + " more like it";
  return text;
}

}  // namespace

std::vector<ResourceStatus> shadow_statuses(const LinkedConfig& config, std::span<const Shadowing> shadowed) {
  std::map<std::uint32_t, std::vector<const Shadowing*>> of_route;
  for (const Shadowing& one : shadowed) of_route[one.loser.route].push_back(&one);
  std::vector<ResourceStatus> statuses;
  for (const auto& [route, rules] : of_route) {
    const Identity& identity = config.routes[route].identity;
    ResourceStatus& status = statuses.emplace_back();
    status.kind = identity.kind;
    status.name_space = identity.name_space;
    status.name = identity.name;
    status.conditions.push_back({std::string(condition::kShadowed), ConditionStatus::kTrue,
                                 std::string(reason::kShadowed), message_of(config, *rules.front(), rules.size() - 1)});
  }
  return statuses;
}

}  // namespace edge::compiler::analyze
