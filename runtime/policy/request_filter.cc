#include "runtime/policy/request_filter.h"

#include <utility>

#include "program/format/records.h"

namespace edge::runtime {
namespace {

using net::http1::BodyKind;
using net::http1::RequestHead;
using program::FilterFault;

bool has_body(const RequestHead& head) {
  return head.body.kind != BodyKind::kNone && !(head.body.kind == BodyKind::kLength && head.body.length == 0);
}

PolicyAnswer refuse(int status, std::string_view reason, std::string_view text) { return {status, reason, text, {}}; }

}  // namespace

RequestFilter::RequestFilter(const program::SectionView& policies, const program::RequestFilterRecord& settings,
                             std::shared_ptr<RateLimitTally> tally)
    : settings_(settings),
      tally_(std::move(tally)),
      head_(policies, settings),
      bodies_(program::texts_of(policies, settings.bodies)),
      usable_(head_.usable() && bodies_.ok()) {
  for (const std::string_view method : head_.methods()) {
    allow_.append(allow_.empty() ? "Allow: " : ", ").append(method);
  }
  if (!allow_.empty()) allow_ += "\r\n";
}

std::optional<PolicyAnswer> RequestFilter::pass(const PolicyRequest& policy_request, std::string_view method) const {
  return conclude(policy_request, fault_of(policy_request, method), inspected() == 0 || !has_body(policy_request.head));
}

std::optional<PolicyAnswer> RequestFilter::pass_body(const PolicyRequest& policy_request,
                                                     std::string_view beginning) const {
  const bool found = bodies_.finds_any(beginning.substr(0, inspected()));
  return conclude(policy_request, found ? std::optional(pattern_found()) : std::nullopt, true);
}

std::optional<PolicyAnswer> RequestFilter::conclude(const PolicyRequest& policy_request,
                                                    std::optional<PolicyAnswer> fault, bool counts_pass) const {
  if (!usable_) return refuse(503, "policy-unavailable", "A policy that protects this route cannot be enforced.");
  if (tally_ != nullptr && (fault || counts_pass)) tally_->count(policy_request.source.bytes.back(), !fault);
  if (settings_.shadow != 0) return std::nullopt;
  return fault;
}

PolicyAnswer RequestFilter::pattern_found() const {
  return refuse(static_cast<int>(settings_.status), "pattern-refused",
                "The request contains something that is not accepted here.");
}

std::optional<PolicyAnswer> RequestFilter::fault_of(const PolicyRequest& policy_request,
                                                    std::string_view method) const {
  const RequestHead& head = policy_request.head;
  const auto fault = head_.fault_of({.method = method,
                                     .path = policy_request.path,
                                     .query = head.query,
                                     .fields = head.fields.all(),
                                     .has_body = has_body(head),
                                     .body_length = head.body.kind == BodyKind::kLength ? head.body.length : 0});
  return fault ? std::optional(answer_to(*fault)) : std::nullopt;
}

PolicyAnswer RequestFilter::answer_to(FilterFault fault) const {
  switch (fault) {
    case FilterFault::kMethod: {
      PolicyAnswer answer = refuse(405, "method-refused", "The method is not allowed here.");
      answer.fields = allow_;
      return answer;
    }
    case FilterFault::kTooManyFields:
    case FilterFault::kFieldTooLarge:
    case FilterFault::kFieldsTooLarge:
      return refuse(431, "headers-refused", "The header fields are more or larger than allowed.");
    case FilterFault::kQueryParameters:
      return refuse(400, "query-refused", "The query has too many parameters.");
    case FilterFault::kMediaType:
      return refuse(415, "type-refused", "The body's media type is not accepted here.");
    case FilterFault::kBodyTooLarge:
      return refuse(413, "body-too-large", "The request's body is larger than allowed.");
    case FilterFault::kFieldPattern:
    case FilterFault::kPathPattern:
    case FilterFault::kQueryPattern:
      break;
  }
  return pattern_found();
}

}  // namespace edge::runtime
