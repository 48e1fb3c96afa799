// SecurityHeaders: adds security-related fields to every response. docs/security-headers.md.
#pragma once

#include "program/read.h"
#include "runtime/policy/added_fields.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime {

class SecurityHeaders {
 public:
  SecurityHeaders(const program::SectionView& policies, const program::SecurityHeadersRecord& settings);

  void decorate(const PolicyRequest& policy_request, AddedFields& added) const {
    added.add(policy_request.secure ? secure_ : plain_);
  }

 private:
  /// Strict-Transport-Security is not sent over plain text (RFC 6797 §7.2).
  FieldBlock plain_;
  FieldBlock secure_;
};

}  // namespace edge::runtime
