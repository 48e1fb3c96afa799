// An EdgeCluster as the operator reads it: who it is, and its spec with the defaults of the tables filled in.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace edge::cluster_operator {

inline constexpr std::string_view kClusterKind = "EdgeCluster";
inline constexpr std::string_view kFieldManager = "edge-operator";
/// The value of app.kubernetes.io/managed-by: objects without it are not the operator's.
inline constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";
/// Of an object: the hash of what was rendered for it. Equal: nothing is written.
inline constexpr std::string_view kRenderedHash = EDGE_API_GROUP "/rendered-hash";
/// Of a pod: the hash of the template that it was made of.
inline constexpr std::string_view kTemplateHash = EDGE_API_GROUP "/template-hash";

struct Installation {
  std::string name;
  std::string name_space;
  std::string uid;
  std::int64_t generation = 0;
  /// JSON, complete: what the resource leaves out has its default.
  std::string spec;
  std::string version;
  std::string repository;
  bool paused = false;
  bool wants_dashboard = false;
  /// How long the first agent of a new configuration must serve, and until when it must be ready.
  std::chrono::nanoseconds canary_duration{};
  std::chrono::nanoseconds canary_timeout{};

  /// `NAME-agent`
  std::string part(std::string_view suffix) const { return name + "-" + std::string(suffix); }
  /// Of what has no namespace; nobody else can have it, since `:` is in no name of a namespaced object.
  std::string cluster_wide_name() const { return "edge:" + name_space + ":" + name; }
};

/// `object`: the resource, as the API has it. kInvalidArgument names the field, its value and what it takes.
Result<Installation> read_installation(const nlohmann::json& object);
/// Whether the operator is asked to leave it; read from what may be at fault otherwise.
bool is_paused(const nlohmann::json& object);

}  // namespace edge::cluster_operator
