#include "controller/status/vip_status.h"

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/status/condition_json.h"
#include "controller/status/status_document.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;

struct Words {
  std::string reason;
  std::string message;
};

void add(Json& status, const char* type, bool holds, const Words& words) {
  status["conditions"].push_back(condition_json(status, type, state_text(holds), words.reason, words.message));
}

/// Why nobody holds it: what most agents say that could not, with one of their lines.
Words why_nobody(const std::vector<AgentVip>& said) {
  if (said.empty()) return {"NoAgents", "no agent that is connected knows of it"};
  std::map<std::string, std::size_t> counts;
  for (const AgentVip& vip : said) ++counts[vip.state.unfit];
  // Those that are not meant say nothing of those that are.
  if (counts.size() > 1 && counts.contains(std::string(kBehindRelay))) counts.erase("NotSelected");
  const auto most = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  // Nothing keeps these from it: too few of them are there, or one is about to take it.
  if (most->first.empty()) return {"Pending", "no agent holds it yet"};
  const auto one = std::ranges::find(said, most->first, [](const AgentVip& vip) { return vip.state.unfit; });
  return {most->first, "agent " + one->agent + ": " + one->state.reason};
}

void add_sessions(const std::vector<AgentVip>& said, Json& status) {
  constexpr std::size_t kMost = 64;
  status.erase("sessions");
  for (const AgentVip& vip : said) {
    for (const BgpSessionState& session : vip.state.sessions) {
      if (status.contains("sessions") && status["sessions"].size() >= kMost) return;
      Json one = {{"node", vip.node}, {"peer", session.peer}, {"state", session.state}};
      if (session.since_ms > 0) one["since"] = timestamp_text(WallTime(std::chrono::milliseconds(session.since_ms)));
      if (!session.bfd.empty()) one["bfd"] = session.bfd;
      if (!session.last_error.empty()) one["lastError"] = session.last_error;
      status["sessions"].push_back(std::move(one));
    }
  }
}

Words words_of(const AgentVip* holder, bool several, std::size_t nodes) {
  if (holder == nullptr) return {};
  if (several) return {"Announced", std::to_string(nodes) + " nodes announce it"};
  const bool announces = !holder->state.sessions.empty();
  return {announces ? "Announced" : "Held", "node " + holder->node + (announces ? " announces it" : " holds it")};
}

/// Who holds an address; of two the one that holds it by the higher epoch.
const AgentVip* holder_of(const std::vector<AgentVip>& said) {
  const AgentVip* holder = nullptr;
  for (const AgentVip& vip : said) {
    if (vip.state.held && (holder == nullptr || vip.state.epoch > holder->state.epoch)) holder = &vip;
  }
  return holder;
}

void drop_conditions(Json& status) {
  std::erase_if(status["conditions"].get_ref<Json::array_t&>(), [](const Json& condition) {
    const std::string type = condition.value("type", "");
    return type == "Ready" || type == "Announced" || type == "Degraded";
  });
}

void add_degraded(const std::vector<AgentVip>& said, Json& status) {
  const auto fault = std::ranges::find_if(
      said, [](const AgentVip& vip) { return !vip.state.reason.empty() && vip.state.unfit != "NotSelected"; });
  if (fault == said.end()) return add(status, "Degraded", false, {"AllNodesFit", "every agent of it can hold it"});
  add(status, "Degraded", true,
      {!fault->state.unfit.empty()     ? fault->state.unfit
       : fault->state.sessions.empty() ? "AddressConflict"
                                       : "SessionDown",
       "agent " + fault->agent + ": " + fault->state.reason});
}

