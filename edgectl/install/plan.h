// What `edgectl install` and `upgrade` apply: the definitions of the kinds, the operator, and an EdgeCluster. Made from
// the tables that deploy/install.yaml and the charts are made from (controller/operator/render/install.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::edgectl {

/// The field manager of these commands' writes; apart from that of `edgectl apply`, which applies people's own files.
inline constexpr std::string_view kInstallManager = "edgectl-install";
inline constexpr std::string_view kOperatorDeployment = "edge-operator";
inline constexpr std::string_view kInstallNamespace = "edge-system";

enum class Part : std::uint8_t { kDefinitions, kNamespace, kOperator, kCluster };

struct Planned {
  Part part = Part::kDefinitions;
  std::string api_version, kind, name;
  std::string name_space;  ///< empty: the kind has none
  std::string text;        ///< JSON, as it is applied
};

struct InstallOptions {
  std::string name_space{kInstallNamespace};
  std::string repository;
  std::string tag = EDGE_VERSION;
  /// Of the EdgeCluster; empty: none is made.
  std::string cluster;
  /// `agents.metricsPort=9190`: fields of its spec.
  std::vector<std::string> fields{};
  /// Whether the EdgeCluster's controller may order certificates, in every namespace or in those that are named
  /// and its own.
  bool acme = false;
  std::vector<std::string> acme_namespaces{};
  /// The same for writing what other clusters share.
  bool federation = false;
  std::vector<std::string> federation_namespaces{};
};

/// Labels of all that gives the right of a component to controllers of the namespace
/// (controller/operator/render/install.h).
std::string rights_selector(std::string_view component, const std::string& name_space);

/// Returns all objects, in the order in which they are applied. kInvalidArgument names the flag or field at fault.
Result<std::vector<Planned>> plan(const InstallOptions& options);

}  // namespace edge::edgectl
