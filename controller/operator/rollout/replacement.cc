#include "controller/operator/rollout/replacement.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::cluster_operator {
namespace {

using controller::AgentAnswer;
using nlohmann::json;

constexpr const char* kBefore = "5m";
constexpr const char* kAddressPage = "/debug/vips";
constexpr int kOk = 200;
constexpr int kNoPage = 404;
/// Agents whose counts are added up; each is a call.
constexpr std::size_t kMostOthers = 32;
/// Addresses that are moved with one look at an agent.
constexpr std::size_t kMostAddresses = 64;
constexpr std::size_t kMostAgents = 4096;
constexpr net::Duration kLongestMove = std::chrono::seconds(10);
constexpr std::chrono::seconds kShortestWindow{5};
constexpr std::chrono::seconds kLongestWindow{3600};

PageRequest traffic_of(const std::string& agent, const std::string& window) {
  return {agent, {.method = "GET", .target = "/debug/traffic?window=" + window}};
}

/// An agent or a controller of a version that has no such page.
bool is_older(const Result<AgentAnswer>& answer) {
  return answer ? answer->status == kNoPage : answer.error().code == ErrorCode::kUnimplemented;
}

std::string reason_of(const Result<AgentAnswer>& answer) {
  if (!answer) return answer.error().text;
  return "its page answers " + std::to_string(answer->status);
}

std::string full_name(const json& vip) { return text_in(vip, "namespace") + "/" + text_in(vip, "name"); }

bool is_held(const json& vip) {
  const json& held = member_in(vip, "held");
  return held.is_boolean() && held.get<bool>();
}

std::vector<std::string> held_of(const AgentAnswer& answer) {
  std::vector<std::string> held;
  const json page = parse_json(answer.body);
  for (const json& vip : list_in(page, "vips")) {
    if (is_held(vip) && held.size() < kMostAddresses) held.push_back(full_name(vip));
  }
  return held;
}

}  // namespace

net::Task<std::string> Replacement::measure(net::Waiter& waiter, Controllers controllers, std::string agent) {
  std::vector<PageRequest> requests = {traffic_of(agent, kBefore)};
  const PageAnswers answers = co_await pages_.ask(waiter, std::move(controllers), std::move(requests));
  if (answers.empty() || !answers.front() || answers.front()->status != kOk) co_return std::string();
  const auto traffic = read_traffic(answers.front()->body);
  co_return traffic ? write_traffic(*traffic) : std::string();
}

net::Task<Comparison> Replacement::compare(net::Waiter& waiter, Controllers controllers, CanaryAgent canary) {
  using Kind = Comparison::Result;
  const std::string window = std::to_string(std::clamp(canary.age, kShortestWindow, kLongestWindow).count()) + "s";
  std::vector<PageRequest> requests = {traffic_of(canary.name, window)};
  for (const std::string& other : canary.others) {
    if (requests.size() <= kMostOthers) requests.push_back(traffic_of(other, window));
  }
  const PageAnswers answers = co_await pages_.ask(waiter, controllers, std::move(requests));
  if (answers.empty()) co_return Comparison{};
  const auto& own = answers.front();
  if (is_older(own)) co_return Comparison{Kind::kTooFew, "it is of a version that does not show its requests"};
  const auto traffic = own && own->status == kOk ? read_traffic(own->body) : std::nullopt;
  if (!traffic) co_return Comparison{Kind::kNone, "agent " + canary.name + " cannot be asked: " + reason_of(own)};
  Traffic others;
  for (std::size_t i = 1; i < answers.size(); ++i) {
    if (!answers[i] || answers[i]->status != kOk) continue;
    if (const auto one = read_traffic(answers[i]->body)) add(others, *one);
  }
  const bool given_back = co_await give_back(waiter, std::move(controllers), canary.name);
  if (!given_back) log_.info("addresses are moved back to agent " + canary.name);
  co_return cluster_operator::compare(*traffic, others, read_traffic(canary.before).value_or(Traffic{}));
}

