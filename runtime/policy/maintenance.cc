#include "runtime/policy/maintenance.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "program/format/records.h"

namespace edge::runtime {

Maintenance::Maintenance(const program::SectionView& policies, const program::MaintenanceRecord& settings)
    : enabled_(settings.enabled != 0), body_(policies.string(settings.page.body)) {
  if (!body_.empty()) {
    fields_.append("Content-Type: ").append(policies.string(settings.page.content_type)).append("\r\n");
  }
  if (settings.retry_after_s != 0) {
    fields_.append("Retry-After: ").append(std::to_string(settings.retry_after_s)).append("\r\n");
  }
  // Nobody is to go on with what was true during it.
  fields_.append("Cache-Control: no-store\r\n");
  for (const program::CidrRecord& block : policies.array(settings.except_addresses)) {
    addresses_.push_back(program::cidr_of(block));
  }
  for (const program::FieldRecord& field : policies.array(settings.except_fields)) {
    headers_.push_back({policies.string(field.name), policies.string(field.value)});
  }
}

bool Maintenance::excepts(const PolicyRequest& policy_request) const {
  const auto covers = [&](const Cidr& block) { return block.contains(policy_request.source); };
  if (std::ranges::any_of(addresses_, covers)) return true;
  if (headers_.empty()) return false;
  return std::ranges::any_of(policy_request.head.fields.all(), [&](const Field& field) {
    return std::ranges::any_of(headers_, [&](const Except& except) {
      return field.value == except.value && equals_ignoring_case(field.name, except.name);
    });
  });
}

std::optional<PolicyAnswer> Maintenance::pass(const PolicyRequest& policy_request) const {
  if (!enabled_ || excepts(policy_request)) return std::nullopt;
  return PolicyAnswer{503, "maintenance", "The service is under maintenance.", fields_, {}, false, body_};
}

}  // namespace edge::runtime
