#include "controller/operator/render/pods.h"

#include <chrono>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"
#include "controller/operator/render/render.h"
#include "controller/operator/render/security_context.h"
#include "net/client/url.h"

namespace edge::cluster_operator {
namespace {

using Json = nlohmann::ordered_json;

Json spec_of(const Installation& installation, const char* part) {
  return parse_ordered_json(installation.spec).value(part, Json::object());
}

Json probe(const char* path, const Json& port, int period) {
  return {{"httpGet", {{"path", path}, {"port", port}}}, {"periodSeconds", period}, {"timeoutSeconds", 5}};
}

/// What the resource adds to the variables that a component is given anyway.
Json variables_of(const Json& part) {
  Json variables =
      Json::array({{{"name", "NODE_NAME"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "spec.nodeName"}}}}}}});
  for (const Json& one : part.value("env", Json::array())) {
    Json variable = {{"name", one.value("name", "")}};
    if (const Json secret = one.value("secretKeyRef", Json::object()); !secret.empty()) {
      variable["valueFrom"]["secretKeyRef"] = secret;
    } else {
      variable["value"] = one.value("value", "");
    }
    variables.push_back(std::move(variable));
  }
  return variables;
}

Json container(const Installation& installation, const std::string& component, const Json& part, Json arguments) {
  const Json image = spec_of(installation, "image");
  return {{"name", component},
          {"image", installation.repository + "/" + component + ":" + installation.version},
          {"imagePullPolicy", image.value("pullPolicy", "IfNotPresent")},
          {"args", std::move(arguments)},
          {"env", variables_of(part)},
          {"securityContext", confined_container()}};
}

/// What the resource says of processor and memory; a request that it leaves out is `cpu` or `memory`.
Json resources_of(const Json& part) {
  Json resources = part.value("resources", Json::object());
  Json requests = resources.value("requests", Json::object());
  if (!requests.contains("cpu")) requests["cpu"] = "100m";
  if (!requests.contains("memory")) requests["memory"] = "64Mi";
  Json made = {{"requests", requests}};
  if (const Json limits = resources.value("limits", Json::object()); !limits.empty()) made["limits"] = limits;
  return made;
}

/// The default keeps controllers apart where the nodes allow it.
Json controller_affinity(const Json& labels) {
  const Json term = {{"topologyKey", "kubernetes.io/hostname"}, {"labelSelector", {{"matchLabels", labels}}}};
  return {{"podAntiAffinity",
           {{"preferredDuringSchedulingIgnoredDuringExecution",
             Json::array({{{"weight", 100}, {"podAffinityTerm", term}}})}}}};
}

Json spread_of(const Json& part, const Json& labels) {
  Json constraints = Json::array();
  for (const Json& one : part.value("topologySpreadConstraints", Json::array())) {
    constraints.push_back({{"maxSkew", one.value("maxSkew", 1)},
                           {"topologyKey", one.value("topologyKey", "")},
                           {"whenUnsatisfiable", one.value("whenUnsatisfiable", "ScheduleAnyway")},
                           {"labelSelector", {{"matchLabels", labels}}}});
  }
  return constraints;
}

/// Registry, nodes and affinity, as the resource says them of a component.
void place(const Installation& installation, const Json& part, Json& pod) {
  const Json secrets = spec_of(installation, "image").value("pullSecrets", Json::array());
  Json references = Json::array();
  for (const Json& name : secrets) references.push_back({{"name", name}});
  if (!references.empty()) pod["imagePullSecrets"] = references;
  if (const Json labels = part.value("nodeSelector", Json::object()); !labels.empty()) pod["nodeSelector"] = labels;
  if (const Json taints = part.value("tolerations", Json::array()); !taints.empty()) pod["tolerations"] = taints;
  if (const Json affinity = part.value("affinity", Json::object()); !affinity.empty()) pod["affinity"] = affinity;
}

/// The named keys of a Secret, as files that the image's user may read.
Json secret_volume(const std::string& name, const std::string& secret, const std::vector<std::string>& keys) {
  Json items = Json::array();
  for (const std::string& key : keys) items.push_back({{"key", key}, {"path", key}});
  return {{"name", name}, {"secret", {{"secretName", secret}, {"defaultMode", 0440}, {"items", std::move(items)}}}};
}

