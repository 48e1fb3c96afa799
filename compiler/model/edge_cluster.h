// EdgeCluster and EdgeRemoteCluster as written: without defaults, references unresolved.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hostname.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::model {

/// Labels of nodes, or amounts of a resource: names and values as in Kubernetes.
using StringMap = std::vector<NameValue>;

struct Toleration {
  Maybe<std::string> key{};
  Maybe<std::string> op{};
  Maybe<std::string> value{};
  Maybe<std::string> effect{};
};

/// An environment variable: one of value and secret.
struct Variable {
  Located<std::string> name{};
  Maybe<std::string> value{};
  std::optional<Reference> secret{};
  Located<std::string> secret_key{};
};

struct Spread {
  Located<std::string> topology_key{};
  Maybe<std::int64_t> max_skew{};
  Maybe<std::string> unsatisfiable{};
};

/// Scheduling, resources and environment of the pods of one component.
struct Placement {
  StringMap node_selector{};
  std::vector<Toleration> tolerations{};
  StringMap requests{};
  StringMap limits{};
  std::vector<Variable> variables{};
  std::vector<Spread> spread{};
  StringMap account_annotations{};
};

struct EdgeImage {
  Maybe<std::string> repository{};
  Maybe<std::string> pull_policy{};
  std::vector<Located<std::string>> pull_secrets{};
};

/// The hub that the cluster connects to.
struct EdgeHub {
  Reference join_secret{};
  Maybe<std::string> address{};
  std::vector<Located<std::string>> kinds{};
  std::vector<Located<std::string>> namespaces{};
  Maybe<std::string> reads{};
};

struct EdgeController {
  Maybe<std::int64_t> replicas{};
  Maybe<std::string> controller_class{};
  Maybe<std::int64_t> grpc_port{};
  Placement placement{};
  Maybe<std::string> state_claim{};
  std::optional<EdgeHub> hub{};
};

struct EdgeAgents {
  Placement placement{};
  Maybe<bool> host_network{};
  Maybe<std::int64_t> metrics_port{};
  Maybe<std::int64_t> health_port{};
  Maybe<std::string> update_type{};
  /// A number, or a percentage with its `%`.
  Maybe<std::string> max_unavailable{};
  Maybe<std::chrono::nanoseconds> canary_duration{};
  Maybe<std::chrono::nanoseconds> canary_timeout{};
  Maybe<std::chrono::nanoseconds> drain_timeout{};
};

struct EdgeWebOidc {
  Located<std::string> issuer{};
  Located<std::string> client_id{};
  Located<std::string> redirect{};
  std::vector<Located<std::string>> scopes{};
  std::vector<Located<std::string>> groups{};
  Reference client_secret{};
  std::optional<Reference> session_secret{};
};

struct EdgeWeb {
  Maybe<bool> enabled{};
  Maybe<std::int64_t> replicas{};
  Maybe<std::int64_t> port{};
  Maybe<bool> read_only{};
  std::optional<Reference> tls_secret{};
  std::optional<EdgeWebOidc> oidc{};
  Maybe<std::string> metrics_url{};
};

struct EdgeCluster {
  Metadata metadata;
  Located<std::string> version{};
  EdgeImage image{};
  EdgeController controller{};
  EdgeAgents agents{};
  EdgeWeb web{};
  Maybe<std::string> log_level{};
  Maybe<bool> paused{};
};

struct FederationGrant {
  Maybe<bool> enabled{};
  std::vector<Located<std::string>> kinds{};
  std::vector<Located<std::string>> namespaces{};
};

struct Federation {
  Maybe<bool> enabled{};
  std::vector<Located<std::string>> kinds{};
  std::vector<Located<std::string>> namespaces{};
  FederationGrant reads{};
  FederationGrant shares{};
  FederationGrant writes{};
  Maybe<std::int64_t> quota_objects{};
  Maybe<std::uint64_t> quota_bytes{};
  Maybe<std::string> conflict_policy{};
  Maybe<std::chrono::nanoseconds> sync_interval{};
};

struct EdgeRemoteCluster {
  Metadata metadata;
  Located<std::string> controller_address{};
  Reference client_secret;
  std::optional<Reference> ca_secret{};
  Maybe<HostPattern> server_name{};
  Maybe<std::string> revoked_before{};
  Maybe<std::string> region{};
  Maybe<std::string> zone{};
  std::optional<Reference> site{};
  Maybe<std::chrono::nanoseconds> heartbeat_interval{};
  Maybe<std::chrono::nanoseconds> heartbeat_timeout{};
  Federation federation{};
  std::vector<Located<std::string>> agent_groups{};
  std::vector<Located<std::string>> export_namespaces{};
  Maybe<bool> suspended{};
};

}  // namespace edge::compiler::model
