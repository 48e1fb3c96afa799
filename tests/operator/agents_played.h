// Agents played by a test of the operator: their pages, and who holds virtual addresses.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "controller/operator/operator.h"
#include "controller/operator/rollout/canary.h"

namespace edge::test {

using nlohmann::json;

/// The pages of agents, and who holds virtual addresses. Thread-safe.
class AgentsPlayed {
 public:
  Result<controller::AgentAnswer> answer(const cluster_operator::PageRequest& request) {
    const std::lock_guard lock(mutex_);
    const std::string& target = request.question.target;
    if (target == "/debug/vips") return controller::AgentAnswer{200, "application/json", page_of(request.agent)};
    if (target.starts_with("/debug/vips/move?vip=")) return move(request.agent, target);
    // Before an agent is replaced it is asked for the last five minutes.
    auto counts = target.ends_with("window=5m") ? before_ : counts_[request.agent];
    counts.durations.resize(counts.bounds.size() + 1);  // of an agent without requests
    return controller::AgentAnswer{200, "application/json", write_traffic(counts)};
  }
  void hold(const std::string& vip, const std::string& agent) {
    const std::lock_guard lock(mutex_);
    holders_[vip] = agent;
  }
  bool holds_any(const std::string& agent) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(holders_, [&](const auto& entry) { return entry.second == agent; });
  }
  void count(const std::string& agent, cluster_operator::Traffic counts) {
    const std::lock_guard lock(mutex_);
    counts_[agent] = std::move(counts);
  }
  void count_before(cluster_operator::Traffic counts) {
    const std::lock_guard lock(mutex_);
    before_ = std::move(counts);
  }
  std::vector<std::string> moves() {
    const std::lock_guard lock(mutex_);
    return moves_;
  }

 private:
  std::string page_of(const std::string& agent) {
    json vips = json::array();
    for (const auto& [vip, holder] : holders_) {
      const std::size_t slash = vip.find('/');
      vips.push_back({{"namespace", vip.substr(0, slash)},
                      {"name", vip.substr(slash + 1)},
                      {"held", holder == agent},
                      {"holder", holder}});
    }
    return json{{"vips", std::move(vips)}}.dump();
  }
  /// To the agent that is named, else to the next one.
  Result<controller::AgentAnswer> move(const std::string& from, const std::string& target) {
    const std::string vip = target.substr(target.find('=') + 1, target.find('&') - target.find('=') - 1);
    const std::size_t to = target.find("&to=");
    const std::string next = from == "n1" ? "n2" : from == "n2" ? "n3" : "n1";
    holders_[vip] = to == std::string::npos ? next : target.substr(to + 4);
    moves_.push_back(vip + " " + from + " " + holders_[vip]);
    return controller::AgentAnswer{200, "text/plain", "done\n"};
  }

  std::mutex mutex_;
  std::map<std::string, std::string> holders_;  ///< of `namespace/name`
  std::map<std::string, cluster_operator::Traffic> counts_;
  cluster_operator::Traffic before_;
  std::vector<std::string> moves_;
};

}  // namespace edge::test
