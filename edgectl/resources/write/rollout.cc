#include "edgectl/resources/write/rollout.h"

#include <set>
#include <utility>

#include "controller/distribute/agents/agent_state.h"
#include "edgectl/resources/table.h"

namespace edge::edgectl {
namespace {

using controller::AgentProgress;
using controller::ObjectProgress;

/// Names in one line; of a fleet, not all of them.
constexpr std::size_t kMostNames = 5;
constexpr std::size_t kShortHash = 12;

template <typename Names>
std::string list_of_agents(const Names& names) {
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (++count > kMostNames) break;
    text += (text.empty() ? "" : ", ") + shown(name);
  }
  if (names.size() > kMostNames) text += " and " + std::to_string(names.size() - kMostNames) + " more";
  return text;
}

/// The program that a rollback holds an agent to; empty: it is on its way. An older controller tells of all agents.
const std::string& held_to(const AgentProgress& agent, const controller::Progress& answer) {
  return agent.group.empty() ? answer.pinned : agent.held_to;
}

}  // namespace

Rollout::Rollout(const std::vector<Written>& all) : all_(all.size()) {
  left_.reserve(all.size());
  for (const Written& object : all) left_.push_back({object, std::nullopt, {}});
}

std::vector<controller::ObjectVersion> Rollout::question() const {
  std::vector<controller::ObjectVersion> versions;
  versions.reserve(left_.size());
  for (const Left& left : left_) {
    const Written& object = left.object;
    versions.push_back(
        {object.type.resource.kind, object.name_space, object.name, object.uid, object.resource_version, object.gone});
  }
  return versions;
}

void Rollout::take(const controller::Progress& answer) {
  // Another process counts anew.
  if (std::exchange(run_, answer.run) != answer.run) {
    for (Left& left : left_) left.aim.reset();
  }
  std::vector<Left> still;
  for (std::size_t i = 0; i < left_.size() && i < answer.objects.size(); ++i) {
    if (!is_done(left_[i], answer.objects[i], answer)) still.push_back(std::move(left_[i]));
  }
  left_ = std::move(still);
}

bool Rollout::is_done(Left& left, const ObjectProgress& progress, const controller::Progress& answer) {
  using State = ObjectProgress::State;
  if (progress.state == State::kApart) return true;
  if (progress.state == State::kRejected) {
    faults_.push_back(left.object.title() + " is not accepted: " + shown(progress.reason));
    return true;
  }
  if (progress.state == State::kWaiting) {
    left.aim.reset();
    return false;
  }
  if (!left.aim) left.aim = Aim{progress.program, answer.values};
  left.behind.clear();
  const AgentProgress* held = nullptr;
  bool all_held = true;
  for (const AgentProgress& agent : answer.agents) {
    if (agent.program >= left.aim->program && agent.values >= left.aim->values) continue;
    if (agent.refused != 0 && agent.refused >= left.aim->program) {
      faults_.push_back(left.object.title() + " is not served by agent " + shown(agent.name) +
                        ", which refuses the program: " + shown(agent.reason));
      return true;
    }
    left.behind.push_back(agent.name);
    if (held == nullptr) held = &agent;
    all_held = all_held && !held_to(agent, answer).empty();
  }
  if (left.behind.empty()) return !answer.agents.empty();
  if (!all_held) return false;
  const bool of_all = held->group.empty() || held->group == controller::kDefaultGroup;
  const std::string group = shown(held->group);
  faults_.push_back(left.object.title() + " waits for the end of a rollback, which holds agents " +
                    (of_all ? "" : "of the group " + group + " ") + "to " +
                    shown(held_to(*held, answer).substr(0, kShortHash)) + "; `edgectl rollback --release" +
                    (of_all ? "" : " --group " + group) + "` ends it");
  return true;
}

std::vector<std::string> Rollout::take_faults() { return std::exchange(faults_, {}); }

std::string Rollout::line() const {
  std::set<std::string> behind;
  for (const Left& left : left_) behind.insert(left.behind.begin(), left.behind.end());
  return std::to_string(all_ - left_.size()) + " of " + std::to_string(all_) + " programmed" +
         (behind.empty() ? "" : "; behind: " + list_of_agents(behind));
}

std::vector<std::string> Rollout::unfinished() const {
  std::vector<std::string> lines;
  for (const Left& left : left_) {
    const std::string why = !left.aim             ? "the controller has not compiled it"
                            : left.behind.empty() ? "no agent is connected"
                                                  : "behind: " + list_of_agents(left.behind);
    lines.push_back(left.object.title() + (left.object.gone ? " is still served: " : " is not programmed yet: ") + why);
  }
  return lines;
}

}  // namespace edge::edgectl
