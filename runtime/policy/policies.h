// The policies of a program, and the chain that a request passes, in the order of rule D4.
//
// A policy is a function of its settings and the request. The set of types is closed: a chain is a list of steps,
// processed by a loop over a switch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/match/load.h"
#include "runtime/policy/added_fields.h"
#include "runtime/policy/concurrency_limit.h"
#include "runtime/policy/policy_request.h"
#include "runtime/policy/rate_limit.h"
#include "runtime/policy/rate_limit_table.h"

namespace edge::runtime {

class Cors;
class ErrorPages;
class FixedResponse;
class IpAccesses;
class Maintenance;
class RequestFilter;
class SecurityHeaders;

/// The counts of all limits of the process.
struct LimitTables {
  RateLimitTable& rates;
  ConcurrencyTable& concurrency;
  SharedLimits& shared;
};
/// How limits have decided, by policy.
struct LimitCounts {
  RateLimitCounts rates;
  RateLimitCounts concurrency;
  RateLimitCounts filters;
};

/// One policy in a chain. Of the pointers only the one of its type is set.
struct PolicyStep {
  program::PolicyType type = program::PolicyType::kUnknown;
  /// Of kIpAccess: index into the section's array; of kRateLimit and kConcurrencyLimit: into the chain's groups.
  std::uint32_t settings = program::kNone;
  const Maintenance* maintenance = nullptr;
  const RequestFilter* filter = nullptr;
  const Cors* cors = nullptr;
  const SecurityHeaders* security_headers = nullptr;
};

/// An authentication policy in a chain: it may have to wait, and is run separately (auth/authentication.h).
struct AuthStep {
  program::PolicyType type = program::PolicyType::kUnknown;
  /// Index into the section's array of the type; kNone: it cannot be enforced.
  std::uint32_t settings = program::kNone;
};

/// The policies for some treatments, in the order of rule D4.
struct PolicyChain {
  std::vector<PolicyStep> steps;
  std::vector<AuthStep> authentication;
  /// One a policy of type RateLimit or ConcurrencyLimit: its limits that are applied before authentication, in its
  /// step. Without limits, and a step: all are late.
  std::vector<RateLimitGroup> limits;
  std::vector<ConcurrencyGroup> concurrency;
  /// One a policy with limits that count by what authentication finds out: these are applied once `late_after` of its
  /// steps have passed.
  std::vector<RateLimitGroup> late_limits;
  std::vector<ConcurrencyGroup> late_concurrency;
  std::size_t late_after = 0;
  /// Those that look at bodies, once the client is authenticated.
  std::vector<const RequestFilter*> body_filters;
  /// A policy looks at fields, so that none behind the body reaches a backend.
  bool drops_trailers = false;
  /// Answers in place of a backend, once the client is authenticated; null: a backend answers. It has a step, too, so
  /// that the chain is not empty.
  const FixedResponse* fixed_response = nullptr;
  /// Bodies of the proxy's own answers; null: its usual texts.
  const ErrorPages* error_pages = nullptr;
  bool empty() const { return steps.empty() && authentication.empty(); }
  /// Whether something follows the steps, before a backend is chosen.
  bool waits() const { return !authentication.empty() || fixed_response != nullptr || !body_filters.empty(); }
};

/// The policies of a listener for requests that no rule takes.
struct NoRouteChain {
  const PolicyChain* chain = nullptr;  ///< null: there are none
  bool denied = false;                 ///< one that protects cannot be enforced
};

/// The policies of one program, which must outlive them. Immutable, shared by all threads.
class Policies {
 public:
  /// `counts`: counts the decisions of limits; null: not counted.
  explicit Policies(const LoadedProgram& program, LimitCounts* counts = nullptr);
  ~Policies();
  Policies(const Policies&) = delete;
  Policies& operator=(const Policies&) = delete;

  /// Returns the limits that agents share, by the numbers that they are known by.
  std::vector<std::pair<std::uint64_t, Rate>> shared_limits() const;

  /// Returns the chain of a treatment; mostly empty.
  const PolicyChain& chain(const LoadedHost& host, const program::TreatmentRecord& treatment) const {
    if (chain_of_treatment_.empty()) return chains_.front();
    const std::uint32_t first = first_treatment_[static_cast<std::size_t>(&host - hosts_)];
    return chains_[chain_of_treatment_[first + static_cast<std::size_t>(&treatment - host.treatments)]];
  }

  /// Of a listener of the program.
  NoRouteChain without_route(const LoadedListener& listener) const {
    return no_routes_.empty() ? NoRouteChain{} : no_routes_[static_cast<std::size_t>(&listener - listeners_)];
  }

 private:
  struct Settings;
  PolicyChain resolve(const LoadedProgram& program, std::span<const std::uint64_t> ids) const;

  std::unique_ptr<Settings> settings_;
  /// One per distinct list of policies; the first is empty.
  std::vector<PolicyChain> chains_;
  /// One per treatment of every host; empty when no treatment has a policy.
  std::vector<std::uint32_t> chain_of_treatment_;
  /// Index of the first treatment of each host; hosts in the order of the program.
  std::vector<std::uint32_t> first_treatment_;
  const LoadedHost* hosts_;
  const LoadedListener* listeners_ = nullptr;  ///< the first
  std::vector<NoRouteChain> no_routes_;        ///< by listener; empty where none has policies
};

/// Adds to a response what the policies of the chain add to every one, CORS and security headers.
void decorate(const PolicyChain& chain, const PolicyRequest& policy_request, AddedFields& added);

bool answers_preflight(const PolicyChain& chain);

/// Runs the chain without authentication. Returns an answer in place of the backend's, or nullopt: the request passes.
/// `added` then has the fields for the response in both cases: a page of another origin may read a refusal too. A
/// preflight is answered here, before authentication: browsers send no credentials with one (Fetch §3.2.2). `permit`
/// has the places that the request has taken in concurrency limits, and is to be kept until it ends.
std::optional<PolicyAnswer> pass(const PolicyChain& chain, const PolicyRequest& policy_request,
                                 const IpAccesses& accesses, LimitTables tables, AddedFields& added,
                                 std::optional<ConcurrencyPermit>& permit);

/// Applies what can be asked of a connection or of datagrams, its address, likewise.
std::optional<PolicyAnswer> pass_address(const PolicyChain& chain, const IpAddress& source, const IpAccesses& accesses);

/// Applies the late limits, likewise.
std::optional<PolicyAnswer> pass_late(const PolicyChain& chain, const PolicyRequest& policy_request,
                                      const VerifiedClient& client, LimitTables tables,
                                      std::optional<ConcurrencyPermit>& permit);

}  // namespace edge::runtime
