// The Kubernetes kinds that a configuration refers to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ip.h"
#include "compiler/model/backend.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::model {

struct ServicePort {
  std::string name{};
  std::uint16_t port = 0;
  /// By number or name; neither: the same as `port`.
  PortRef target{};
  /// appProtocol; empty when not given.
  std::string protocol{};
};

struct Service {
  Metadata metadata;
  /// `spec.trafficDistribution` asks for endpoints of the same zone.
  bool prefers_zone = false;
  std::vector<ServicePort> ports{};  ///< of TCP
  std::vector<ServicePort> udp_ports{};
};

/// multicluster.x-k8s.io ServiceImport: a Service of its name in every cluster that exports it.
struct ServiceImport {
  Metadata metadata;
  std::vector<ServicePort> ports{};  ///< of TCP; empty: any
};

struct EndpointAddress {
  IpAddress address{};
  bool ready = true;
  std::string zone{};                    ///< where it is
  std::vector<std::string> for_zones{};  ///< its hints
};

struct EndpointPort {
  std::string name{};
  std::uint16_t port = 0;
};

/// An EndpointSlice, or a subset of an Endpoints object.
struct EndpointSlice {
  Metadata metadata;
  /// Label kubernetes.io/service-name, or the name of the Endpoints object.
  std::string service{};
  std::vector<EndpointAddress> addresses{};
  std::vector<EndpointPort> ports{};  ///< of TCP
  std::vector<EndpointPort> udp_ports{};
};

struct SecretEntry {
  std::string key{};
  std::size_t size = 0;  ///< of the value, decoded
  /// To be sent as a value only: never printed, dumped or compared.
  std::shared_ptr<const std::string> value{};
};

struct Secret {
  Metadata metadata;
  std::string type{};
  std::vector<SecretEntry> entries{};
};

struct GrantFrom {
  std::string group{};
  std::string kind{};
  std::string name_space{};
};

struct GrantTo {
  std::string group{};
  std::string kind{};
  std::string name{};  ///< empty: any
};

/// gateway.networking.k8s.io ReferenceGrant: allows references into its namespace.
struct ReferenceGrant {
  Metadata metadata;
  std::vector<GrantFrom> from{};
  std::vector<GrantTo> to{};
};

}  // namespace edge::compiler::model
