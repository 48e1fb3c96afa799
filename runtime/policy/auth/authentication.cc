#include "runtime/policy/auth/authentication.h"

#include <algorithm>
#include <utility>

#include "program/format/records.h"
#include "runtime/policy/auth/api_key/api_key_policy.h"
#include "runtime/policy/auth/basic/basic_auth.h"
#include "runtime/policy/auth/certificate/certificate_policy.h"
#include "runtime/policy/auth/forward/forward_auth.h"
#include "runtime/policy/auth/jwt/jwt_policy.h"
#include "runtime/policy/auth/oidc/oidc.h"
#include "runtime/policy/auth/stores.h"

namespace edge::runtime::auth {
namespace {

using program::PolicyRecord;
using program::PolicyType;

AuthResult unusable() {
  return AuthResult::fail("policy-unavailable", "A policy that protects this route cannot be enforced.");
}

template <typename Policy>
net::Task<AuthResult> ask_one(const std::vector<std::shared_ptr<const Policy>>& policies, std::uint32_t index,
                              const PolicyRequest& policy_request, const AuthContext& context) {
  if (index >= policies.size() || policies[index] == nullptr) return unusable();
  return policies[index]->ask(policy_request, context);
}

}  // namespace

/// Creates the policies of one type, each at the index of its record.
class AuthenticationBuilder {
 public:
  AuthenticationBuilder(const program::SectionView& section, const program::SecretSet& secrets, Stores& stores,
                        std::vector<std::string>& faults)
      : making_{section, secrets, stores}, faults_(faults) {}

  template <typename Policy, typename Record>
  void make(PolicyType type, program::ArrayRef<Record> records, std::vector<std::shared_ptr<const Policy>>& into) {
    const program::SectionView& section = making_.section;
    const auto settings = section.array(records);
    into.resize(settings.size());
    for (const PolicyRecord& policy : section.array(section.header<program::PoliciesHeader>().policies)) {
      if (policy.type != type || policy.settings == program::kNone) continue;
      auto made = Policy::make(making_, policy, settings[policy.settings]);
      const std::string name = "policy " + std::string(section.string(policy.name_space)) + "/" +
                               std::string(section.string(policy.name)) + ": ";
      if (!made.ok()) {
        faults_.push_back(name + made.error().text + "; what it protects is answered 503");
        continue;
      }
      into[policy.settings] = std::move(*made);
      // Parts of it that cannot be used, and keep out whom they name alone.
      if constexpr (requires { into[0]->faults(); }) {
        for (const std::string& fault : into[policy.settings]->faults()) faults_.push_back(name + fault);
      }
    }
  }

 private:
  PolicyContext making_;
  std::vector<std::string>& faults_;
};

std::shared_ptr<const Authentication> Authentication::make(const LoadedProgram& program,
                                                           const program::SecretSet& secrets, Stores& stores) {
  const program::SectionView& section = program.policies_section();
  const auto& header = section.header<program::PoliciesHeader>();
  std::shared_ptr<Authentication> made(new Authentication);
  AuthenticationBuilder builder(section, secrets, stores, made->faults_);
  builder.make(PolicyType::kBasicAuth, header.basic_auths, made->basic_auths_);
  builder.make(PolicyType::kClientCertificate, header.client_certificates, made->certificates_);
  builder.make(PolicyType::kApiKey, header.api_keys, made->api_keys_);
  builder.make(PolicyType::kJwt, header.jwts, made->jwts_);
  builder.make(PolicyType::kOidc, header.oidcs, made->oidcs_);
  builder.make(PolicyType::kForwardAuth, header.forward_auths, made->forward_auths_);
  const std::string* const key =
      secrets.find(program::kSessionSecretSpace, program::kSessionSecretName, program::kSessionSecretKey);
  if (key != nullptr) {
    if (auto keys = net::tls::SealingKeys::derive(*key, {})) made->affinity_keys_ = std::move(*keys);
  }
  const bool calls =
      std::ranges::any_of(made->forward_auths_, [](const auto& one) { return one != nullptr && one->secure(); });
  if (calls || header.jwts.count != 0 || header.oidcs.count != 0) made->authorities_ = stores.trust.authorities();
  return made;
}

Authentication::~Authentication() = default;

std::uint64_t Authentication::body_limit(const AuthStep& step) const {
  if (step.type != PolicyType::kForwardAuth || step.settings >= forward_auths_.size()) return 0;
  const auto& policy = forward_auths_[step.settings];
  return policy == nullptr ? 0 : policy->body_limit();
}

net::Task<AuthResult> Authentication::ask(const AuthStep& step, const PolicyRequest& policy_request,
                                          AuthContext context) const {
  switch (step.type) {
    case PolicyType::kBasicAuth:
      return ask_one(basic_auths_, step.settings, policy_request, context);
    case PolicyType::kClientCertificate:
      return ask_one(certificates_, step.settings, policy_request, context);
    case PolicyType::kApiKey:
      return ask_one(api_keys_, step.settings, policy_request, context);
    case PolicyType::kJwt:
      return ask_one(jwts_, step.settings, policy_request, context);
    case PolicyType::kForwardAuth:
      return ask_one(forward_auths_, step.settings, policy_request, context);
    case PolicyType::kOidc:
      return ask_one(oidcs_, step.settings, policy_request, context);
    case PolicyType::kUnknown:
    case PolicyType::kIpAccess:
    case PolicyType::kRequestFilter:
    case PolicyType::kRateLimit:
    case PolicyType::kConcurrencyLimit:
    case PolicyType::kCors:
    case PolicyType::kSecurityHeaders:
    case PolicyType::kMaintenance:
    case PolicyType::kFixedResponse:
    case PolicyType::kErrorPages:
      break;
  }
  return unusable();
}

}  // namespace edge::runtime::auth
