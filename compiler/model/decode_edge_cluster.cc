#include <utility>

#include "compiler/model/decode_kinds.h"

namespace edge::compiler::model {
namespace {

/// Set by the operator itself.
constexpr std::string_view kNodeName = "NODE_NAME";

/// `field`: path of the entry.
Variable decode_variable(const Fields& entry, const std::string& field, Report& report) {
  const Fields secret = entry.object("secretKeyRef");
  Variable variable{.name = entry.needed_text("name"), .value = entry.text("value")};
  if (secret) {
    variable.secret = Reference{.name = secret.needed_text("name")};
    variable.secret_key = secret.needed_text("key");
  }
  if (variable.value.has_value() && secret) {
    report.fault(DiagnosticCode::kExclusiveFields, variable.value->span, field + ".value",
                 "`value` and `secretKeyRef` exclude each other", "leave one of them out");
  } else if (!variable.value.has_value() && !secret) {
    report.fault(DiagnosticCode::kMissingField, entry.span(), field + ".value",
                 "one of the fields `value` and `secretKeyRef` is required");
  }
  if (variable.name.value == kNodeName) {
    report.fault(DiagnosticCode::kInvalidValue, variable.name.span, field + ".name",
                 "`NODE_NAME` is set by the operator", "choose another name");
  }
  return variable;
}

Placement decode_placement(const Fields& fields, const std::string& path, Report& report) {
  const Fields resources = fields.object("resources");
  Placement placement{.node_selector = fields.string_map("nodeSelector"),
                      .requests = resources.string_map("requests"),
                      .limits = resources.string_map("limits"),
                      .account_annotations = fields.object("serviceAccount").string_map("annotations")};
  fields.entries("tolerations", [&](const Fields& entry) {
    placement.tolerations.push_back({.key = entry.text("key"),
                                     .op = entry.text("operator"),
                                     .value = entry.text("value"),
                                     .effect = entry.text("effect")});
  });
  fields.entries("topologySpreadConstraints", [&](const Fields& entry) {
    placement.spread.push_back({.topology_key = entry.needed_text("topologyKey"),
                                .max_skew = entry.integer("maxSkew"),
                                .unsatisfiable = entry.text("whenUnsatisfiable")});
  });
  fields.entries("env", [&](const Fields& entry) {
    const std::string field = path + ".env[" + std::to_string(placement.variables.size()) + "]";
    placement.variables.push_back(decode_variable(entry, field, report));
  });
  return placement;
}

std::optional<Reference> optional_reference(const Fields& fields) {
  if (!fields) return std::nullopt;
  return fields.reference();
}

/// A pod that begins anew has nothing to come back to the hub with.
std::optional<EdgeHub> decode_hub(const Fields& controller, Report& report) {
  const Fields hub = controller.object("hub");
  if (!hub) return std::nullopt;
  if (!controller.text("stateClaim")) {
    report.fault(DiagnosticCode::kMissingField, hub.span(), "spec.controller.stateClaim",
                 "a cluster with a hub needs a volume for what it comes back to the hub with");
  }
  const Fields federation = hub.object("federation");
  return EdgeHub{.join_secret = hub.object("joinSecretRef").reference(),
                 .address = hub.text("address"),
                 .kinds = federation.strings("kinds"),
                 .namespaces = federation.strings("namespaces"),
                 .reads = hub.text("reads")};
}

std::optional<EdgeWebOidc> decode_oidc(const Fields& oidc) {
  if (!oidc) return std::nullopt;
  return EdgeWebOidc{.issuer = oidc.needed_text("issuerURL"),
                     .client_id = oidc.needed_text("clientID"),
                     .redirect = oidc.needed_text("redirectURL"),
                     .scopes = oidc.strings("scopes"),
                     .groups = oidc.strings("groups"),
                     .client_secret = oidc.object("clientSecretRef").reference(),
                     .session_secret = optional_reference(oidc.object("sessionSecretRef"))};
}

}  // namespace

EdgeCluster decode_edge_cluster(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  const Fields image = spec.object("image");
  const Fields controller = spec.object("controller");
  const Fields agents = spec.object("agents");
  const Fields update = agents.object("updateStrategy");
  const Fields web = spec.object("web");
  return {.metadata = std::move(metadata),
          .version = spec.needed_text("version"),
          .image = {.repository = image.text("repository"),
                    .pull_policy = image.text("pullPolicy"),
                    .pull_secrets = image.strings("pullSecrets")},
          .controller = {.replicas = controller.integer("replicas"),
                         .controller_class = controller.text("controllerClass"),
                         .grpc_port = controller.integer("grpcPort"),
                         .placement = decode_placement(controller, "spec.controller", report),
                         .state_claim = controller.text("stateClaim"),
                         .hub = decode_hub(controller, report)},
          .agents = {.placement = decode_placement(agents, "spec.agents", report),
                     .host_network = agents.boolean("hostNetwork"),
                     .metrics_port = agents.integer("metricsPort"),
                     .health_port = agents.integer("healthPort"),
                     .update_type = update.text("type"),
                     .max_unavailable = update.text("maxUnavailable"),
                     .canary_duration = update.duration("canaryDuration"),
                     .canary_timeout = update.duration("canaryTimeout"),
                     .drain_timeout = agents.duration("drainTimeout")},
          .web = {.enabled = web.boolean("enabled"),
                  .replicas = web.integer("replicas"),
                  .port = web.integer("port"),
                  .read_only = web.boolean("readOnly"),
                  .tls_secret = optional_reference(web.object("tlsSecretRef")),
                  .oidc = decode_oidc(web.object("oidc")),
                  .metrics_url = web.text("metricsURL")},
          .log_level = spec.text("logLevel"),
          .paused = spec.boolean("paused")};
}

namespace {

FederationGrant decode_grant(const Fields& fields) {
  return {.enabled = fields.boolean("enabled"),
          .kinds = fields.strings("kinds"),
          .namespaces = fields.strings("namespaces")};
}

/// What is enabled and names nothing does nothing.
void check_federation(const Federation& federation, Span span, Report& report) {
  if (!federation.enabled || !federation.enabled->value || !federation.kinds.empty()) return;
  if (!federation.reads.kinds.empty() || !federation.shares.kinds.empty() || !federation.writes.kinds.empty()) return;
  report.add({.code = DiagnosticCode::kMissingField,
              .field = "spec.federation.kinds",
              .span = span,
              .message = "federation is enabled and names no kinds, so that nothing is exchanged",
              .fix = "name the kinds, such as kinds: [ProxyRoute, ProxyBackend]"});
}

}  // namespace

EdgeRemoteCluster decode_remote_cluster(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  const Fields tls = spec.object("tls");
  const Fields heartbeat = spec.object("heartbeat");
  const Fields federation = spec.object("federation");
  EdgeRemoteCluster cluster{.metadata = std::move(metadata),
                            .controller_address = spec.needed_text("controllerAddress"),
                            .client_secret = tls.object("clientSecretRef").reference(),
                            .ca_secret = optional_reference(tls.object("caSecretRef")),
                            .server_name = tls.hostname("serverName"),
                            .revoked_before = tls.text("revokedBefore"),
                            .region = spec.text("region"),
                            .zone = spec.text("zone"),
                            .site = spec.named_reference("siteRef"),
                            .heartbeat_interval = heartbeat.duration("interval"),
                            .heartbeat_timeout = heartbeat.duration("timeout"),
                            .federation = {.enabled = federation.boolean("enabled"),
                                           .kinds = federation.strings("kinds"),
                                           .namespaces = federation.strings("namespaces"),
                                           .reads = decode_grant(federation.object("reads")),
                                           .shares = decode_grant(federation.object("shares")),
                                           .writes = decode_grant(federation.object("writes")),
                                           .quota_objects = federation.object("quota").integer("objects"),
                                           .quota_bytes = federation.object("quota").size("bytes"),
                                           .conflict_policy = federation.text("conflictPolicy"),
                                           .sync_interval = federation.duration("syncInterval")},
                            .agent_groups = spec.strings("agentGroups"),
                            .export_namespaces = spec.strings("exportNamespaces"),
                            .suspended = spec.boolean("suspended")};
  if (federation) check_federation(cluster.federation, federation.span(), report);
  if (cluster.server_name && cluster.server_name->value.wildcard()) {
    report.fault(DiagnosticCode::kInvalidValue, cluster.server_name->span, "spec.tls.serverName",
                 "a wildcard is no name that a certificate can be checked for");
  }
  const auto& interval = cluster.heartbeat_interval;
  const auto& timeout = cluster.heartbeat_timeout;
  if (interval && timeout && timeout->value <= interval->value) {
    report.add(
        {.code = DiagnosticCode::kInvalidValue,
         .field = "spec.heartbeat.timeout",
         .span = timeout->span,
         .message = "the timeout is not longer than the interval, so that the cluster would never count as connected",
         .labels = {{interval->span, "the interval"}},
         .fix = "let it cover several intervals"});
  }
  return cluster;
}

}  // namespace edge::compiler::model
