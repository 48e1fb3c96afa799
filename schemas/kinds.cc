#include "schemas/schema.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kOwn = EDGE_API_GROUP "/v1alpha1";

constexpr Kind kKinds[] = {
    {"Endpoints", "endpoints", "v1", &kEndpoints},
    {"Secret", "secrets", "v1", &kSecret},
    {"Service", "services", "v1", &kService},
    {"EndpointSlice", "endpointslices", "discovery.k8s.io/v1", &kEndpointSlice},
    {"ProxyBackend", "proxybackends", kOwn, &kProxyBackend, true},
    {"ProxyGateway", "proxygateways", kOwn, &kProxyGateway, true},
    {"ProxyPolicy", "proxypolicies", kOwn, &kProxyPolicy, true},
    {"ProxyRoute", "proxyroutes", kOwn, &kProxyRoute, true},
    {"ProxyVIP", "proxyvips", kOwn, &kProxyVip, true},
    {"ReferenceGrant", "referencegrants", "gateway.networking.k8s.io/v1beta1", &kReferenceGrant},
};

constexpr Field kMetadataFields[] = {
    string("name", "Name, unique among the kind's in a namespace.").as(Format::kName).needed(),
    string("namespace", "Namespace.").as(Format::kNamespace).defaults_to("default"),
    string_map("labels", "Labels."),
    string_map("annotations", "Annotations."),
    string("creationTimestamp", "When it was created; the older of two wins (rule D1).").as(Format::kTimestamp),
};
// Open: an object read from a cluster carries uid, resourceVersion, managedFields and more.
constexpr Object kMetadata{kMetadataFields, true};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

const Kind* find_kind(std::string_view kind) {
  for (const Kind& candidate : kKinds) {
    if (candidate.kind == kind) return &candidate;
  }
  return nullptr;
}

const Object& metadata() { return kMetadata; }

}  // namespace edge::schemas
