// FixedResponse: answers in place of a backend, once the client is authenticated. docs/fixed-responses.md.
#pragma once

#include <string>
#include <string_view>

#include "program/read.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime {

/// Views point into the program's section, which must outlive it.
class FixedResponse {
 public:
  FixedResponse(const program::SectionView& policies, const program::FixedResponseRecord& settings);

  PolicyAnswer answer() const { return {status_, "fixed-response", {}, fields_, {}, true, body_}; }

 private:
  int status_;
  std::string fields_;
  std::string_view body_;
};

}  // namespace edge::runtime
