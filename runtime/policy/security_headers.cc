#include "runtime/policy/security_headers.h"

#include <string>

namespace edge::runtime {

SecurityHeaders::SecurityHeaders(const program::SectionView& policies, const program::SecurityHeadersRecord& settings) {
  const std::string_view frame_options = policies.string(settings.x_frame_options);
  const std::string_view referrer = policies.string(settings.referrer_policy);
  const auto has = [&](program::SecurityHeadersFlags flag) { return (settings.flags & flag) != 0; };
  if (has(program::kHsts)) {
    std::string hsts = "max-age=" + std::to_string(settings.hsts_max_age_s);
    if (has(program::kHstsIncludeSubDomains)) hsts += "; includeSubDomains";
    if (has(program::kHstsPreload)) hsts += "; preload";
    secure_.add("Strict-Transport-Security", hsts);
  }
  for (FieldBlock* block : {&plain_, &secure_}) {
    block->add("X-Frame-Options", frame_options);
    if (has(program::kNoSniff)) block->add("X-Content-Type-Options", "nosniff");
    block->add("Referrer-Policy", referrer);
  }
}

}  // namespace edge::runtime
