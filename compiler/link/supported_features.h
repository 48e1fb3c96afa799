// What a GatewayClass of ours says of itself in status.supportedFeatures: the features of Gateway API, by their
// official names, whose official tests pass (docs/conformance) and are held by a case of ours. docs/gateway-api.md has
// the table of tests; a test holds the three together.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace edge::compiler::link {

/// Sorted, as the specification asks.
inline constexpr std::array<std::string_view, 48> kSupportedFeatures = {
    "BackendTLSPolicy",
    "BackendTLSPolicySANValidation",
    "GRPCRoute",
    "GRPCRouteNamedRouteRule",
    "Gateway",
    "GatewayAddressEmpty",
    "GatewayBackendClientCertificate",
    "GatewayFrontendClientCertificateValidation",
    "GatewayFrontendClientCertificateValidationInsecureFallback",
    "GatewayHTTPListenerIsolation",
    "GatewayHTTPSListenerDetectMisdirectedRequests",
    "GatewayInfrastructure",
    "GatewayPort8080",
    "GatewayStaticAddresses",
    "HTTPRoute",
    "HTTPRoute303RedirectStatusCode",
    "HTTPRoute307RedirectStatusCode",
    "HTTPRoute308RedirectStatusCode",
    "HTTPRouteBackendProtocolH2C",
    "HTTPRouteBackendProtocolWebSocket",
    "HTTPRouteBackendRequestHeaderModification",
    "HTTPRouteBackendTimeout",
    "HTTPRouteCORS",
    "HTTPRouteDestinationPortMatching",
    "HTTPRouteHostRewrite",
    "HTTPRouteMethodMatching",
    "HTTPRouteNamedRouteRule",
    "HTTPRouteParentRefPort",
    "HTTPRoutePathRedirect",
    "HTTPRoutePathRewrite",
    "HTTPRoutePortRedirect",
    "HTTPRouteQueryParamMatching",
    "HTTPRouteRequestMirror",
    "HTTPRouteRequestMultipleMirrors",
    "HTTPRouteRequestPercentageMirror",
    "HTTPRouteRequestTimeout",
    "HTTPRouteResponseHeaderModification",
    "HTTPRouteRetry",
    "HTTPRouteRetryBackendTimeout",
    "HTTPRouteRetryConnectionError",
    "HTTPRouteSchemeRedirect",
    "ListenerSet",
    "ReferenceGrant",
    "TCPRoute",
    "TLSRoute",
    "TLSRouteModeMixed",
    "TLSRouteModeTerminate",
    "UDPRoute",
};

/// A profile of the official tests, and the kind without which it is not claimed.
struct ConformanceProfile {
  std::string_view name;
  std::string_view route;
};
inline constexpr std::array<ConformanceProfile, 5> kConformanceProfiles = {{{"GATEWAY-GRPC", "GRPCRoute"},
                                                                            {"GATEWAY-HTTP", "HTTPRoute"},
                                                                            {"GATEWAY-TCP", "TCPRoute"},
                                                                            {"GATEWAY-TLS", "TLSRoute"},
                                                                            {"GATEWAY-UDP", "UDPRoute"}}};

constexpr bool is_supported(std::string_view feature) {
  return std::ranges::binary_search(kSupportedFeatures, feature);
}

}  // namespace edge::compiler::link
