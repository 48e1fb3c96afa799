#include "runtime/policy/policies.h"

#include <algorithm>
#include <map>
#include <utility>

#include "program/format/records.h"
#include "runtime/policy/cors.h"
#include "runtime/policy/error_pages.h"
#include "runtime/policy/fixed_response.h"
#include "runtime/policy/ip_access.h"
#include "runtime/policy/maintenance.h"
#include "runtime/policy/rate_limit_counts.h"
#include "runtime/policy/request_filter.h"
#include "runtime/policy/security_headers.h"

namespace edge::runtime {

using program::PolicyRecord;
using program::PolicyType;

namespace {

constexpr bool authenticates(PolicyType type) {
  return type == PolicyType::kBasicAuth || type == PolicyType::kApiKey || type == PolicyType::kJwt ||
         type == PolicyType::kOidc || type == PolicyType::kForwardAuth || type == PolicyType::kClientCertificate;
}

}  // namespace

namespace {

/// The limits of one policy, and who counts what they decide.
template <typename Limit>
struct LimitPolicy {
  std::vector<Limit> limits;
  int status = 429;
  std::shared_ptr<RateLimitTally> tally;
};

/// Of each record of a type the policy that it belongs to, whose identity its counts have; the section may hold the
/// records in any order. Null: it is nobody's.
std::vector<const PolicyRecord*> owners_of(const program::SectionView& section, PolicyType type, std::size_t records) {
  std::vector<const PolicyRecord*> owners(records, nullptr);
  for (const PolicyRecord& policy : section.array(section.header<program::PoliciesHeader>().policies)) {
    if (policy.type == type && policy.settings != program::kNone) owners[policy.settings] = &policy;
  }
  return owners;
}

std::string name_of(const program::SectionView& section, const PolicyRecord& policy) {
  return std::string(section.string(policy.name_space)) + "/" + std::string(section.string(policy.name));
}

template <typename Limit, typename Record>
std::vector<LimitPolicy<Limit>> limits_of(const program::SectionView& section, PolicyType type,
                                          program::ArrayRef<Record> records, RateLimitCounts* counts) {
  static constexpr PolicyRecord kNobodys{};
  const std::vector<const PolicyRecord*> owners = owners_of(section, type, records.count);
  std::vector<LimitPolicy<Limit>> policies;
  for (const Record& record : section.array(records)) {
    const PolicyRecord* const owner = owners[policies.size()];
    LimitPolicy<Limit>& policy = policies.emplace_back();
    for (const auto& limit : section.array(record.limits)) {
      if constexpr (requires { record.shared; }) {
        policy.limits.emplace_back(section, owner == nullptr ? kNobodys : *owner, limit, record.shared != 0);
      } else {
        policy.limits.emplace_back(section, owner == nullptr ? kNobodys : *owner, limit);
      }
    }
    if constexpr (requires { record.status; }) policy.status = static_cast<int>(record.status);
    if (counts == nullptr || owner == nullptr) continue;
    policy.tally = counts->of(name_of(section, *owner));
  }
  return policies;
}

}  // namespace

struct Policies::Settings {
  /// One an entry of the section's arrays.
  std::vector<LimitPolicy<RateLimit>> rate_limits;
  std::vector<LimitPolicy<ConcurrencyLimit>> concurrency_limits;
  std::vector<Cors> cors;
  std::vector<SecurityHeaders> security_headers;
  std::vector<Maintenance> maintenances;
  std::vector<FixedResponse> fixed_responses;
  std::vector<ErrorPages> error_pages;
  std::vector<RequestFilter> filters;

