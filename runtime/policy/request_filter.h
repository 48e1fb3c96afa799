// RequestFilter: bounds what requests consist of: how many and how large their parts are, their methods and media
// types, and patterns that they may not contain. docs/request-filters.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/evaluate/pattern.h"
#include "program/evaluate/request_filter.h"
#include "program/read.h"
#include "runtime/policy/policy_request.h"
#include "runtime/policy/rate_limit_counts.h"

namespace edge::runtime {

/// Views point into the program's section, which must outlive it. Thread-safe.
class RequestFilter {
 public:
  /// `tally`: counts requests at fault; null: not counted.
  RequestFilter(const program::SectionView& policies, const program::RequestFilterRecord& settings,
                std::shared_ptr<RateLimitTally> tally);

  /// Looks at the head; `method` is the one that has to be allowed: of a preflight that CORS answers, the method that
  /// it asks about. Returns the refusal; nothing where the policy only counts. 503 when a pattern cannot be searched
  /// for. Linear in the head for each pattern.
  std::optional<PolicyAnswer> pass(const PolicyRequest& policy_request, std::string_view method) const;
  /// Looks at the beginning of the body, likewise.
  std::optional<PolicyAnswer> pass_body(const PolicyRequest& policy_request, std::string_view beginning) const;

  /// Bytes of a body that `pass_body` wants; 0: none.
  std::uint32_t inspected() const { return settings_.inspected_body_size; }
  /// Whether fields are looked at. What comes behind the body is not, and does not reach the backend then.
  bool limits_fields() const { return head_.limits_fields(); }

 private:
  std::optional<PolicyAnswer> fault_of(const PolicyRequest& policy_request, std::string_view method) const;
  PolicyAnswer answer_to(program::FilterFault fault) const;
  std::optional<PolicyAnswer> conclude(const PolicyRequest& policy_request, std::optional<PolicyAnswer> fault,
                                       bool counts_pass) const;
  PolicyAnswer pattern_found() const;

  program::RequestFilterRecord settings_;
  std::shared_ptr<RateLimitTally> tally_;
  program::HeadFilter head_;
  program::PatternSet bodies_;
  bool usable_;        ///< every pattern can be searched for
  std::string allow_;  ///< the field of an answer 405
};

}  // namespace edge::runtime
