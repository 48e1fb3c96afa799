// The Kubernetes API of a test that drives whole programs: the product's own, started for it, or that of a cluster,
// which EDGE_TEST_KUBECONFIG leads to (script/check-cluster). Both can go away and come back.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <memory>
#include <string>

#include "controller/resource_api/http/resource_api_server.h"
#include "tests/agents/relay.h"
#include "tests/support/lasting_port.h"

namespace edge::test {

class TestApi {
 public:
  /// Keeps what it must in `directory`.
  explicit TestApi(std::string directory);

  /// Whether it is that of a cluster.
  bool is_cluster() const { return !cluster_.empty(); }
  /// Starts it, or lets connections through to it. \returns what is wrong; empty: nothing.
  std::string start();
  /// Nobody answers, until the next `start`.
  void stop();
  /// Of an administrator. Stays as it is when the API comes back.
  const std::string& kubeconfig() const { return kubeconfig_; }
  /// An address of this machine that an EndpointSlice may have: a cluster takes none of the loopback interface.
  std::string node_address() const;

 private:
  std::string write_kubeconfig();

  const std::string directory_;
  const std::string cluster_;  ///< the cluster's kubeconfig; empty: the embedded API
  const std::uint16_t port_ = lasting_port();
  std::string kubeconfig_;
  std::unique_ptr<resource_api::http::ResourceApiServer> embedded_;
  std::unique_ptr<Relay> relay_;
};

}  // namespace edge::test