/// Of a pool: which node holds which of the addresses that gateways have.
void overlay_pool(const std::vector<AgentVip>& said, Json& status) {
  std::map<std::string, std::vector<AgentVip>> by_address;
  std::set<std::string> nodes;
  std::uint64_t epoch = 0;
  for (const AgentVip& vip : said) {
    by_address[vip.state.address].push_back(vip);
    epoch = std::max(epoch, vip.state.epoch);
    if (vip.state.held) nodes.insert(vip.node);
  }
  std::size_t held = 0;
  Words missing;
  Json& allocations = status["allocations"];
  for (Json& allocation : allocations) {
    const auto found = by_address.find(text_in(allocation, "address"));
    const AgentVip* const holder = found == by_address.end() ? nullptr : holder_of(found->second);
    if (holder != nullptr) {
      ++held;
      allocation["node"] = holder->node;
    } else if (missing.reason.empty()) {
      missing = why_nobody(found == by_address.end() ? std::vector<AgentVip>() : found->second);
      missing.message = text_in(allocation, "address") + ": " + missing.message;
    }
  }
  status["currentNode"] = "";
  status["announcingNodes"] = Json(std::vector<std::string>(nodes.begin(), nodes.end()));
  if (epoch != 0) status["epoch"] = epoch;
  add_sessions(said, status);
  const bool all = held == allocations.size();
  const Words words = !all                  ? missing
                      : allocations.empty() ? Words{"NoAllocations", "no gateway has an address of the pool"}
                                            : Words{"Announced", std::to_string(held) + " addresses are held"};
  add(status, "Announced", all && !allocations.empty(), words);
  add(status, "Ready", all, words);
  add_degraded(said, status);
}

}  // namespace

void overlay_vip(const AgentsView& agents, const std::string& name, Json& status) {
  const auto found = agents.vips.find(name);
  const std::vector<AgentVip> said = found == agents.vips.end() ? std::vector<AgentVip>() : found->second;
  drop_conditions(status);
  if (status.contains("allocations")) return overlay_pool(said, status);
  const AgentVip* const holder = holder_of(said);
  std::uint64_t epoch = 0;
  for (const AgentVip& vip : said) epoch = std::max(epoch, vip.state.epoch);
  status["currentNode"] = holder == nullptr ? "" : holder->node;
  status["announcingNodes"] = Json::array();
  for (const AgentVip& vip : said) {
    // Of an address that several nodes announce no hold is counted.
    const bool announces = vip.state.held && (&vip == holder || vip.state.epoch == 0);
    if (announces) status["announcingNodes"].push_back(vip.node);
  }
  add_sessions(said, status);
  const bool several = status["announcingNodes"].size() > 1;
  if (several) status["currentNode"] = "";
  if (epoch != 0) status["epoch"] = epoch;
  const Words nobody = why_nobody(said);
  const Words held = words_of(holder, several, status["announcingNodes"].size());
  add(status, "Announced", holder != nullptr, holder != nullptr ? held : nobody);
  add(status, "Ready", holder != nullptr, holder != nullptr ? held : nobody);
  add_degraded(said, status);
}

std::optional<ConditionFlip> move_of(const AgentsView& agents, const std::string& name, const Json& before,
                                     const Json& status) {
  const std::string node = status.value("currentNode", "");
  const auto stood = before.find("currentNode");
  const std::string other = stood != before.end() && stood->is_string() ? stood->get<std::string>() : std::string();
  // Several may announce it, none of which is the one.
  if (node == other || (node.empty() && !status.value("announcingNodes", Json::array()).empty())) return std::nullopt;
  if (node.empty()) return ConditionFlip{"CurrentNode", "False", "NotHeld", "node " + other + " holds it no longer"};
  std::string message = "node " + node + " holds it";
  if (!other.empty()) message += ", node " + other + " did before";
  const auto found = agents.vips.find(name);
  for (const AgentVip& vip : found == agents.vips.end() ? std::vector<AgentVip>() : found->second) {
    if (!vip.state.held || vip.node != node) continue;
    message += ": " + (vip.state.cause.empty() ? "it goes on with it" : vip.state.cause) + ", epoch " +
               std::to_string(vip.state.epoch);
    break;
  }
  return ConditionFlip{"CurrentNode", "True", "Moved", std::move(message)};
}

}  // namespace edge::controller
