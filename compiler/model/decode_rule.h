// Decodes matches and filters of a rule: the same in ProxyRoute and the routes of Gateway API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/model/fields.h"
#include "compiler/model/route.h"
#include "compiler/model/validate.h"

namespace edge::compiler::model {

/// `spec.rules[0]`, `spec.rules[0].matches[1]`: formatted when an error needs it.
struct RuleLocation {
  std::size_t rule = 0;
  std::string_view list{};
  std::size_t index = 0;

  std::string text(std::string_view field = {}) const {
    std::string out = "spec.rules[" + std::to_string(rule) + "]";
    if (!list.empty()) out += "." + std::string(list) + "[" + std::to_string(index) + "]";
    if (!field.empty()) out += "." + std::string(field);
    return out;
  }
};

/// Errors go to `report`.
Match decode_match(const Fields& fields, const RuleLocation& location, Report& report);
/// Whether a redirect may lead to the request's own URL: Gateway API allows one with only a `statusCode`, ProxyRoute
/// rejects it as endless.
enum class SelfRedirect : std::uint8_t { kRefused, kAllowed };
Filter decode_filter(const Fields& fields, const RuleLocation& location, SelfRedirect self_redirect, Report& report);
/// Whether `percent: 100` passes beside `fraction`: a cluster fills it in where ProxyRoute leaves it out.
enum class FilledPercent : std::uint8_t { kPasses, kExcluded };
/// Decodes `percent` and `fraction` of a mirror; nullopt where it has neither.
std::optional<program::MirrorShare> decode_mirror_share(const Fields& mirror, const RuleLocation& location,
                                                        FilledPercent filled, Report& report);
ValueCondition decode_header_match(const Fields& fields, const RuleLocation& location, std::size_t index,
                                   Report& report);
/// Decodes `sessionPersistence`; nullopt where the rule has none.
std::optional<SessionPersistence> decode_persistence(const Fields& fields, const RuleLocation& location,
                                                     Report& report);
/// Reports filters of one rule that exclude each other.
void check_filters(const Rule& rule, const RuleLocation& location, Report& report);

}  // namespace edge::compiler::model
