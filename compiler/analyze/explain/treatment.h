// The treatment of requests by a rule, as text: two rules treat requests alike when their texts are equal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "program/read.h"

namespace edge::compiler::analyze {

/// `demo/shop rules[2].matches[0]`.
std::string rule_name(const program::SectionView& host, std::uint32_t action);

/// Returns `RateLimit demo/limit` and so on, in the order of evaluation (rule D4).
std::vector<std::string> policy_texts(const program::ProgramView& program, std::span<const std::uint64_t> policies);
/// Returns what is done with requests on a listener that no rule takes, but for answering 404; empty: nothing.
std::vector<std::string> parts_without_route(const program::ProgramView& program, std::uint32_t listener);
/// Returns the filters, in the order in which they apply.
std::vector<std::string> filter_texts(const program::SectionView& host, const program::TreatmentRecord& treatment);
/// Returns timeouts, buffering, retries, mirrors; the size limit only where it is not `usual_body`.
std::vector<std::string> limit_texts(const program::ProgramView& program, const program::SectionView& host,
                                     const program::TreatmentRecord& treatment, std::uint64_t usual_body);

/// The treatments of one program. Weights are reduced (50 and 50 are 1 and 1) and backends sorted, so that only
/// differences visible to requests count.
class Treatments {
 public:
  explicit Treatments(const program::ProgramView& program) : program_(program) {}

  /// Returns a part per entry: destinations first, then policies, filters, limits, retries, mirrors.
  std::vector<std::string> parts(const program::SectionView& host, std::uint32_t action) const;
  /// Returns the parts in one line. Cached, because the same rule is compared often.
  const std::string& text(const program::Section& host, std::uint32_t action);

 private:
  std::string destination(const program::SectionView& host, std::uint32_t action) const;

  const program::ProgramView& program_;
  std::unordered_map<const program::Section*, std::unordered_map<std::uint32_t, std::string>> texts_;
};

/// The treatment of a request without a rule.
inline constexpr const char* kNoRoute = "404, no rule takes it";

}  // namespace edge::compiler::analyze
