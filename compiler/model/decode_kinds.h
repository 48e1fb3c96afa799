// One decoder per kind, from validated fields. Checks what no schema can express (fields that exclude or require each
// other).
#pragma once

#include "compiler/model/fields.h"
#include "compiler/model/resource_set.h"
#include "compiler/model/validate.h"

namespace edge::compiler::model {

/// `root` is the whole resource. An error sets the report's flag; the result must then not be used.
ProxyVip decode_vip(const Fields& root, Metadata metadata, Report& report);
ProxyGateway decode_gateway(const Fields& root, Metadata metadata, Report& report);
ProxyRoute decode_route(const Fields& root, Metadata metadata, Report& report);
ProxyBackend decode_backend(const Fields& root, Metadata metadata, Report& report);
/// One for each target.
std::vector<ProxyPolicy> decode_policy(const Fields& root, Metadata metadata, Report& report);
/// Of a ProxyPolicy's `clientCertificate`.
ClientCertificate decode_client_certificate(const Fields& own);
void check_client_certificate(const Fields& own, Report& report);
/// Of a ProxyPolicy's `requestFilter`.
RequestFilter decode_request_filter(const Fields& own);
void check_request_filter(const Fields& own, Span span, Report& report);
EdgeCluster decode_edge_cluster(const Fields& root, Metadata metadata, Report& report);
EdgeRemoteCluster decode_remote_cluster(const Fields& root, Metadata metadata, Report& report);
CertificateIssuer decode_certificate_issuer(const Fields& root, Metadata metadata, Report& report);
/// Of a CertificateIssuer's spec, or of a listener's `tls.acme`.
IssuerSpec decode_issuer_spec(const Fields& spec);
Site decode_site(const Fields& root, Metadata metadata, Report& report);
WanLink decode_wan_link(const Fields& root, Metadata metadata, Report& report);
WanPolicy decode_wan_policy(const Fields& root, Metadata metadata, Report& report);
Service decode_service(const Fields& root, Metadata metadata);
EndpointSlice decode_slice(const Fields& root, Metadata metadata, Report& report);
std::vector<EndpointSlice> decode_endpoints(const Fields& root, const Metadata& metadata, Report& report);
/// nullopt: absent.
std::optional<Bgp> decode_bgp(const Fields& bgp, Report& report);
Secret decode_secret(const Fields& root, Metadata metadata, Report& report);
ReferenceGrant decode_grant(const Fields& root, Metadata metadata);
GatewayClass decode_gateway_class(const Fields& root, Metadata metadata);
Gateway decode_api_gateway(const Fields& root, Metadata metadata, Report& report);
ListenerSet decode_listener_set(const Fields& root, Metadata metadata, Report& report);
/// HTTPRoute, GRPCRoute, TLSRoute, TCPRoute and UDPRoute.
ApiRoute decode_api_route(const Fields& root, Metadata metadata, Report& report);
/// As a route of the Service of its name, which translating gives a rule for each port.
ApiRoute decode_service_export(Metadata metadata);
ServiceImport decode_service_import(const Fields& root, Metadata metadata);
BackendTlsPolicy decode_backend_tls_policy(const Fields& root, Metadata metadata);
Ingress decode_ingress(const Fields& root, Metadata metadata, Report& report);
IngressClass decode_ingress_class(const Fields& root, Metadata metadata);
Namespace decode_namespace(const Fields& root, Metadata metadata);
ConfigMap decode_config_map(const Fields& root, Metadata metadata);

/// `policy` on each target that its spec names.
std::vector<ProxyPolicy> on_targets(const Fields& spec, const ProxyPolicy& policy, Report& report);
/// The same of an invalid policy: on those that are readable.
std::vector<ProxyPolicy> salvaged_on_targets(yaml::Node spec, const ProxyPolicy& policy);
inline constexpr std::size_t kMostPolicyTargets = 16;  ///< `spec.targetRefs`, schemas/proxy_policy.cc
/// An invalid policy without its settings, on those of its targets that are readable.
std::vector<ProxyPolicy> salvage_policy(const Fields& root, Metadata metadata);
/// Takes the settings from a policy of `root` that turned out to be invalid.
void drop_settings(const Fields& root, ProxyPolicy& policy);
/// Returns the target Services of an invalid policy, if readable. It has no CA, so that no certificate is trusted:
/// requests to them are answered 500 instead of sent in plain text.
std::optional<BackendTlsPolicy> salvage_backend_tls_policy(const Fields& root, Metadata metadata);

}  // namespace edge::compiler::model
