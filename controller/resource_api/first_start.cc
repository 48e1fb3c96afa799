#include "controller/resource_api/first_start.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/crd.h"
#include "controller/resource_api/objects/read.h"
#include "controller/resource_api/requests/body.h"
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

/// An object that must exist after the first start: its collection, name and contents.
struct Wanted {
  std::string collection;  ///< path
  std::string name;
  Json object;
};

Result<std::vector<Wanted>> wanted_objects(OwnKinds own) {
  std::vector<Wanted> all;
  for (const std::string_view name : kNamespaceNames) {
    all.push_back({"/api/v1/namespaces", std::string(name), {{"metadata", {{"name", name}}}}});
  }
  if (own == OwnKinds::kLeft) return all;
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    std::vector<std::string> duplicates;
    auto crd = read_body("application/json", schemas::crd_json(kind), duplicates);
    if (!crd) return Error{ErrorCode::kInternal, std::string(kind.kind) + ": " + crd.error().message};
    objects::apply_crd_defaults(*crd);
    all.push_back({std::string(kCrdPath), metadata_text(*crd, "name"), std::move(*crd)});
  }
  return all;
}

}  // namespace

Status install_first_objects(Api& api, OwnKinds own) {
  const auto wanted = wanted_objects(own);
  if (!wanted) return wanted.error();
  std::vector<ApiRequest> reads;
  for (const Wanted& each : *wanted) reads.push_back(request_of("GET", each.collection + "/" + each.name));
  const std::vector<ApiReply> there = api.handle_all(reads);
  std::vector<ApiRequest> writes;
  for (std::size_t i = 0; i < there.size(); ++i) {
    const Wanted& each = (*wanted)[i];
    if (there[i].status == 404) {
      writes.push_back(request_of("POST", each.collection, each.object.dump()));
    } else if (auto live = objects::read_object(there[i].body); live && each.object.contains("spec")) {
      // Another version of ours may have written it: the definition is this one's, the rest of the object stays.
      const auto& version = each.object["metadata"]["annotations"][std::string(schemas::kDefinitionVersion)];
      auto& there_version = (*live)["metadata"]["annotations"][std::string(schemas::kDefinitionVersion)];
      if ((*live)["spec"] == each.object["spec"] && there_version == version) continue;
      (*live)["spec"] = each.object["spec"];
      there_version = version;
      writes.push_back(request_of("PUT", reads[i].path, live->dump()));
    }
  }
  for (const ApiReply& reply : api.handle_all(writes)) {
    if (reply.status >= 300) return Error{ErrorCode::kInternal, "first objects: " + reply.body};
  }
  return {};
}

}  // namespace edge::resource_api
