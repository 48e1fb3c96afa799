#include "program/dump/policy_type_text.h"

namespace edge::program {

std::string_view policy_type_text(PolicyType type) {
  switch (type) {
    case PolicyType::kUnknown:
      break;
    case PolicyType::kIpAccess:
      return "IPAccess";
    case PolicyType::kRateLimit:
      return "RateLimit";
    case PolicyType::kConcurrencyLimit:
      return "ConcurrencyLimit";
    case PolicyType::kRequestFilter:
      return "RequestFilter";
    case PolicyType::kClientCertificate:
      return "ClientCertificate";
    case PolicyType::kBasicAuth:
      return "BasicAuth";
    case PolicyType::kApiKey:
      return "APIKey";
    case PolicyType::kJwt:
      return "JWT";
    case PolicyType::kOidc:
      return "OIDC";
    case PolicyType::kForwardAuth:
      return "ForwardAuth";
    case PolicyType::kCors:
      return "CORS";
    case PolicyType::kSecurityHeaders:
      return "SecurityHeaders";
    case PolicyType::kMaintenance:
      return "Maintenance";
    case PolicyType::kFixedResponse:
      return "FixedResponse";
    case PolicyType::kErrorPages:
      return "ErrorPages";
  }
  return "?";
}

}  // namespace edge::program
