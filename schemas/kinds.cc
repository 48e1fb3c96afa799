#include <algorithm>

#include "base/text/ascii.h"
#include "schemas/schema.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kOwn = EDGE_API_GROUP "/v1alpha1";

constexpr Kind kKinds[] = {
    {"Endpoints", "endpoints", "v1", &kEndpoints},
    {"Secret", "secrets", "v1", &kSecret},
    {"Service", "services", "v1", &kService},
    {"EndpointSlice", "endpointslices", "discovery.k8s.io/v1", &kEndpointSlice},
    {"CertificateIssuer", "certificateissuers", kOwn, &kCertificateIssuer, true, &kCertificateIssuerManifest},
    {"EdgeCluster", "edgeclusters", kOwn, &kEdgeCluster, true, &kEdgeClusterManifest},
    {"EdgeRemoteCluster", "edgeremoteclusters", kOwn, &kEdgeRemoteCluster, true, &kEdgeRemoteClusterManifest},
    {"ProxyBackend", "proxybackends", kOwn, &kProxyBackend, true, &kProxyBackendManifest},
    {"ProxyGateway", "proxygateways", kOwn, &kProxyGateway, true, &kProxyGatewayManifest},
    {"ProxyPolicy", "proxypolicies", kOwn, &kProxyPolicy, true, &kProxyPolicyManifest},
    {"ProxyRoute", "proxyroutes", kOwn, &kProxyRoute, true, &kProxyRouteManifest},
    {"ProxyVIP", "proxyvips", kOwn, &kProxyVip, true, &kProxyVipManifest},
    {"Site", "sites", kOwn, &kSite, true, &kSiteManifest},
    {"WANLink", "wanlinks", kOwn, &kWanLink, true, &kWanLinkManifest},
    {"WANPolicy", "wanpolicies", kOwn, &kWanPolicy, true, &kWanPolicyManifest},
    {"ReferenceGrant", "referencegrants", "gateway.networking.k8s.io/v1beta1", &kReferenceGrant},
    {"ConfigMap", "configmaps", "v1", &kConfigMap},
    {"Namespace", "namespaces", "v1", &kNamespace},
    {"Ingress", "ingresses", "networking.k8s.io/v1", &kIngress},
    {"IngressClass", "ingressclasses", "networking.k8s.io/v1", &kIngressClass},
    {"BackendTLSPolicy", "backendtlspolicies", "gateway.networking.k8s.io/v1", &kBackendTlsPolicy},
    {"GRPCRoute", "grpcroutes", "gateway.networking.k8s.io/v1", &kGrpcRoute},
    {"Gateway", "gateways", "gateway.networking.k8s.io/v1", &kGateway},
    {"GatewayClass", "gatewayclasses", "gateway.networking.k8s.io/v1", &kGatewayClass},
    {"HTTPRoute", "httproutes", "gateway.networking.k8s.io/v1", &kHttpRoute},
    {"ListenerSet", "listenersets", "gateway.networking.k8s.io/v1", &kListenerSet},
    {"TCPRoute", "tcproutes", "gateway.networking.k8s.io/v1alpha2", &kTcpRoute},
    {"TLSRoute", "tlsroutes", "gateway.networking.k8s.io/v1", &kTlsRoute},
    {"UDPRoute", "udproutes", "gateway.networking.k8s.io/v1alpha2", &kUdpRoute},
    {"ServiceExport", "serviceexports", "multicluster.x-k8s.io/v1alpha1", &kServiceExport},
    {"ServiceImport", "serviceimports", "multicluster.x-k8s.io/v1alpha1", &kServiceImport},
};

constexpr Field kMetadataFields[] = {
    string("name", "Name, unique among the kind's in a namespace.").as(Format::kName).needed(),
    string("namespace", "Namespace.").as(Format::kNamespace).defaults_to("default"),
    string_map("labels", "Labels."),
    string_map("annotations", "Annotations."),
    string("creationTimestamp", "When it was created; the older of two wins (rule D1).").as(Format::kTimestamp),
};
// Open: an object read from a cluster carries uid, resourceVersion, managedFields and more.
constexpr Object kMetadata{kMetadataFields, true};

char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

const Kind* find_kind(std::string_view kind) {
  for (const Kind& candidate : kKinds) {
    if (candidate.kind == kind) return &candidate;
  }
  return nullptr;
}

const Kind* find_own_kind(std::string_view name) {
  const auto same = [name](std::string_view other) {
    return name.size() == other.size() && std::equal(name.begin(), name.end(), other.begin(),
                                                     [](char a, char b) { return ascii_lower(a) == ascii_lower(b); });
  };
  for (const Kind& kind : kKinds) {
    if (kind.manifest == nullptr) continue;
    if (same(kind.kind) || same(kind.plural)) return &kind;
    if (std::ranges::any_of(kind.manifest->aliases, same)) return &kind;
  }
  return nullptr;
}

const Object& metadata() { return kMetadata; }

}  // namespace edge::schemas
