#include "edgectl/web/api/views/progress_json.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl::web {
namespace {

using controller::AgentProgress;
using controller::ObjectProgress;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostObjects = 100;

std::string_view word_of(ObjectProgress::State state) {
  using State = ObjectProgress::State;
  switch (state) {
    case State::kWaiting:
      return "waiting";
    case State::kTaken:
      return "taken";
    case State::kRejected:
      return "rejected";
    case State::kApart:
      return "apart";
  }
  return "waiting";
}

/// Where one agent is on its way to a program, and the values published with it.
std::pair<const char*, std::string> state_of(const AgentProgress& agent, std::uint64_t aim,
                                             const controller::Progress& progress) {
  if (agent.program >= aim && agent.values >= progress.values) return {"current", ""};
  if (agent.refused != 0 && agent.refused >= aim) return {"refused", agent.reason};
  // An older controller tells of all agents.
  const std::string& held = agent.group.empty() ? progress.pinned : agent.held_to;
  return held.empty() ? std::pair<const char*, std::string>("behind", "") : std::pair("held", held);
}

}  // namespace

std::optional<std::vector<controller::ObjectVersion>> read_progress_request(const std::string& body) {
  const nlohmann::json json = parse_json(body);
  const nlohmann::json& list = list_in(json, "objects");
  if (list.empty() || list.size() > kMostObjects) return std::nullopt;
  std::vector<controller::ObjectVersion> objects;
  for (const nlohmann::json& one : list) {
    objects.push_back({.kind = text_in(one, "kind"),
                       .name_space = text_in(one, "namespace"),
                       .name = text_in(one, "name"),
                       .uid = text_in(one, "uid"),
                       .resource_version = text_in(one, "version"),
                       .gone = member_in(one, "gone") == true});
    if (objects.back().kind.empty() || objects.back().name.empty()) return std::nullopt;
  }
  return objects;
}

OrderedJson progress_json(const std::vector<controller::ObjectVersion>& objects, const controller::Progress& progress) {
  using State = ObjectProgress::State;
  bool taken = true;
  bool rejected = false;
  bool apart = true;
  std::uint64_t aim = 0;
  OrderedJson list = OrderedJson::array();
  for (std::size_t i = 0; i < objects.size() && i < progress.objects.size(); ++i) {
    const ObjectProgress& one = progress.objects[i];
    taken &= one.state != State::kWaiting;
    rejected |= one.state == State::kRejected;
    apart &= one.state == State::kApart;
    aim = std::max(aim, one.program);
    list.push_back({{"kind", objects[i].kind},
                    {"namespace", objects[i].name_space},
                    {"name", objects[i].name},
                    {"state", word_of(one.state)},
                    {"reason", one.reason}});
  }
  std::size_t current = 0;
  std::size_t moving = 0;
  OrderedJson agents = OrderedJson::array();
  for (const AgentProgress& agent : progress.agents) {
    // Before it is compiled nobody can have it.
    auto [state, reason] = taken ? state_of(agent, aim, progress) : std::pair<const char*, std::string>("behind", "");
    current += std::string_view(state) == "current" ? 1U : 0U;
    moving += std::string_view(state) == "behind" ? 1U : 0U;
    agents.push_back({{"name", agent.name}, {"group", agent.group}, {"state", state}, {"reason", std::move(reason)}});
  }
  const bool all = !progress.agents.empty() && current == progress.agents.size();
  const bool over = taken && (apart || rejected || (moving == 0 && !progress.agents.empty()));
  return {{"over", over},
          {"failed", over && !apart && (rejected || !all)},
          {"compiled", taken},
          {"current", current},
          {"objects", std::move(list)},
          {"agents", std::move(agents)}};
}

}  // namespace edge::edgectl::web
