// What is known of other clusters, as values see it: a document that controller/remote/traffic.h writes, and that goes
// the way of objects, so that it is in order with them. Its private key stays within this process and the agents.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compiler/link/backends/values.h"
#include "program/values/secrets.h"

namespace edge::controller {

/// The kind of the document's key; no Kubernetes resource is of it.
inline constexpr std::string_view kClusterDirectoryKind = "clusters:directory";

struct ClusterDirectory {
  /// The identity before other clusters; null: there is none, and nobody is called.
  std::shared_ptr<const program::NamedSecret> identity{};
  compiler::link::ExportingClusters clusters{};
};

/// What cannot be read is left out.
ClusterDirectory read_cluster_directory(std::string_view document);

/// What this cluster tells others.
struct OwnExports {
  std::vector<std::string> gateways{};
  std::map<std::string, std::uint8_t> services{};  ///< with how much of each is healthy, 0 to 100
  friend bool operator==(const OwnExports&, const OwnExports&) = default;
};

}  // namespace edge::controller
