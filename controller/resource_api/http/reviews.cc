#include "controller/resource_api/http/reviews.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/http/credentials.h"
#include "controller/resource_api/objects/read.h"
#include "controller/resource_api/objects/status.h"
#include "controller/resource_api/requests/request.h"

namespace edge::resource_api::http {
namespace {

using objects::Json;

constexpr std::string_view kAuthentication = "authentication.k8s.io";
constexpr std::string_view kAuthorization = "authorization.k8s.io";
constexpr std::array<ReviewType, 7> kTypes = {{
    {kAuthentication, "v1", "SelfSubjectReview", "selfsubjectreviews"},
    {kAuthentication, "v1beta1", "SelfSubjectReview", "selfsubjectreviews"},
    {kAuthentication, "v1alpha1", "SelfSubjectReview", "selfsubjectreviews"},
    {kAuthorization, "v1", "LocalSubjectAccessReview", "localsubjectaccessreviews", true},
    {kAuthorization, "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews"},
    {kAuthorization, "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews"},
    {kAuthorization, "v1", "SubjectAccessReview", "subjectaccessreviews"},
}};

ApiReply fault(const objects::StatusError& error) { return {.status = error.code, .body = error.text()}; }

Attributes asked_of(const Json& spec) {
  Attributes what;
  const Json& resource = member_in(spec, "resourceAttributes");
  if (!resource.is_object() || resource.empty()) {
    const Json& other = member_in(spec, "nonResourceAttributes");
    what.path = text_in(other, "path");
    what.verb = text_in(other, "verb");
    return what;
  }
  what.verb = text_in(resource, "verb");
  what.group = text_in(resource, "group");
  what.version = text_in(resource, "version");
  what.name_space = text_in(resource, "namespace");
  what.resource = text_in(resource, "resource");
  what.subresource = text_in(resource, "subresource");
  what.name = text_in(resource, "name");
  return what;
}

User asked_about(const Json& spec) {
  User user{text_in(spec, "user"), {}};
  for (const Json& group : list_in(spec, "groups")) {
    if (group.is_string()) user.groups.push_back(group.get<std::string>());
  }
  return user;
}

/// What `kubectl auth can-i --list` prints.
Json rules_of(const User& user, std::string_view name_space) {
  const auto resources = [](const Json& verbs, const Json& groups, const Json& names) {
    return Json{{"verbs", verbs}, {"apiGroups", groups}, {"resources", names}};
  };
  const Json all = {"*"};
  const Json read = {"get", "list", "watch"};
  Json rules = Json::array();
  Json paths = Json::array();
  if (may_everything(user)) {
    rules.push_back(resources(all, all, all));
    paths.push_back({{"verbs", all}, {"nonResourceURLs", all}});
  } else {
    rules.push_back(resources({"create"}, {kAuthorization}, {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}));
    rules.push_back(resources({"create"}, {kAuthentication}, {"selfsubjectreviews"}));
    // Rules cannot say "all but secrets": that they are left out stands in no list.
    if (reads_namespace(user, name_space)) rules.push_back(resources(read, all, all));
    paths.push_back(
        {{"verbs", {"get"}},
         {"nonResourceURLs",
          {"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi/*", "/readyz", "/version"}}});
  }
  return {{"resourceRules", rules}, {"nonResourceRules", paths}, {"incomplete", false}};
}

Json status_of(std::string_view kind, const User& user, const Json& spec) {
  if (kind == "SelfSubjectReview") {
    return {{"userInfo", {{"username", user.name}, {"groups", user.groups}}}};
  }
  if (kind == "SelfSubjectRulesReview") return rules_of(user, text_in(spec, "namespace"));
  const User about = kind == "SelfSubjectAccessReview" ? user : asked_about(spec);
  const bool may = allowed(about, asked_of(spec));
  Json status = {{"allowed", may}};
  if (!may)
    status["reason"] = "neither of " + std::string(kMastersGroup) + " nor granted by " + std::string(kReadersGroup);
  return status;
}

}  // namespace

std::span<const ReviewType> review_types() { return kTypes; }

std::optional<ApiReply> answer_review(const ApiRequest& request, const Attributes& what) {
  const auto type = std::ranges::find_if(kTypes, [&](const ReviewType& one) {
    return one.group == what.group && one.version == what.version && one.plural == what.resource;
  });
  if (type == kTypes.end()) return std::nullopt;
  if (request.method != "POST") {
    return fault(objects::method_not_allowed({type->group, type->plural, type->kind}, what.verb));
  }
  const std::string form = media_type(request.content_type);
  if (!form.empty() && form != "application/json") {
    return fault(objects::unsupported_media_type("application/json"));
  }
  objects::Answer<Json> body = objects::read_object(request.body);
  if (!body) return fault(body.error());
  Json& object = *body;
  object["kind"] = type->kind;
  object["apiVersion"] = std::string(type->group) + "/" + std::string(type->version);
  if (!object.contains("metadata") || !object["metadata"].is_object()) object["metadata"] = Json::object();
  object["metadata"]["creationTimestamp"] = nullptr;
  object["status"] = status_of(type->kind, request.user, member_in(object, "spec"));
  return ApiReply{.status = 201, .body = json_line(object)};
}

}  // namespace edge::resource_api::http
