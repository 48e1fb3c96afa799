// What a rule does with the requests that it takes, as text: two rules treat requests alike when their texts are equal.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "program/read.h"

namespace edge::compiler::analyze {

/// `demo/shop rules[2].matches[0]`.
std::string rule_name(const program::SectionView& host, std::uint32_t action);

/// `RateLimit demo/limit`, in the order in which a request passes them (rule D4).
std::vector<std::string> policy_texts(const program::ProgramView& program, const program::SectionView& host,
                                      const program::TreatmentRecord& treatment);
/// Its filters, in the order in which they apply.
std::vector<std::string> filter_texts(const program::SectionView& host, const program::TreatmentRecord& treatment);
/// Timeouts, buffering, retries, mirrors; the size limit only where it is not `usual_body`.
std::vector<std::string> limit_texts(const program::ProgramView& program, const program::SectionView& host,
                                     const program::TreatmentRecord& treatment, std::uint64_t usual_body);

/// Treatments of one program. Weights are reduced (50 and 50 are 1 and 1) and backends sorted, so that only what a
/// request can see makes a difference.
class Treatments {
 public:
  explicit Treatments(const program::ProgramView& program) : program_(program) {}

  /// One part an entry: where requests go first, then policies, filters, limits, retries, mirrors.
  std::vector<std::string> parts(const program::SectionView& host, std::uint32_t action) const;
  /// The parts in one line. Kept: the same rule is asked about often.
  const std::string& text(const program::Section& host, std::uint32_t action);

 private:
  std::string destination(const program::SectionView& host, std::uint32_t action) const;

  const program::ProgramView& program_;
  std::unordered_map<const program::Section*, std::unordered_map<std::uint32_t, std::string>> texts_;
};

/// Of a request that no rule takes.
inline constexpr const char* kNoRoute = "404, no rule takes it";

}  // namespace edge::compiler::analyze
