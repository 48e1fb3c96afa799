#include "edgectl/install/examine.h"

#include <algorithm>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/operator/installation.h"
#include "controller/operator/render/render.h"
#include "edgectl/resources/output.h"
#include "schemas/schema.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;
using State = Check::State;

constexpr const char* kAccessReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
constexpr std::string_view kVerbs[] = {"get", "create", "patch"};

kube::Resource make_resource(std::string_view api_version, std::string_view kind, std::string_view plural,
                             bool namespaced) {
  const std::size_t slash = api_version.find('/');
  const bool core = slash == std::string_view::npos;
  return {.group = core ? std::string() : std::string(api_version.substr(0, slash)),
          .version = std::string(core ? api_version : api_version.substr(slash + 1)),
          .plural = std::string(plural),
          .kind = std::string(kind),
          .namespaced = namespaced};
}

class Examiner {
 public:
  Examiner(Cluster& cluster, const InstallOptions& options, const std::vector<Planned>& objects, InstallVerb verb)
      : cluster_(cluster), options_(options), objects_(objects), verb_(verb) {}

  Examination run() {
    const kube::Reply version = cluster_.api().send({.target = "/version"});
    if (!version.ok()) return {.failure = version.failure};
    add(check_api_version(text_in(parse_json(version.body), "gitVersion")));
    if (!examine_rights()) return std::move(made_);
    examine_definitions();
    examine_namespace();
    kube::Failure failure;
    const Json deployment = installed_operator(cluster_, options_.name_space, failure);
    if (failure.none()) {
      add(check_installed(deployment, options_.tag, verb_));
    } else {
      unknown("the installed operator", failure);
    }
    if (!options_.cluster.empty()) examine_nodes();
    return std::move(made_);
  }

 private:
  void add(Check check) { made_.checks.push_back(std::move(check)); }
  void unknown(const std::string& what, const kube::Failure& failure) {
    add({State::kWarning, what + " could not be looked at: " + failure.text()});
  }

  /// nullopt: reviews are not served.
  std::optional<bool> may(std::string_view verb, const std::string& group, const std::string& plural,
                          const std::string& name_space) {
    Json attributes = {{"verb", verb}, {"group", group}, {"resource", plural}};
    if (!name_space.empty()) attributes["namespace"] = name_space;
    const Json review = {{"apiVersion", "authorization.k8s.io/v1"},
                         {"kind", "SelfSubjectAccessReview"},
                         {"spec", {{"resourceAttributes", attributes}}}};
    const kube::Reply reply = cluster_.api().send(
        {.method = "POST", .target = kAccessReviews, .content_type = "application/json", .body = json_line(review)});
    if (!reply.ok()) {
      made_.failure = reply.failure;
      return std::nullopt;
    }
    const Json answer = parse_json(reply.body);
    const Json& allowed = member_in(member_in(answer, "status"), "allowed");
    return allowed.is_boolean() && allowed.get<bool>();
  }

  /// false: the API does not let the user ask.
  bool examine_rights() {
    const auto everything = may("*", "*", "*", {});
    if (!everything) return false;
    std::vector<std::string> missing;
    if (!*everything) {
      std::set<std::string> asked;
      for (const Planned& object : objects_) {
        const kube::Resource resource = resource_of(object);
        if (!asked.insert(resource.qualified()).second) continue;
        for (const std::string_view verb : kVerbs) {
          const auto allowed = may(verb, resource.group, resource.plural, object.name_space);
          if (!allowed) return false;
          if (!*allowed) missing.push_back(std::string(verb) + " " + resource.qualified());
        }
      }
    }
    add(check_rights(missing));
    return true;
  }

  void examine_definitions() {
    std::vector<Json> live;
    for (const Planned& object : objects_) {
      if (object.part != Part::kDefinitions) continue;
      const auto reply = cluster_.api().get(resource_of(object), {}, object.name);
      if (reply.ok()) {
        live.push_back(parsed_json(reply.object.text));
      } else if (!reply.failure.not_found()) {
        return unknown("definitions", reply.failure);
      }
    }
    add(check_definitions(live));
  }

  void examine_namespace() {
    const kube::Resource spaces = make_resource("v1", "Namespace", "namespaces", /*namespaced=*/false);
    const auto reply = cluster_.api().get(spaces, {}, options_.name_space);
    if (!reply.ok() && !reply.failure.not_found()) return unknown("the namespace", reply.failure);
    add(check_namespace(reply.ok() ? parsed_json(reply.object.text) : Json()));
  }

  std::optional<std::vector<Json>> all_of(const kube::Resource& resource) {
    const auto list = cluster_.api().list_all(resource, {});
    if (!list.ok()) {
      unknown(resource.plural, list.failure);
      return std::nullopt;
    }
    std::vector<Json> objects;
    for (const kube::Object& object : list.list.items) objects.push_back(parsed_json(object.text));
    return objects;
  }

  void examine_nodes() {
    const auto nodes = all_of(make_resource("v1", "Node", "nodes", /*namespaced=*/false));
    if (nodes) {
      for (Check& check : check_nodes(*nodes)) add(std::move(check));
    }
    const auto cluster = std::ranges::find(objects_, Part::kCluster, &Planned::part);
    const auto read = cluster_operator::read_installation(parse_json(cluster->text));
    if (!read) return;
    const Json spec = parse_json(read->spec);
    const Json& agents = member_in(spec, "agents");
    const Json& host = member_in(agents, "hostNetwork");
    if (host.is_boolean() && !host.get<bool>()) return;
    const auto pods = all_of(make_resource("v1", "Pod", "pods", /*namespaced=*/true));
    if (!pods) return;
    const AgentPorts ports{.metrics = integer_in(agents, "metricsPort"), .health = integer_in(agents, "healthPort")};
    for (Check& check : check_ports(*pods, ports, options_.name_space)) add(std::move(check));
  }

  Cluster& cluster_;
  const InstallOptions& options_;
  const std::vector<Planned>& objects_;
  const InstallVerb verb_;
  Examination made_;
};

}  // namespace

bool Examination::failed() const {
  return std::ranges::any_of(checks, [](const Check& check) { return check.state == State::kFailed; });
}

kube::Resource resource_of(const Planned& object) {
  switch (object.part) {
    case Part::kDefinitions:
      return make_resource(object.api_version, object.kind, "customresourcedefinitions", /*namespaced=*/false);
    case Part::kNamespace:
      return make_resource(object.api_version, object.kind, "namespaces", /*namespaced=*/false);
    case Part::kCluster:
      return resource_of(*schemas::find_kind(object.kind));
    case Part::kOperator:
      break;
  }
  const cluster_operator::ObjectKind& kind = cluster_operator::object_kind(object.kind);
  return make_resource(kind.api_version, kind.kind, kind.plural, kind.namespaced);
}

Json installed_operator(Cluster& cluster, const std::string& name_space, kube::Failure& failure) {
  const kube::Resource deployments = make_resource("apps/v1", "Deployment", "deployments", /*namespaced=*/true);
  const auto reply = cluster.api().get(deployments, name_space, std::string(kOperatorDeployment));
  if (!reply.ok() && !reply.failure.not_found()) failure = reply.failure;
  return reply.ok() ? parsed_json(reply.object.text) : Json();
}

Examination examine(Cluster& cluster, const InstallOptions& options, const std::vector<Planned>& objects,
                    InstallVerb verb) {
  return Examiner(cluster, options, objects, verb).run();
}

}  // namespace edge::edgectl
