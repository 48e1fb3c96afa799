#include "runtime/policy/fixed_response.h"

#include "program/format/records.h"

namespace edge::runtime {

FixedResponse::FixedResponse(const program::SectionView& policies, const program::FixedResponseRecord& settings)
    : status_(static_cast<int>(settings.status)), body_(policies.string(settings.page.body)) {
  const auto add = [&](std::string_view name, std::string_view value) {
    fields_.append(name).append(": ").append(value).append("\r\n");
  };
  if (!body_.empty()) add("Content-Type", policies.string(settings.page.content_type));
  for (const program::FieldRecord& field : policies.array(settings.fields)) {
    add(policies.string(field.name), policies.string(field.value));
  }
}

}  // namespace edge::runtime