/// What connects the controller with a hub, and what it exchanges with it.
Json hub_arguments(const Json& hub) {
  Json arguments = {"--hub-join", "/etc/edge/hub/join", "--hub-reads", hub.value("reads", "config")};
  const auto add = [&](const char* flag, const std::string& value) {
    if (value.empty()) return;
    arguments.push_back(flag);
    arguments.push_back(value);
  };
  const auto words = [](const Json& list) {
    std::string text;
    for (const Json& one : list) text += (text.empty() ? "" : ",") + one.get<std::string>();
    return text;
  };
  add("--hub", hub.value("address", ""));
  const Json federation = hub.value("federation", Json::object());
  add("--hub-federation", words(federation.value("kinds", Json::array())));
  add("--hub-federation-namespaces", words(federation.value("namespaces", Json::array())));
  return arguments;
}

/// The volume of what belongs to the cluster and not to one pod, and the file of the hub.
void add_cluster_state(const Json& part, Json& pod) {
  Json& controller = pod["containers"][0];
  if (const std::string claim = part.value("stateClaim", ""); !claim.empty()) {
    // Below the volume's root, which a kubelet opens to the group.
    for (const char* word : {"--shared-dir", "/var/lib/edge-cluster/state"}) controller["args"].push_back(word);
    controller["volumeMounts"].push_back({{"name", "cluster-state"}, {"mountPath", "/var/lib/edge-cluster"}});
    pod["volumes"].push_back({{"name", "cluster-state"}, {"persistentVolumeClaim", {{"claimName", claim}}}});
    // Not what is in it at each mount: keys and state are the user's alone, and are refused otherwise.
    pod["securityContext"]["fsGroupChangePolicy"] = "OnRootMismatch";
  }
  const Json hub = part.value("hub", Json::object());
  if (hub.empty()) return;
  for (const Json& word : hub_arguments(hub)) controller["args"].push_back(word);
  controller["volumeMounts"].push_back({{"name", "hub"}, {"mountPath", "/etc/edge/hub"}, {"readOnly", true}});
  pod["volumes"].push_back(
      secret_volume("hub", hub.value("joinSecretRef", Json::object()).value("name", ""), {"join"}));
}

std::string log_level(const Installation& installation) { return text_in(parse_json(installation.spec), "logLevel"); }

}  // namespace

Json controller_pod(const Installation& installation) {
  const Json part = spec_of(installation, "controller");
  const std::string port = part["grpcPort"].dump();
  Json controller =
      container(installation, "edge-controller", part,
                {"--data-dir", "/var/lib/edge/controller", "--identity-dir", "/etc/edge/identity", "--controller-class",
                 part.value("controllerClass", ""), "--agents-listen", "0.0.0.0:" + port, "--metrics-listen",
                 ":" + std::to_string(kControllerAdminPort), "--leader-elect", "--lease-namespace",
                 installation.name_space, "--log-level", log_level(installation)});
  controller["ports"] =
      Json::array({{{"name", "agents"}, {"containerPort", part["grpcPort"]}, {"protocol", "TCP"}},
                   {{"name", "admin"}, {"containerPort", kControllerAdminPort}, {"protocol", "TCP"}}});
  controller["livenessProbe"] = probe("/healthz", "admin", 10);
  controller["readinessProbe"] = probe("/readyz", "admin", 5);
  controller["resources"] = resources_of(part);
  controller["volumeMounts"] =
      Json::array({{{"name", "identity"}, {"mountPath", "/etc/edge/identity"}, {"readOnly", true}},
                   {{"name", "state"}, {"mountPath", "/var/lib/edge"}},
                   {{"name", "scratch"}, {"mountPath", "/tmp"}}});
  const Json items = Json::array({{{"key", "signing.key"}, {"path", "signing.key"}},
                                  {{"key", "ca.pem"}, {"path", "ca.pem"}},
                                  {{"key", "join"}, {"path", "join"}}});
  Json pod = {
      {"serviceAccountName", installation.part("controller")},
      {"terminationGracePeriodSeconds", 30 + kGraceSeconds},
      {"securityContext", unprivileged_pod()},
      {"containers", Json::array({std::move(controller)})},
      {"volumes",
       Json::array(
           {{{"name", "identity"},
             {"secret", {{"secretName", installation.part("identity")}, {"defaultMode", 0440}, {"items", items}}}},
            {{"name", "state"}, {"emptyDir", Json::object()}},
            {{"name", "scratch"}, {"emptyDir", Json::object()}}})}};
  const Json labels = {{"app.kubernetes.io/instance", installation.name},
                       {"app.kubernetes.io/component", "controller"}};
  pod["affinity"] = controller_affinity(labels);
  if (Json constraints = spread_of(part, labels); !constraints.empty()) {
    pod["topologySpreadConstraints"] = std::move(constraints);
  }
  add_cluster_state(part, pod);
  place(installation, part, pod);
  return pod;
}

