#include "runtime/policy/policies.h"

#include <algorithm>
#include <map>

#include "program/format/records.h"
#include "runtime/policy/cors.h"
#include "runtime/policy/error_pages.h"
#include "runtime/policy/fixed_response.h"
#include "runtime/policy/ip_access.h"
#include "runtime/policy/maintenance.h"
#include "runtime/policy/rate_limit_counts.h"
#include "runtime/policy/security_headers.h"

namespace edge::runtime {

using program::PolicyRecord;
using program::PolicyType;

namespace {

constexpr bool authenticates(PolicyType type) {
  return type == PolicyType::kBasicAuth || type == PolicyType::kApiKey || type == PolicyType::kJwt ||
         type == PolicyType::kOidc || type == PolicyType::kForwardAuth;
}

}  // namespace

namespace {

struct RateLimitPolicy {
  std::vector<RateLimit> limits;
  std::shared_ptr<RateLimitTally> tally;
};

}  // namespace

struct Policies::Settings {
  /// One an entry of the section's arrays.
  std::vector<RateLimitPolicy> rate_limits;
  std::vector<Cors> cors;
  std::vector<SecurityHeaders> security_headers;
  std::vector<Maintenance> maintenances;
  std::vector<FixedResponse> fixed_responses;
  std::vector<ErrorPages> error_pages;

  Settings(const program::SectionView& section, RateLimitCounts* counts) {
    const auto& header = section.header<program::PoliciesHeader>();
    rate_limits.reserve(header.rate_limits.count);
    // Each belongs to one policy, whose identity its buckets have; the section may hold them in any order.
    std::vector<const PolicyRecord*> owners(header.rate_limits.count, nullptr);
    for (const PolicyRecord& policy : section.array(header.policies)) {
      if (policy.type == PolicyType::kRateLimit && policy.settings != program::kNone) owners[policy.settings] = &policy;
    }
    const auto limits = section.array(header.rate_limits);
    static constexpr PolicyRecord kNobodys{};
    for (std::size_t i = 0; i < limits.size(); ++i) {
      const PolicyRecord& owner = owners[i] == nullptr ? kNobodys : *owners[i];
      RateLimitPolicy& policy = rate_limits.emplace_back();
      for (const program::RateRecord& limit : section.array(limits[i].limits)) {
        policy.limits.emplace_back(section, owner, limit);
      }
      if (counts == nullptr || owners[i] == nullptr) continue;
      policy.tally =
          counts->of(std::string(section.string(owner.name_space)) + "/" + std::string(section.string(owner.name)));
    }
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
  }
};

Policies::Policies(const LoadedProgram& program, RateLimitCounts* counts) : chains_(1), hosts_(program.hosts().data()) {
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

namespace {

/// Limits that count by what authentication finds out are applied behind it: behind the token for a claim, and behind
/// all for who the client is. Where nobody finds it out they stay, each with one bucket.
void defer_limits(PolicyChain& chain) {
  const auto verifies = [](const AuthStep& step) { return step.type == PolicyType::kJwt; };
  const auto token = std::ranges::find_if(chain.authentication, verifies);
  const bool verified = token != chain.authentication.end();
  const auto stays = [&](const RateLimit* limit) {
    return !(verified && limit->by_claim()) && !(!chain.authentication.empty() && limit->by_identity());
  };
  std::vector<const RateLimit*>& limits = chain.limits.limits;
  const auto later = std::ranges::stable_partition(limits, stays);
  if (later.empty()) return;
  chain.late_limits = {{later.begin(), later.end()}, chain.limits.tally};
  limits.erase(later.begin(), later.end());
  const bool by_identity = std::ranges::any_of(chain.late_limits.limits, &RateLimit::by_identity);
  chain.late_after =
      by_identity ? chain.authentication.size() : static_cast<std::size_t>(token - chain.authentication.begin()) + 1;
  if (limits.empty()) {
    std::erase_if(chain.steps, [](const PolicyStep& step) { return step.type == PolicyType::kRateLimit; });
  }
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
      case PolicyType::kFixedResponse:
        chain.fixed_response = &settings_->fixed_responses[policy->settings];
        break;
      case PolicyType::kErrorPages:
        chain.error_pages = &settings_->error_pages[policy->settings];
        continue;
      case PolicyType::kRateLimit: {
        const RateLimitPolicy& limit = settings_->rate_limits[policy->settings];
        for (const RateLimit& each : limit.limits) chain.limits.limits.push_back(&each);
        chain.limits.tally = limit.tally.get();
        break;
      }
      case PolicyType::kCors:
        step.cors = &settings_->cors[policy->settings];
        break;
      case PolicyType::kSecurityHeaders:
        step.security_headers = &settings_->security_headers[policy->settings];
        break;
      case PolicyType::kUnknown:
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
                                 const IpAccesses& accesses, RateLimitTable& table, AddedFields& added) {
  decorate(chain, policy_request, added);
  for (const PolicyStep& step : chain.steps) {
    std::optional<PolicyAnswer> answer;
    if (step.type == PolicyType::kIpAccess) answer = accesses.pass(step.settings, policy_request);
    if (step.maintenance != nullptr) answer = step.maintenance->pass(policy_request);
    if (step.type == PolicyType::kRateLimit) answer = chain.limits.pass(policy_request, nullptr, table);
    if (step.cors != nullptr) answer = step.cors->pass(policy_request);
    if (answer) return answer;
  }
  return std::nullopt;
}

}  // namespace edge::runtime