/// \returns whether nothing is to be moved any more.
net::Task<bool> Replacement::give_back(net::Waiter& waiter, Controllers controllers, std::string agent) {
  const auto known = addresses_.find(agent);
  if (known == addresses_.end() || known->second.moved.empty()) co_return true;
  // Each once: where it does not stay, others have a reason.
  const std::set<std::string> moved = std::exchange(known->second.moved, {});
  std::vector<PageRequest> look = {{agent, {.method = "GET", .target = kAddressPage}}};
  const PageAnswers seen = co_await pages_.ask(waiter, controllers, std::move(look));
  if (seen.empty() || !seen.front() || seen.front()->status != kOk) {
    addresses_[agent].moved = moved;
    co_return true;
  }
  std::vector<PageRequest> moves;
  const json page = parse_json(seen.front()->body);
  for (const json& vip : list_in(page, "vips")) {
    const std::string& holder = text_in(vip, "holder");
    if (!moved.contains(full_name(vip)) || holder.empty() || holder == agent) continue;
    moves.push_back({holder, {.method = "POST", .target = "/debug/vips/move?vip=" + full_name(vip) + "&to=" + agent}});
  }
  if (moves.empty()) co_return true;
  const PageAnswers done = co_await pages_.ask(waiter, std::move(controllers), std::move(moves));
  co_return done.empty();
}

net::Task<std::vector<std::string>> Replacement::move_away(net::Waiter& waiter, Controllers controllers,
                                                           std::vector<std::string> agents) {
  if (agents.empty()) co_return agents;
  std::vector<PageRequest> requests;
  for (const std::string& agent : agents) requests.push_back({agent, {.method = "GET", .target = kAddressPage}});
  const PageAnswers answers = co_await pages_.ask(waiter, controllers, std::move(requests));
  std::vector<std::string> free;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& answer = answers[i];
    if (!answer || answer->status != kOk) {
      if (!is_older(answer)) log_.warn("agent " + agents[i] + " ends by itself: " + reason_of(answer));
      free.push_back(agents[i]);
      continue;
    }
    std::vector<std::string> held = held_of(*answer);
    if (held.empty()) {
      free.push_back(agents[i]);
      continue;
    }
    const bool stays = co_await move_from(waiter, controllers, agents[i], std::move(held));
    if (stays) free.push_back(agents[i]);
  }
  // It is looked at anew when it is replaced the next time.
  for (const std::string& agent : free) {
    const auto known = addresses_.find(agent);
    if (known == addresses_.end()) continue;
    known->second.since = {};
    if (!known->second.moving.empty()) known->second.moved = std::exchange(known->second.moving, {});
  }
  co_return free;
}

/// \returns whether no address can be moved, so that there is nothing to wait for.
net::Task<bool> Replacement::move_from(net::Waiter& waiter, Controllers controllers, std::string agent,
                                       std::vector<std::string> held) {
  if (addresses_.size() >= kMostAgents) addresses_.clear();
  Addresses& known = addresses_[agent];
  if (known.since == net::Time{}) known.since = loop_.now();
  if (loop_.now() - known.since > kLongestMove) {
    log_.warn("the addresses of agent " + agent + " have not moved in time; it gives them away when it ends");
    co_return true;
  }
  std::erase_if(held, [&known](const std::string& vip) { return known.moving.contains(vip); });
  if (held.empty()) co_return false;
  std::vector<PageRequest> moves;
  for (const std::string& vip : held) {
    moves.push_back({agent, {.method = "POST", .target = "/debug/vips/move?vip=" + vip}});
  }
  const PageAnswers answers = co_await pages_.ask(waiter, std::move(controllers), std::move(moves));
  bool moving = answers.empty() || !addresses_[agent].moving.empty();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i] || answers[i]->status != kOk) continue;
    moving = true;
    addresses_[agent].moving.insert(held[i]);
  }
  co_return !moving;
}

}  // namespace edge::cluster_operator
