#include "controller/operator/render/render.h"

#include <algorithm>
#include <span>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "controller/operator/render/access.h"
#include "controller/operator/render/pods.h"
#include "program/sha256.h"

namespace edge::cluster_operator {
namespace {

using Json = nlohmann::ordered_json;

/// Hexadecimal digits of a hash that are kept.
constexpr std::size_t kHashDigits = 32;
constexpr std::string_view kAccessGroup = "rbac.authorization.k8s.io";

std::string hash_of(const Json& value) {
  const std::string text = json_line(value);
  return program::to_hex(program::sha256(std::as_bytes(std::span(text)))).substr(0, kHashDigits);
}

Json selector(const Installation& installation, const std::string& component) {
  return {{"app.kubernetes.io/name", "edge"},
          {"app.kubernetes.io/instance", installation.name},
          {"app.kubernetes.io/component", component}};
}

Json labels(const Installation& installation, const std::string& component) {
  Json all = selector(installation, component);
  all["app.kubernetes.io/part-of"] = "edge";
  all[std::string(kManagedBy)] = kFieldManager;
  return all;
}

/// A volume that one node alone mounts is free for the next pod once the last one is gone. Agents serve on meanwhile.
Json controller_strategy(const Json& part) {
  if (part.contains("stateClaim") && part["replicas"] == 1) return {{"type", "Recreate"}};
  return {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxSurge", 1}, {"maxUnavailable", 0}}}};
}

class Renderer {
 public:
  Renderer(const Installation& installation, const Identity& identity)
      : installation_(installation), identity_(identity), spec_(parse_ordered_json(installation.spec)) {}

  std::vector<Rendered> all() {
    add_access();
    add_secrets();
    add_controller();
    add_agents();
    if (installation_.wants_dashboard) add_web();
    return std::move(rendered_);
  }
  std::vector<Rendered> dashboard() {
    add_web();
    return std::move(rendered_);
  }

  /// Where it is, whose it is, and the hash of the rest.
  Rendered finish(Stage stage, std::string_view kind_name, const std::string& name, const std::string& component,
                  Json body, std::string template_hash = {}, Json annotations = Json::object()) const {
    const ObjectKind& kind = object_kind(kind_name);
    Json metadata = {{"name", name}};
    if (kind.namespaced) metadata["namespace"] = installation_.name_space;
    metadata["labels"] = labels(installation_, component);
    if (kind.namespaced) {
      metadata["ownerReferences"] = Json::array({{{"apiVersion", EDGE_API_GROUP "/v1alpha1"},
                                                  {"kind", "EdgeCluster"},
                                                  {"name", installation_.name},
                                                  {"uid", installation_.uid},
                                                  {"controller", true},
                                                  {"blockOwnerDeletion", true}}});
    } else {
      // Nothing that has a namespace can own it.
      metadata["labels"][EDGE_API_GROUP "/cluster-namespace"] = installation_.name_space;
    }
    // Its own cannot be set by the resource.
    annotations.erase(std::string(kRenderedHash));
    if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
    Json object = {{"apiVersion", kind.api_version}, {"kind", kind.kind}, {"metadata", std::move(metadata)}};
    for (auto& [key, value] : body.items()) object[key] = std::move(value);
    Rendered made{.stage = stage,
                  .kind = std::string(kind_name),
                  .name_space = kind.namespaced ? installation_.name_space : std::string(),
                  .name = name,
                  .text = {},
                  .hash = hash_of(object),
                  .template_hash = std::move(template_hash)};
    object["metadata"]["annotations"][std::string(kRenderedHash)] = made.hash;
    made.text = json_line(object);
    return made;
  }

 private:
  void add(Stage stage, std::string_view kind, const std::string& name, const std::string& component, Json body,
           std::string template_hash = {}, Json annotations = Json::object()) {
    rendered_.push_back(
        finish(stage, kind, name, component, std::move(body), std::move(template_hash), std::move(annotations)));
  }

  static Json role(std::string_view kind, const std::string& name) {
    return {{"apiGroup", kAccessGroup}, {"kind", kind}, {"name", name}};
  }

  void add_service_account(const std::string& component, Json body) {
    const Json& part = spec_[component == "agent" ? "agents" : "controller"];
    const Json annotations = part.value("serviceAccount", Json::object()).value("annotations", Json::object());
    add(Stage::kAccess, "ServiceAccount", installation_.part(component), component, std::move(body), {}, annotations);
  }

  void add_access() {
    const std::string controller = installation_.part("controller");
    add_service_account("controller", Json::object());
    add_service_account("agent", {{"automountServiceAccountToken", false}});
    const Json subjects =
        Json::array({{{"kind", "ServiceAccount"}, {"name", controller}, {"namespace", installation_.name_space}}});
    const std::string wide = installation_.cluster_wide_name();
    add(Stage::kAccess, "ClusterRole", wide, "controller", {{"rules", controller_rules()}});
    add(Stage::kAccess, "ClusterRoleBinding", wide, "controller",
        {{"roleRef", role("ClusterRole", wide)}, {"subjects", subjects}});
    add(Stage::kAccess, "Role", controller, "controller", {{"rules", lease_rules()}});
    add(Stage::kAccess, "RoleBinding", controller, "controller",
        {{"roleRef", role("Role", controller)}, {"subjects", subjects}});
  }

  void add_secrets() {
    add(Stage::kAccess, "Secret", installation_.part("join"), "agent",
        {{"type", "Opaque"}, {"data", {{"join", to_base64(identity_.join)}}}});
    add(Stage::kAccess, "Secret", installation_.part("admin"), "controller",
        {{"type", "Opaque"}, {"data", {{"admin.pem", to_base64(identity_.administrator)}}}});
  }

  /// A template of pods with its own hash: pods say by it which template they are of.
  Json pod_template(const std::string& component, Json pod, std::string& hash) const {
    Json made = {{"metadata", {{"labels", labels(installation_, component)}}}, {"spec", std::move(pod)}};
    made["metadata"]["labels"]["app.kubernetes.io/version"] = installation_.version;
    // Another authority, other pods: who has the old one's certificates is not believed by it.
    const Json key = {identity_.authority, component == "controller" ? identity_.signing_key : std::string()};
    made["metadata"]["annotations"][EDGE_API_GROUP "/identity-hash"] = hash_of(key);
    hash = hash_of(made);
    made["metadata"]["annotations"][std::string(kTemplateHash)] = hash;
    return made;
  }

  void add_controller() {
    const std::string name = installation_.part("controller");
    const Json& part = spec_["controller"];
    add(Stage::kController, "Service", name, "controller",
        {{"spec",
          {{"type", "ClusterIP"},
           {"selector", selector(installation_, "controller")},
           {"ports",
            Json::array(
                {{{"name", "agents"}, {"port", part["grpcPort"]}, {"protocol", "TCP"}, {"targetPort", "agents"}}})}}}});
    add(Stage::kController, "PodDisruptionBudget", name, "controller",
        {{"spec", {{"maxUnavailable", 1}, {"selector", {{"matchLabels", selector(installation_, "controller")}}}}}});
    std::string hash;
    Json pods = pod_template("controller", controller_pod(installation_), hash);
    add(Stage::kController, "Deployment", name, "controller",
        {{"spec",
          {{"replicas", part["replicas"]},
           {"revisionHistoryLimit", 3},
           {"selector", {{"matchLabels", selector(installation_, "controller")}}},
           {"strategy", controller_strategy(part)},
           {"template", std::move(pods)}}}},
        hash);
  }

  void add_agents() {
    std::string hash;
    Json pods = pod_template("agent", agent_pod(installation_), hash);
    // The operator itself replaces pods: one first, and the others when that one has held.
    add(Stage::kAgents, "DaemonSet", installation_.part("agent"), "agent",
        {{"spec",
          {{"revisionHistoryLimit", 3},
           {"selector", {{"matchLabels", selector(installation_, "agent")}}},
           {"updateStrategy", {{"type", "OnDelete"}}},
           {"template", std::move(pods)}}}},
        hash);
  }

  /// The Service is for those who sign in: without that it listens on loopback alone.
  void add_web() {
    const std::string name = installation_.part("web");
    const std::string wide = installation_.cluster_wide_name() + ":web";
    const Json subjects =
        Json::array({{{"kind", "ServiceAccount"}, {"name", name}, {"namespace", installation_.name_space}}});
    const Json& part = spec_["web"];
    add(Stage::kWeb, "ServiceAccount", name, "web", Json::object());
    add(Stage::kWeb, "ClusterRole", wide, "web", {{"rules", web_rules()}});
    add(Stage::kWeb, "ClusterRoleBinding", wide, "web",
        {{"roleRef", role("ClusterRole", wide)}, {"subjects", subjects}});
    if (part.contains("oidc")) {
      add(Stage::kWeb, "Service", name, "web",
          {{"spec",
            {{"type", "ClusterIP"},
             {"selector", selector(installation_, "web")},
             {"ports",
              Json::array({{{"name", "web"}, {"port", part["port"]}, {"protocol", "TCP"}, {"targetPort", "web"}}})}}}});
    }
    std::string hash;
    Json pods = pod_template("web", web_pod(installation_), hash);
    add(Stage::kWeb, "Deployment", name, "web",
        {{"spec",
          {{"replicas", part["replicas"]},
           {"revisionHistoryLimit", 3},
           {"selector", {{"matchLabels", selector(installation_, "web")}}},
           {"template", std::move(pods)}}}},
        hash);
  }

  const Installation& installation_;
  const Identity& identity_;
  Json spec_;
  std::vector<Rendered> rendered_;
};

}  // namespace

const std::vector<ObjectKind>& object_kinds() {
  static const std::vector<ObjectKind> kKinds = {
      {"v1", "ServiceAccount", "serviceaccounts"},
      {"v1", "Secret", "secrets"},
      {"v1", "ConfigMap", "configmaps"},
      {"v1", "Service", "services"},
      {"v1", "Pod", "pods"},
      {"apps/v1", "Deployment", "deployments"},
      {"apps/v1", "DaemonSet", "daemonsets"},
      {"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"},
      {"rbac.authorization.k8s.io/v1", "Role", "roles"},
      {"rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"},
      {"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false},
      {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", false},
  };
  return kKinds;
}

const ObjectKind& object_kind(std::string_view kind) {
  return *std::ranges::find(object_kinds(), kind, &ObjectKind::kind);
}

std::vector<Rendered> render(const Installation& installation, const Identity& identity) {
  return Renderer(installation, identity).all();
}

std::vector<Rendered> rendered_dashboard(const Installation& installation, const Identity& identity) {
  return Renderer(installation, identity).dashboard();
}

std::string identity_secret(const Installation& installation, const Identity& identity) {
  const Json data = {{"signing.key", to_base64(identity.signing_key)},
                     {"ca.pem", to_base64(identity.authority)},
                     {"join", to_base64(identity.join)},
                     {"admin.pem", to_base64(identity.administrator)}};
  return Renderer(installation, identity)
      .finish(Stage::kAccess, "Secret", installation.part("identity"), "controller",
              {{"type", "Opaque"}, {"data", data}})
      .text;
}

Rendered rollout_secret(const Installation& installation, const nlohmann::json& data) {
  Json encoded = Json::object();
  for (const auto& [key, value] : data.items()) encoded[key] = to_base64(text_value(value));
  const Identity none;
  return Renderer(installation, none)
      .finish(Stage::kAgents, "Secret", installation.part("rollout"), "agent",
              {{"type", "Opaque"}, {"data", std::move(encoded)}});
}

std::string controller_address(const Installation& installation) {
  const nlohmann::json spec = parse_json(installation.spec);
  return installation.part("controller") + "." + installation.name_space +
         ".svc:" + std::to_string(integer_in(member_in(spec, "controller"), "grpcPort"));
}

}  // namespace edge::cluster_operator
