#include "controller/status/condition_json.h"

#include <string>
#include <string_view>

namespace edge::controller {
namespace {

using compiler::Condition;
using compiler::ConditionStatus;
using Json = nlohmann::json;

std::string_view text(ConditionStatus status) {
  return status == ConditionStatus::kTrue ? "True" : status == ConditionStatus::kFalse ? "False" : "Unknown";
}

Json condition_json(const Condition& condition, std::int64_t generation) {
  return {{"type", condition.type},
          {"status", text(condition.status)},
          {"reason", condition.reason},
          {"message", condition.message.substr(0, kMaxMessage)},
          {"observedGeneration", generation}};
}

}  // namespace

Json condition_json(const Json& status, const char* type, const char* state, std::string_view reason,
                    std::string_view message) {
  Json condition = {{"type", type}, {"status", state}, {"reason", reason}, {"message", message.substr(0, kMaxMessage)}};
  if (status.contains("observedGeneration")) condition["observedGeneration"] = status["observedGeneration"];
  return condition;
}

Json ready_count(std::uint64_t ready, std::uint64_t total) {
  return {{"ready", ready}, {"total", total}, {"summary", std::to_string(ready) + "/" + std::to_string(total)}};
}

Json conditions_json(const std::vector<Condition>& conditions, std::int64_t generation) {
  Json all = Json::array();
  for (const Condition& condition : conditions) all.push_back(condition_json(condition, generation));
  return all;
}

}  // namespace edge::controller
