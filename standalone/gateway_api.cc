#include "standalone/gateway_api.h"

#include <future>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/ascii.h"
#include "controller/kube/blocking_client.h"
#include "schemas/schema.h"

namespace edge::standalone {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kGroup = "gateway.networking.k8s.io";
/// Services between clusters.
constexpr std::string_view kMulticlusterGroup = "multicluster.x-k8s.io";
/// One form serves all: none of them has a schema here.
constexpr std::string_view kVersions[] = {"v1", "v1beta1", "v1alpha3", "v1alpha2"};
constexpr std::string_view kMulticlusterVersions[] = {"v1alpha1"};

Json definition(const schemas::Kind& kind) {
  const std::string stored(kind.api_version.substr(kind.api_version.find('/') + 1));
  const bool multicluster = kind.api_version.starts_with(kMulticlusterGroup);
  const std::string_view group = multicluster ? kMulticlusterGroup : kGroup;
  Json versions = Json::array();
  for (const std::string_view version : multicluster ? std::span<const std::string_view>(kMulticlusterVersions)
                                                     : std::span<const std::string_view>(kVersions)) {
    versions.push_back(
        {{"name", version},
         {"served", true},
         {"storage", version == stored},
         {"schema", {{"openAPIV3Schema", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}},
         {"subresources", {{"status", Json::object()}}}});
  }
  const std::string name(kind.kind);
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata",
           {{"name", std::string(kind.plural) + "." + std::string(group)},
            {"annotations", {{"api-approved.kubernetes.io", "unapproved, without a schema"}}}}},
          {"spec",
           {{"group", group},
            {"scope", name == "GatewayClass" ? "Cluster" : "Namespaced"},
            {"names",
             {{"kind", name}, {"listKind", name + "List"}, {"plural", kind.plural}, {"singular", ascii_lower(name)}}},
            {"versions", std::move(versions)}}}};
}

}  // namespace

Status install_gateway_api(kube::Config config, net::Loop* loop) {
  auto client = kube::BlockingClient::make(std::move(config), {}, loop);
  if (!client) return client.error();
  const kube::DiscoveryReply served = (*client)->discover();
  if (!served.ok()) return served.failure.as_error();
  const kube::Resource* definitions = served.table.find_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition");
  if (definitions == nullptr) return Error{ErrorCode::kInternal, "the API has no CustomResourceDefinitions"};
  // At once: the API puts what comes together to disk together.
  std::vector<std::future<kube::ObjectReply>> replies;
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (!kind.api_version.starts_with(kGroup) && !kind.api_version.starts_with(kMulticlusterGroup)) continue;
    if (served.table.find_kind(kind.api_version, kind.kind) != nullptr) continue;
    replies.push_back(std::async(std::launch::async, [&, text = definition(kind).dump()] {
      return (*client)->create(*definitions, {}, text, {.field_manager = "edge-standalone"});
    }));
  }
  Status status;
  for (std::future<kube::ObjectReply>& waiting : replies) {
    const kube::ObjectReply reply = waiting.get();
    if (!reply.ok() && !reply.failure.already_exists()) status = reply.failure.as_error();
  }
  return status;
}

}  // namespace edge::standalone
