// IPAccess: allows and denies clients by address. docs/ip-access.md.
#pragma once

#include <optional>
#include <vector>

#include "program/read.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime {

class IpAccess {
 public:
  IpAccess(const program::SectionView& policies, const program::IpAccessRecord& settings);

  /// Returns 403 for a client that the lists deny.
  std::optional<PolicyAnswer> pass(const PolicyRequest& policy_request) const;

 private:
  struct Range {
    IpAddress first;
    IpAddress last;
  };
  /// Ascending and disjoint, so that a lookup is a binary search for any number of blocks.
  using Ranges = std::vector<Range>;
  static Ranges ranges_of(std::span<const program::CidrRecord> blocks);
  static bool among(const Ranges& ranges, const IpAddress& address);

  Ranges allow_;
  Ranges deny_;
  bool everybody_;
};

}  // namespace edge::runtime