  Settings(const program::SectionView& section, LimitCounts* counts) {
    const auto& header = section.header<program::PoliciesHeader>();
    rate_limits = limits_of<RateLimit>(section, PolicyType::kRateLimit, header.rate_limits,
                                       counts == nullptr ? nullptr : &counts->rates);
    concurrency_limits = limits_of<ConcurrencyLimit>(section, PolicyType::kConcurrencyLimit, header.concurrency_limits,
                                                     counts == nullptr ? nullptr : &counts->concurrency);
    cors.reserve(header.cors.count);
    for (const program::CorsRecord& record : section.array(header.cors)) cors.emplace_back(section, record);
    security_headers.reserve(header.security_headers.count);
    for (const program::SecurityHeadersRecord& record : section.array(header.security_headers)) {
      security_headers.emplace_back(section, record);
    }
    for (const program::MaintenanceRecord& record : section.array(header.maintenances)) {
      maintenances.emplace_back(section, record);
    }
    for (const program::FixedResponseRecord& record : section.array(header.fixed_responses)) {
      fixed_responses.emplace_back(section, record);
    }
    for (const program::ErrorPagesRecord& record : section.array(header.error_pages)) {
      error_pages.emplace_back(section, record);
    }
    const auto owners = owners_of(section, PolicyType::kRequestFilter, header.request_filters.count);
    for (const program::RequestFilterRecord& record : section.array(header.request_filters)) {
      const PolicyRecord* const owner = owners[filters.size()];
      filters.emplace_back(
          section, record,
          counts == nullptr || owner == nullptr ? nullptr : counts->filters.of(name_of(section, *owner)));
    }
  }
};

Policies::Policies(const LoadedProgram& program, LimitCounts* counts) : chains_(1), hosts_(program.hosts().data()) {
  const program::SectionView& section = program.policies_section();
  if (section.header<program::PoliciesHeader>().policies.count == 0) return;
  settings_ = std::make_unique<Settings>(section, counts);
  // Few lists are told apart, however many routes there are.
  std::map<std::vector<std::uint64_t>, std::uint32_t> known = {{{}, 0}};
  const auto number_of = [&](std::span<const std::uint64_t> ids) {
    const auto [position, added] =
        known.emplace(std::vector(ids.begin(), ids.end()), static_cast<std::uint32_t>(chains_.size()));
    if (added) chains_.push_back(resolve(program, ids));
    return position->second;
  };
  std::vector<std::uint32_t> of_treatment;
  first_treatment_.reserve(program.hosts().size());
  for (const LoadedHost& host : program.hosts()) {
    first_treatment_.push_back(static_cast<std::uint32_t>(of_treatment.size()));
    for (const program::TreatmentRecord& treatment : host.view.array(host.header->treatments)) {
      of_treatment.push_back(0);
      const auto ids = host.view.array(treatment.policies);
      if (!ids.empty()) of_treatment.back() = number_of(ids);
    }
  }
  if (chains_.size() > 1) chain_of_treatment_ = std::move(of_treatment);
  const auto no_routes = section.array(section.header<program::PoliciesHeader>().no_routes);
  if (no_routes.empty()) return;
  std::vector<std::uint32_t> of_no_route;
  for (const program::NoRouteRecord& record : no_routes)
    of_no_route.push_back(number_of(section.array(record.policies)));
  // No chain moves any more.
  listeners_ = &program.listener(0);
  no_routes_.resize(program.listener_count());
  for (std::size_t i = 0; i < no_routes.size(); ++i) {
    if (no_routes[i].listener >= no_routes_.size()) continue;
    no_routes_[no_routes[i].listener] = {&chains_[of_no_route[i]], no_routes[i].denied != 0};
  }
}

Policies::~Policies() = default;

std::vector<std::pair<std::uint64_t, Rate>> Policies::shared_limits() const {
  std::vector<std::pair<std::uint64_t, Rate>> shared;
  if (settings_ == nullptr) return shared;
  for (const auto& policy : settings_->rate_limits) {
    for (const RateLimit& limit : policy.limits) {
      if (limit.shared()) shared.emplace_back(limit.key().identity(), limit.rate());
    }
  }
  return shared;
}

namespace {

/// What authentication finds out about a request's client.
struct FindsOut {
  bool claims = false;
  bool identity = false;
};

/// Moves what counts by what authentication finds out from the limits of each group to a late group of its own.
template <typename Group>
void defer(std::vector<Group>& groups, std::vector<Group>& late, FindsOut finds_out) {
  const auto stays = [&](const auto* limit) {
    return !(finds_out.claims && limit->key().by_claim()) && !(finds_out.identity && limit->key().by_identity());
  };
  for (Group& group : groups) {
    const auto later = std::ranges::stable_partition(group.limits, stays);
    if (later.empty()) continue;
    Group& behind = late.emplace_back(group);
    behind.limits.assign(later.begin(), later.end());
    group.limits.erase(later.begin(), later.end());
    // A request is counted once, where the last of the policy's limits has let it pass.
    group.counts_passes = false;
  }
}

template <typename Group>
bool by_identity(const std::vector<Group>& groups) {
  return std::ranges::any_of(groups, [](const Group& group) {
    return std::ranges::any_of(group.limits, [](const auto* limit) { return limit->key().by_identity(); });
  });
}

/// Limits that count by what authentication finds out are applied behind it: behind the token for a claim, and behind
/// all for who the client is. Where nobody finds it out they stay, each with one bucket.
void defer_limits(PolicyChain& chain) {
  const auto is_jwt = [](const AuthStep& step) { return step.type == PolicyType::kJwt; };
  const auto token = std::ranges::find_if(chain.authentication, is_jwt);
  const FindsOut finds_out{.claims = token != chain.authentication.end(), .identity = !chain.authentication.empty()};
  defer(chain.limits, chain.late_limits, finds_out);
  defer(chain.concurrency, chain.late_concurrency, finds_out);
  std::erase_if(chain.steps, [&](const PolicyStep& step) {
    return (step.type == PolicyType::kRateLimit && chain.limits[step.settings].limits.empty()) ||
           (step.type == PolicyType::kConcurrencyLimit && chain.concurrency[step.settings].limits.empty());
  });
  if (by_identity(chain.late_limits) || by_identity(chain.late_concurrency)) {
    chain.late_after = chain.authentication.size();
  } else if (!chain.late_limits.empty() || !chain.late_concurrency.empty()) {
    chain.late_after = static_cast<std::size_t>(token - chain.authentication.begin()) + 1;
  }
}

template <typename Group, typename Policy>
void fill(Group& group, const Policy& policy) {
  for (const auto& limit : policy.limits) group.limits.push_back(&limit);
  group.status = policy.status;
  group.tally = policy.tally.get();
}

}  // namespace

PolicyChain Policies::resolve(const LoadedProgram& program, std::span<const std::uint64_t> ids) const {
  PolicyChain chain;
  for (const std::uint64_t id : ids) {
    const PolicyRecord* const policy = program::find_policy(program.policies_section(), id);
    if (policy != nullptr && authenticates(policy->type)) {
      chain.authentication.push_back({policy->type, policy->settings});
      continue;
    }
    // Without settings: the compiler has denied the traffic where it protects.
    if (policy == nullptr || policy->settings == program::kNone) continue;
    PolicyStep step{.type = policy->type};
    switch (policy->type) {
      case PolicyType::kIpAccess:
        step.settings = policy->settings;
        break;
      case PolicyType::kMaintenance:
        step.maintenance = &settings_->maintenances[policy->settings];
        break;
      case PolicyType::kRequestFilter:
        step.filter = &settings_->filters[policy->settings];
        if (step.filter->inspected() != 0) chain.body_filters.push_back(step.filter);
        chain.drops_trailers |= step.filter->limits_fields();
        break;
      case PolicyType::kFixedResponse:
        // A filter's is behind those of the policies that protect, and does not replace them.
        if (chain.fixed_response == nullptr) chain.fixed_response = &settings_->fixed_responses[policy->settings];
        break;
      case PolicyType::kErrorPages:
        chain.error_pages = &settings_->error_pages[policy->settings];
        continue;
      case PolicyType::kRateLimit:
        step.settings = static_cast<std::uint32_t>(chain.limits.size());
        fill(chain.limits.emplace_back(), settings_->rate_limits[policy->settings]);
        break;
      case PolicyType::kConcurrencyLimit:
        step.settings = static_cast<std::uint32_t>(chain.concurrency.size());
        fill(chain.concurrency.emplace_back(), settings_->concurrency_limits[policy->settings]);
        break;
      case PolicyType::kCors:
        step.cors = &settings_->cors[policy->settings];
        break;
      case PolicyType::kSecurityHeaders:
        step.security_headers = &settings_->security_headers[policy->settings];
        break;
      case PolicyType::kUnknown:
      case PolicyType::kClientCertificate:
      case PolicyType::kBasicAuth:
      case PolicyType::kApiKey:
      case PolicyType::kJwt:
      case PolicyType::kOidc:
      case PolicyType::kForwardAuth:
        continue;
    }
    chain.steps.push_back(step);
  }
  defer_limits(chain);
  return chain;
}

namespace {

/// The method that a request is judged by: of a preflight that the chain answers, the one that it asks about.
std::string_view judged_method(const PolicyChain& chain, const net::http1::RequestHead& head) {
  const std::string_view asked_for = preflight_method(head);
  return asked_for.empty() || !answers_preflight(chain) ? head.method_text : asked_for;
}

}  // namespace

bool answers_preflight(const PolicyChain& chain) {
  return std::ranges::any_of(chain.steps, [](const PolicyStep& step) { return step.type == PolicyType::kCors; });
}

void decorate(const PolicyChain& chain, const PolicyRequest& policy_request, AddedFields& added) {
  for (const PolicyStep& step : chain.steps) {
    if (step.cors != nullptr) step.cors->decorate(policy_request, added);
    if (step.security_headers != nullptr) step.security_headers->decorate(policy_request, added);
  }
}

std::optional<PolicyAnswer> pass(const PolicyChain& chain, const PolicyRequest& policy_request,
                                 const IpAccesses& accesses, LimitTables tables, AddedFields& added,
                                 std::optional<ConcurrencyPermit>& permit) {
  decorate(chain, policy_request, added);
  for (const PolicyStep& step : chain.steps) {
    std::optional<PolicyAnswer> answer;
    if (step.type == PolicyType::kIpAccess) answer = accesses.pass(step.settings, policy_request);
    if (step.maintenance != nullptr) answer = step.maintenance->pass(policy_request);
    if (step.filter != nullptr) answer = step.filter->pass(policy_request, judged_method(chain, policy_request.head));
    if (step.type == PolicyType::kRateLimit) {
      answer = chain.limits[step.settings].pass(policy_request, nullptr, tables.rates, &tables.shared);
    }
    if (step.type == PolicyType::kConcurrencyLimit) {
      answer = chain.concurrency[step.settings].pass(policy_request, nullptr, tables.concurrency, permit);
    }
    if (step.cors != nullptr) answer = step.cors->pass(policy_request);
    // The policy's own: it replaces what others say of CORS.
    if (answer && step.cors != nullptr) added.append(std::exchange(answer->fields, {}));
    if (answer) return answer;
  }
  return std::nullopt;
}

std::optional<PolicyAnswer> pass_address(const PolicyChain& chain, const IpAddress& source,
                                         const IpAccesses& accesses) {
  for (const PolicyStep& step : chain.steps) {
    if (step.type != PolicyType::kIpAccess) continue;
    if (auto answer = accesses.pass(step.settings, source)) return answer;
  }
  return std::nullopt;
}

std::optional<PolicyAnswer> pass_late(const PolicyChain& chain, const PolicyRequest& policy_request,
                                      const VerifiedClient& client, LimitTables tables,
                                      std::optional<ConcurrencyPermit>& permit) {
  for (const RateLimitGroup& group : chain.late_limits) {
    if (auto answer = group.pass(policy_request, &client, tables.rates, &tables.shared)) return answer;
  }
  for (const ConcurrencyGroup& group : chain.late_concurrency) {
    if (auto answer = group.pass(policy_request, &client, tables.concurrency, permit)) return answer;
  }
  return std::nullopt;
}

}  // namespace edge::runtime
