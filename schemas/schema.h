// The schemas of all resource kinds: their fields (schemas/fields.h), and their properties for a cluster and the
// command line.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "schemas/fields.h"

namespace edge::schemas {

enum class ColumnType : std::uint8_t { kString, kInteger, kDate };

/// A column of `kubectl get` and `edgectl get` after NAMESPACE and NAME.
struct Column {
  std::string_view name;
  /// In kubectl's subset: fields and a filter on `type`. It can neither count nor join, so that such values are in the
  /// status.
  std::string_view json_path;
  ColumnType type = ColumnType::kString;
  /// Only with `-o wide`.
  bool wide = false;
};

/// For own kinds only: properties for a cluster and the command line.
struct Manifest {
  /// A paragraph on the kind's purpose.
  std::string_view text;
  /// Names for `edgectl get` in addition to the kind's own; the last is the short name.
  std::span<const std::string_view> aliases;
  std::span<const Column> columns;
  const Object* status;
  /// A valid resource, in YAML.
  std::string_view example;

  constexpr std::string_view short_name() const { return aliases.back(); }
};

/// One kind of resource. `body` describes the fields other than apiVersion, kind and metadata.
struct Kind {
  std::string_view kind;
  std::string_view plural;
  std::string_view api_version;
  const Object* body;
  /// In the group of this project, not of Kubernetes.
  bool own = false;
  /// For own kinds.
  const Manifest* manifest = nullptr;
};

/// All kinds, by group and name.
std::span<const Kind> kinds();
/// nullptr when no group has this name.
const Kind* find_kind(std::string_view kind);
/// Finds an own kind by any of its names, case-insensitive: `ProxyRoute`, `proxyroutes`, `routes`, `rt`.
const Kind* find_own_kind(std::string_view name);
const Object& metadata();

extern const Object kProxyVip;
extern const Object kProxyGateway;
extern const Object kProxyRoute;
extern const Object kProxyBackend;
extern const Object kProxyPolicy;
extern const Object kCertificateIssuer;
extern const Object kEdgeCluster;
extern const Object kEdgeRemoteCluster;
extern const Object kSite;
extern const Object kWanLink;
extern const Object kWanPolicy;
extern const Object kService;
extern const Object kEndpointSlice;
extern const Object kEndpoints;
extern const Object kSecret;
extern const Object kReferenceGrant;
extern const Object kNamespace;
extern const Object kConfigMap;
extern const Object kGatewayClass;
extern const Object kGateway;
extern const Object kListenerSet;
extern const Object kHttpRoute;
extern const Object kGrpcRoute;
extern const Object kTlsRoute;
extern const Object kTcpRoute;
extern const Object kUdpRoute;
extern const Object kServiceExport;
extern const Object kServiceImport;
extern const Object kBackendTlsPolicy;
extern const Object kIngress;
extern const Object kIngressClass;

extern const Manifest kProxyVipManifest;
extern const Manifest kProxyGatewayManifest;
extern const Manifest kProxyRouteManifest;
extern const Manifest kProxyBackendManifest;
extern const Manifest kProxyPolicyManifest;
extern const Manifest kCertificateIssuerManifest;
extern const Manifest kEdgeClusterManifest;
extern const Manifest kEdgeRemoteClusterManifest;
extern const Manifest kSiteManifest;
extern const Manifest kWanLinkManifest;
extern const Manifest kWanPolicyManifest;

}  // namespace edge::schemas
