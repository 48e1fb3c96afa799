// What stands before a route: the policies of a program, and those that a request passes, in the order of rule D4.
//
// A policy is a function of its settings and the request. The set of types is closed: a chain is a list of steps, and
// passing it a loop over a switch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/match/load.h"
#include "runtime/policy/added_fields.h"
#include "runtime/policy/asked.h"
#include "runtime/policy/rate_limit_table.h"

namespace edge::runtime {

class Cors;
class RateLimit;
class SecurityHeaders;

/// One policy that a request passes. Of the pointers the one of its type is set.
struct PolicyStep {
  program::PolicyType type = program::PolicyType::kUnknown;
  const RateLimit* rate_limit = nullptr;
  const Cors* cors = nullptr;
  const SecurityHeaders* security_headers = nullptr;
};

/// The policies of one program, which must live as long. Immutable, and shared by all threads.
class Policies {
 public:
  explicit Policies(const LoadedProgram& program);
  ~Policies();
  Policies(const Policies&) = delete;
  Policies& operator=(const Policies&) = delete;

  /// Empty for most.
  std::span<const PolicyStep> chain(const LoadedHost& host, const program::TrafficRecord& traffic) const {
    if (chain_of_traffic_.empty()) return {};
    const std::uint32_t first = first_traffic_[static_cast<std::size_t>(&host - hosts_)];
    return chains_[chain_of_traffic_[first + static_cast<std::size_t>(&traffic - host.traffics)]];
  }

 private:
  struct Settings;
  std::vector<PolicyStep> resolve(const LoadedProgram& program, std::span<const std::uint64_t> ids) const;

  std::unique_ptr<Settings> settings_;
  /// One for each list of policies that some traffic names; the first is empty.
  std::vector<std::vector<PolicyStep>> chains_;
  /// One an entry of every host's traffics; empty when no traffic names a policy.
  std::vector<std::uint32_t> chain_of_traffic_;
  /// Where the entries of a host begin; hosts in the order of the program's.
  std::vector<std::uint32_t> first_traffic_;
  const LoadedHost* hosts_;
};

bool answers_preflight(std::span<const PolicyStep> chain);

/// An answer in place of the backend's, or nullopt: the request passes. Either way `added` then holds what the response
/// gets: a page of another origin may read a refusal too.
std::optional<PolicyAnswer> pass(std::span<const PolicyStep> chain, const Asked& asked, RateLimitTable& table,
                                 AddedFields& added);

}  // namespace edge::runtime
