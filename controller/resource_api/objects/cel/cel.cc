#include "controller/resource_api/objects/cel/cel.h"

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/cel/node.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

constexpr std::string_view kOldSelf = "oldSelf";

std::string_view cel_type(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  return value.is_number_float() ? "number" : "integer";
}

}  // namespace

CelRule::CelRule() = default;
CelRule::~CelRule() = default;

std::shared_ptr<const CelRule> CelRule::parse(const Json& entry) {
  std::shared_ptr<CelRule> rule(new CelRule());
  rule->text_ = text_in(entry, "rule");
  rule->root_ = parse_cel(rule->text_);
  if (rule->root_ == nullptr) return nullptr;
  rule->transition_ = names_variable(*rule->root_, kOldSelf);
  rule->message_ = text_in(entry, "message");
  rule->reason_ = text_in(entry, "reason");
  rule->field_ = text_in(entry, "fieldPath");
  return rule;
}

std::unique_ptr<Cause> CelRule::broken_by(const Json& self, const Json* old, std::string_view path) const {
  if (transition_ && old == nullptr) return nullptr;
  const CelOutcome outcome = evaluate_cel(*root_, self, old);
  if (outcome == CelOutcome::kTrue) return nullptr;
  std::string message = message_.empty() ? words({"failed rule: ", text_}) : message_;
  if (outcome == CelOutcome::kError) message += " (the rule could not be evaluated)";
  Cause cause = value_invalid(words({path, field_}), std::string(cel_type(self)), message);
  if (path.empty() && cause.field.starts_with('.')) cause.field.erase(0, 1);
  if (!reason_.empty()) cause.reason = reason_;
  return std::make_unique<Cause>(std::move(cause));
}

}  // namespace edge::resource_api::objects
