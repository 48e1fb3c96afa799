// ResourceSet: every decoded resource, typed, as written. The second stage after SourceText.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/model/backend.h"
#include "compiler/model/cluster.h"
#include "compiler/model/edge_cluster.h"
#include "compiler/model/gateway.h"
#include "compiler/model/gateway_api.h"
#include "compiler/model/ingress.h"
#include "compiler/model/policy.h"
#include "compiler/model/route.h"
#include "compiler/model/wan.h"

namespace edge::compiler::model {

/// In the order in which they were read; including duplicates.
struct ResourceSet {
  std::vector<ProxyVip> vips{};
  std::vector<ProxyGateway> gateways{};
  std::vector<ProxyRoute> routes{};
  std::vector<ProxyBackend> backends{};
  std::vector<ProxyPolicy> policies{};
  std::vector<EdgeCluster> edge_clusters{};
  std::vector<EdgeRemoteCluster> remote_clusters{};
  std::vector<CertificateIssuer> certificate_issuers{};
  std::vector<Site> sites{};
  std::vector<WanLink> wan_links{};
  std::vector<WanPolicy> wan_policies{};
  std::vector<Service> services{};
  std::vector<EndpointSlice> slices{};
  std::vector<Secret> secrets{};
  std::vector<ReferenceGrant> grants{};
  // Kinds that translate/ converts to those above.
  std::vector<GatewayClass> gateway_classes{};
  std::vector<Gateway> api_gateways{};
  std::vector<ListenerSet> listener_sets{};
  std::vector<ApiRoute> api_routes{};
  std::vector<BackendTlsPolicy> backend_tls_policies{};
  std::vector<IngressClass> ingress_classes{};
  std::vector<Ingress> ingresses{};
  std::vector<Namespace> namespaces{};
  std::vector<ConfigMap> config_maps{};
  std::vector<ServiceImport> service_imports{};
  /// Those excluded because of errors, to distinguish a reference to one from a typo.
  std::vector<Metadata> refused{};
  /// Directories in which certificate files may be; nullopt: unknown to the reader of the resources.
  std::optional<std::vector<std::string>> certificate_directories{};
};

}  // namespace edge::compiler::model
