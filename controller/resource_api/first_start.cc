#include "controller/resource_api/first_start.h"

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "controller/resource_api/body.h"
#include "controller/resource_api/objects/read.h"
#include "schemas/crd.h"
#include "schemas/schema.h"

namespace edge::resource_api {
namespace {

using objects::Json;

constexpr std::string_view kNamespaceNames[] = {"default", "kube-system", "edge-system"};
constexpr std::string_view kCrdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

ApiRequest request_of(std::string method, std::string path, std::string body = {}) {
  ApiRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.body = std::move(body);
  request.query = {{"fieldManager", "edge-resource-api"}};
  request.user = {"system:edge-resource-api", {"system:masters"}};
  return request;
}

Status status_of(const ApiReply& reply, std::string_view what) {
  if (reply.status < 300) return {};
  return Error{ErrorCode::kInternal, std::string(what) + ": " + reply.body};
}

Status install_namespace(Api& api, std::string_view name) {
  const std::string path = "/api/v1/namespaces";
  if (api.handle(request_of("GET", path + "/" + std::string(name))).status == 200) return {};
  const Json body = {{"metadata", {{"name", name}}}};
  return status_of(api.handle(request_of("POST", path, body.dump())), name);
}

Status install_crd(Api& api, const schemas::Kind& kind) {
  std::vector<std::string> duplicates;
  auto crd = read_body("application/yaml", schemas::crd_manifest(kind), duplicates);
  if (!crd) return Error{ErrorCode::kInternal, std::string(kind.kind) + ": " + crd.error().message};
  const std::string name = metadata_text(*crd, "name");
  const std::string path = std::string(kCrdPath) + "/" + name;
  const ApiReply there = api.handle(request_of("GET", path));
  if (there.status == 404) return status_of(api.handle(request_of("POST", std::string(kCrdPath), crd->dump())), name);
  auto live = objects::read_object(there.body);
  if (!live) return status_of(there, name);
  // Another version of ours may have written it: the definition is this one's, the rest of the object stays.
  (*live)["spec"] = (*crd)["spec"];
  return status_of(api.handle(request_of("PUT", path, live->dump())), name);
}

}  // namespace

Status install_first_objects(Api& api) {
  for (const std::string_view name : kNamespaceNames) {
    if (Status status = install_namespace(api, name); !status) return status;
  }
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    if (Status status = install_crd(api, kind); !status) return status;
  }
  return {};
}

}  // namespace edge::resource_api
