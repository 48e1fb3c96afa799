// Maintenance: answers 503 in place of a backend, but for requests that it excepts. docs/maintenance.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "program/read.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime {

/// Views point into the program's section, which must outlive it.
class Maintenance {
 public:
  Maintenance(const program::SectionView& policies, const program::MaintenanceRecord& settings);

  /// Returns 503 for a request that is not excepted. Linear in the exceptions.
  std::optional<PolicyAnswer> pass(const PolicyRequest& policy_request) const;

 private:
  bool excepts(const PolicyRequest& policy_request) const;

  bool enabled_;
  std::string fields_;
  std::string_view body_;
  std::vector<Cidr> addresses_;
  struct Except {
    std::string_view name;
    std::string_view value;
  };
  std::vector<Except> headers_;
};

}  // namespace edge::runtime
