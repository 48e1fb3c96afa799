// What an installation is made of: an EdgeCluster becomes objects of Kubernetes, in the order in which they are needed.
// A pure function: the same resource gives the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "controller/operator/installation.h"

namespace edge::cluster_operator {

enum class Stage : std::uint8_t { kAccess, kController, kAgents, kWeb };

/// Where objects of a kind are.
struct ObjectKind {
  std::string_view api_version;
  std::string_view kind;
  std::string_view plural;
  bool namespaced = true;
};
/// Every kind that the operator makes or follows, pods and secrets too.
const std::vector<ObjectKind>& object_kinds();
const ObjectKind& object_kind(std::string_view kind);

struct Rendered {
  Stage stage = Stage::kAccess;
  std::string kind;
  std::string name_space;  ///< empty: it has none
  std::string name;
  std::string text;  ///< JSON, as it is applied
  std::string hash;
  std::string template_hash;  ///< of what has pods

  std::string key() const { return name_space.empty() ? name : name_space + "/" + name; }
};

/// What the controller and its agents know each other by, made once (identity.h).
struct Identity {
  std::string signing_key;
  std::string authority;
  std::string join;
  std::string administrator;
  bool complete() const {
    return !signing_key.empty() && !authority.empty() && !join.empty() && !administrator.empty();
  }
};

std::vector<Rendered> render(const Installation& installation, const Identity& identity);
/// What a dashboard that is not wanted any more leaves to be removed.
std::vector<Rendered> rendered_dashboard(const Installation& installation, const Identity& identity);
/// The Secret that keeps the identity; not among what is rendered, since it is made once and never written over.
std::string identity_secret(const Installation& installation, const Identity& identity);
/// The Secret in which the operator keeps how far an exchange of agents is. No ConfigMap: it holds an object that is
/// applied again. `data`: an object of texts.
Rendered rollout_secret(const Installation& installation, const nlohmann::json& data);

/// `HOST:PORT` by which agents reach the controller.
std::string controller_address(const Installation& installation);
}  // namespace edge::cluster_operator
