// RateLimit: a number of requests in a time for each value of a key; further ones are answered 429.
// docs/rate-limiting.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/read.h"
#include "runtime/policy/policy_request.h"
#include "runtime/policy/rate_limit_counts.h"
#include "runtime/policy/rate_limit_table.h"

namespace edge::runtime {

/// What authentication has found out about the client.
struct VerifiedClient {
  std::span<const std::pair<std::string, std::string>> claims{};  ///< of its token; missing claims are omitted
  std::string subject{};                                          ///< who it is; empty: nobody was named
};

/// One limit of a policy. Immutable; threads: any.
class RateLimit {
 public:
  /// A limit that is the same in the next program, by the name of its policy and its settings, keeps its buckets.
  RateLimit(const program::SectionView& policies, const program::PolicyRecord& policy,
            const program::RateRecord& settings);

  /// Returns whether it counts by a claim of a verified token, or by who the client is.
  bool by_claim() const;
  bool by_identity() const;

  const Rate& rate() const { return rate_; }
  /// Returns the key of the request's bucket in a table of that seed. `client`: null where nobody is verified; all
  /// requests have one claim and one identity then (fails closed: what is not verified anybody may write).
  std::uint64_t bucket(const PolicyRequest& policy_request, const VerifiedClient* client, std::uint64_t seed) const;

 private:
  struct Part {
    program::RateKey key;
    std::string name;
  };
  static std::uint64_t hash_part(const Part& part, const PolicyRequest& policy_request, const VerifiedClient* client,
                                 std::uint64_t hash);
  bool counts_by(program::RateKey key) const;

  std::uint64_t identity_;
  Rate rate_;
  std::vector<Part> parts_;
};

/// The limits of one policy, or those of them that are applied at one point of a request.
struct RateLimitGroup {
  static constexpr std::size_t kMost = 8;

  std::vector<const RateLimit*> limits;
  RateLimitTally* tally = nullptr;  ///< null: not counted

  /// Takes a token from the bucket of every limit, or from none: a request that one limit refuses is not charged to the
  /// others. Of several limits that refuse, the one that lasts longest answers.
  std::optional<PolicyAnswer> pass(const PolicyRequest& policy_request, const VerifiedClient* client,
                                   RateLimitTable& table) const;
};

}  // namespace edge::runtime