Json agent_pod(const Installation& installation) {
  const Json part = spec_of(installation, "agents");
  const bool host = part.value("hostNetwork", true);
  const std::string drain = part.value("drainTimeout", "30s");
  const auto timeout = parse_duration(drain).value_or(std::chrono::seconds(30));
  const std::string health = part["healthPort"].dump();
  Json agent =
      container(installation, "edge-agent", part,
                {"--data-dir", "/var/lib/edge", "--buffer-dir", "/tmp", "--name", "$(NODE_NAME)", "--controller",
                 controller_address(installation), "--token-file", "/etc/edge/join", "--metrics-listen",
                 ":" + part["metricsPort"].dump(), "--health-listen", (host ? "127.0.0.1:" : ":") + health,
                 "--drain-timeout", drain, "--log-level", log_level(installation)});
  agent["securityContext"]["capabilities"]["add"] = {"NET_BIND_SERVICE", "NET_ADMIN", "NET_RAW"};
  agent["ports"] = Json::array({{{"name", "metrics"}, {"containerPort", part["metricsPort"]}, {"protocol", "TCP"}}});
  agent["livenessProbe"] = probe("/healthz", part["healthPort"], 10);
  agent["readinessProbe"] = probe("/readyz", part["healthPort"], 5);
  if (host) {
    for (const char* name : {"livenessProbe", "readinessProbe"}) agent[name]["httpGet"]["host"] = "127.0.0.1";
  }
  agent["resources"] = resources_of(part);
  agent["volumeMounts"] = Json::array({{{"name", "join"}, {"mountPath", "/etc/edge"}, {"readOnly", true}},
                                       {{"name", "state"}, {"mountPath", "/var/lib/edge"}},
                                       {{"name", "scratch"}, {"mountPath", "/tmp"}},
                                       {{"name", "run"}, {"mountPath", "/run"}}});
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(timeout).count() + kGraceSeconds;
  Json pod = {
      {"serviceAccountName", installation.part("agent")},
      {"automountServiceAccountToken", false},
      {"hostNetwork", host},
      {"dnsPolicy", host ? "ClusterFirstWithHostNet" : "ClusterFirst"},
      {"priorityClassName", "system-node-critical"},
      {"terminationGracePeriodSeconds", seconds},
      // Owns the directory of the node, and has no more than the capabilities above.
      {"securityContext", {{"runAsUser", 0}, {"runAsGroup", 0}, {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
      {"containers", Json::array({std::move(agent)})},
      {"volumes",
       Json::array({{{"name", "join"}, {"secret", {{"secretName", installation.part("join")}, {"defaultMode", 0400}}}},
                    {{"name", "state"},
                     {"hostPath",
                      {{"path", "/var/lib/edge-agent/" + installation.name_space + "/" + installation.name},
                       {"type", "DirectoryOrCreate"}}}},
                    {{"name", "scratch"}, {"emptyDir", Json::object()}},
                    {{"name", "run"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", "16Mi"}}}}})}};
  place(installation, part, pod);
  return pod;
}

namespace {

/// What settings add to the container of the dashboard, and to its pod.
struct WebParts {
  Json arguments, mounts, volumes;

  void add(const char* flag, const std::string& value) {
    if (value.empty()) return;
    arguments.push_back(flag);
    arguments.push_back(value);
  }
  void mount_secret(const std::string& name, const Json& reference, const std::vector<std::string>& keys) {
    volumes.push_back(secret_volume(name, reference.value("name", ""), keys));
    mounts.push_back({{"name", name}, {"mountPath", "/etc/edge/" + name}, {"readOnly", true}});
  }
};

void add_login(const Json& oidc, WebParts& parts) {
  parts.mount_secret("oidc", oidc.value("clientSecretRef", Json::object()), {"client-secret"});
  parts.add("--oidc-issuer", oidc.value("issuerURL", ""));
  parts.add("--oidc-client-id", oidc.value("clientID", ""));
  parts.add("--oidc-client-secret-file", "/etc/edge/oidc/client-secret");
  const std::string redirect = oidc.value("redirectURL", "");
  parts.add("--oidc-redirect-url", redirect);
  for (const Json& scope : oidc.value("scopes", Json::array())) {
    // That one is what makes it OpenID Connect: it is asked for in any case.
    if (scope != "openid") parts.add("--oidc-scope", scope.get<std::string>());
  }
  if (const Json session = oidc.value("sessionSecretRef", Json::object()); !session.empty()) {
    parts.mount_secret("session", session, {"session-secret"});
    parts.add("--oidc-session-secret-file", "/etc/edge/session/session-secret");
  }
  if (const auto url = net::client::parse_url(redirect)) parts.add("--host-name", url->host);
}

}  // namespace

Json web_pod(const Installation& installation) {
  const Json part = spec_of(installation, "web");
  const Json oidc = part.value("oidc", Json::object());
  const std::string port = part["port"].dump();
  WebParts parts;
  parts.arguments = {"web",
                     "--listen",
                     (oidc.empty() ? "127.0.0.1:" : "0.0.0.0:") + port,
                     "--controller",
                     controller_address(installation),
                     "--credentials",
                     "/etc/edge/admin/admin.pem",
                     "--controller-class",
                     spec_of(installation, "controller").value("controllerClass", "")};
  parts.mounts = Json::array({{{"name", "admin"}, {"mountPath", "/etc/edge/admin"}, {"readOnly", true}},
                              {{"name", "scratch"}, {"mountPath", "/tmp"}}});
  parts.volumes = Json::array({secret_volume("admin", installation.part("admin"), {"admin.pem"}),
                               {{"name", "scratch"}, {"emptyDir", Json::object()}}});
  if (part.value("readOnly", false)) parts.arguments.push_back("--read-only");
  parts.add("--metrics-url", part.value("metricsURL", ""));
  if (const Json tls = part.value("tlsSecretRef", Json::object()); !tls.empty()) {
    parts.mount_secret("tls", tls, {"tls.crt", "tls.key"});
    parts.add("--tls-cert", "/etc/edge/tls/tls.crt");
    parts.add("--tls-key", "/etc/edge/tls/tls.key");
  }
  if (!oidc.empty()) add_login(oidc, parts);
  Json web = container(installation, "edgectl", part, std::move(parts.arguments));
  web["ports"] = Json::array({{{"name", "web"}, {"containerPort", part["port"]}, {"protocol", "TCP"}}});
  if (!oidc.empty()) {
    web["livenessProbe"] = probe("/healthz", "web", 10);
    web["readinessProbe"] = probe("/healthz", "web", 5);
    for (const char* name : {"livenessProbe", "readinessProbe"}) web[name]["httpGet"]["scheme"] = "HTTPS";
  }
  web["resources"] = resources_of(part);
  web["volumeMounts"] = std::move(parts.mounts);
  Json pod = {{"serviceAccountName", installation.part("web")},
              {"securityContext", unprivileged_pod()},
              {"containers", Json::array({std::move(web)})},
              {"volumes", std::move(parts.volumes)}};
  place(installation, part, pod);
  return pod;
}

}  // namespace edge::cluster_operator
