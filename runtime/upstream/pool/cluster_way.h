// How a backend's endpoints in another cluster are reached: by which TLS, and what their gateway is asked for.
#pragma once

#include <memory>
#include <string>

#include "net/tls/client.h"

namespace edge::runtime {

/// Immutable; shared by the endpoints of one cluster. Requests go over HTTP/2.
struct ClusterWay {
  std::string cluster;
  std::string service;  ///< program/cluster_traffic.h
  /// Null: whom to trust, or this cluster's own certificate, is not known; no connection is made.
  std::shared_ptr<const net::tls::ClientContext> tls;
  friend bool operator==(const ClusterWay&, const ClusterWay&) = default;
};

}  // namespace edge::runtime
