// EdgeClusters of tests.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "controller/operator/installation.h"
#include "controller/operator/render/render.h"

namespace edge::cluster_operator {

inline nlohmann::json edge_cluster(const std::string& name = "production") {
  return {{"apiVersion", EDGE_API_GROUP "/v1alpha1"},
          {"kind", "EdgeCluster"},
          {"metadata", {{"name", name}, {"namespace", "edge-system"}, {"uid", "u-1"}, {"generation", 1}}},
          {"spec", {{"version", "0.1.0"}, {"image", {{"repository", "registry.example.com/edge"}}}}}};
}

/// Texts that stand for keys: what renders them looks into none.
inline Identity identity() {
  return {.signing_key = "signing", .authority = "authority", .join = "token: t\n", .administrator = "admin"};
}

}  // namespace edge::cluster_operator
