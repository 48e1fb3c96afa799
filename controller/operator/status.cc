#include "controller/operator/status.h"

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/kube/time_text.h"

namespace edge::cluster_operator {
namespace {

using nlohmann::json;
using Canary = RolloutRecord::Canary;

constexpr std::size_t kMaxMessage = 1024;

const char* phase_of(const json& old, const Standing& standing) {
  const bool installed = !text_in(old, "version").empty();
  if (!standing.fault.empty()) return "Failed";
  if (!standing.failure.empty()) return installed ? "Degraded" : "Failed";
  if (standing.canary == Canary::kFailed) return "Degraded";
  const bool web_done = standing.web_done || !standing.wants_dashboard;
  if (standing.controller_done && standing.agents_done && web_done) return "Running";
  if (!installed) return standing.controllers_ready + standing.agents == 0 ? "Pending" : "Initializing";
  return standing.exchanging ? "Upgrading" : "Degraded";
}

json count(std::int64_t ready, std::int64_t total) {
  return {{"ready", ready}, {"total", total}, {"summary", std::to_string(ready) + "/" + std::to_string(total)}};
}

class Conditions {
 public:
  Conditions(const json& old, std::int64_t generation, WallTime now)
      : old_(list_in(old, "conditions")), generation_(generation), now_(kube::time_text(now)) {}

  void add(const char* type, const char* status, const std::string& reason, std::string message) {
    if (message.size() > kMaxMessage) message.resize(kMaxMessage);
    std::string since = now_;
    for (const json& before : old_) {
      if (text_in(before, "type") == type && text_in(before, "status") == status) {
        since = text_in(before, "lastTransitionTime");
      }
    }
    made_.push_back({{"type", type},
                     {"status", status},
                     {"reason", reason},
                     {"message", std::move(message)},
                     {"lastTransitionTime", std::move(since)},
                     {"observedGeneration", generation_}});
  }
  json take() { return std::move(made_); }

 private:
  const json& old_;
  std::int64_t generation_;
  std::string now_;
  json made_ = json::array();
};

void add_canary(const Standing& standing, Conditions& conditions) {
  switch (standing.canary) {
    case Canary::kNone:
      return;
    case Canary::kStarted:
      return conditions.add("Canary", "Unknown", "Started", standing.text);
    case Canary::kPassed:
      return conditions.add("Canary", "True", "Passed",
                            "the first agent of this configuration stayed ready, and served as well as the others");
    case Canary::kFailed:
      return conditions.add(
          "Canary", "False", "Failed",
          standing.canary_reason + "; agents run the configuration before, until the resource changes");
  }
}

void add_ready(const Standing& standing, const std::string& phase, Conditions& conditions) {
  if (!standing.fault.empty()) return conditions.add("Ready", "False", "InvalidSpec", standing.fault);
  if (!standing.failure.empty()) return conditions.add("Ready", "False", "CallFailed", standing.failure);
  if (standing.canary == Canary::kFailed) {
    return conditions.add("Ready", "False", "CanaryFailed", "agents do not run what the resource says");
  }
  if (phase == "Running") return conditions.add("Ready", "True", "Running", "every component is ready");
  const bool waits_for_web = standing.controller_done && standing.agents_done;
  conditions.add("Ready", "False", phase, waits_for_web ? "waits for the dashboard" : standing.text);
}

}  // namespace

json next_status(const json& old, const Standing& standing, WallTime now) {
  json status = old.is_object() ? old : json::object();
  Conditions conditions(old, standing.generation, now);
  if (standing.paused) {
    // Nothing is looked at: what was said of it stays, but for this.
    if (text_in(status, "phase").empty()) status["phase"] = "Pending";
    for (const json& before : list_in(old, "conditions")) {
      if (text_in(before, "type") == "Paused") continue;
      conditions.add(text_in(before, "type").c_str(), text_in(before, "status").c_str(), text_in(before, "reason"),
                     text_in(before, "message"));
    }
    conditions.add("Paused", "True", "Paused", "spec.paused is true: the operator changes nothing");
    status["conditions"] = conditions.take();
    status["observedGeneration"] = standing.generation;
    return status;
  }
  const std::string phase = phase_of(old, standing);
  status["phase"] = phase;
  if (phase == "Running") status["version"] = standing.version;
  if (standing.fault.empty()) {
    status["controller"] = count(standing.controllers_ready, standing.controllers);
    status["agents"] = count(standing.agents_ready, standing.agents);
    // One that was removed is told of as none: a patch takes no member away.
    if (standing.wants_dashboard || status.contains("web"))
      status["web"] = count(standing.dashboards_ready, standing.dashboards);
  }
  add_ready(standing, phase, conditions);
  add_canary(standing, conditions);
  if (!standing.definitions_reason.empty()) {
    conditions.add("DefinitionsOutdated", "True", standing.definitions_reason, standing.definitions_message);
  }
  status["conditions"] = conditions.take();
  status["observedGeneration"] = standing.generation;
  return status;
}

}  // namespace edge::cluster_operator
