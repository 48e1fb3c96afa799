// What limits count requests by: parts of the request and of who the client is, together.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/read.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime {

/// What authentication has found out about the client.
struct VerifiedClient {
  std::span<const std::pair<std::string, std::string>> claims{};  ///< of its token; missing claims are omitted
  std::string subject{};                                          ///< who it is; empty: nobody was named
};

/// Immutable; threads: any.
class RequestKey {
 public:
  /// `identity`: a hash of what else tells keys apart, such as the policy.
  RequestKey(const program::SectionView& policies, std::uint64_t identity,
             program::ArrayRef<program::RateKeyRecord> parts);

  /// Returns whether it needs what authentication finds out: a claim of a verified token, or who the client is.
  bool by_claim() const { return counts_by(program::RateKey::kJwtClaim); }
  bool by_identity() const { return counts_by(program::RateKey::kIdentity); }

  /// Returns what tells its keys from others: the same on all machines.
  std::uint64_t identity() const { return identity_; }
  /// Returns the hash of the request's values. `client`: null where nobody is verified; all requests have one claim and
  /// one identity then (fails closed: what is not verified anybody may write).
  std::uint64_t hash(const PolicyRequest& policy_request, const VerifiedClient* client, std::uint64_t seed) const;

 private:
  struct Part {
    program::RateKey key;
    std::string name;
  };
  static std::uint64_t hash_part(const Part& part, const PolicyRequest& policy_request, const VerifiedClient* client,
                                 std::uint64_t hash);
  bool counts_by(program::RateKey key) const;

  std::uint64_t identity_;
  std::vector<Part> parts_;
};

}  // namespace edge::runtime
