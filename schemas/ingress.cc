// Ingress and IngressClass of networking.k8s.io/v1. Lenient: unknown fields of a later version are a warning, not an
// error.
#include "schemas/schema.h"

namespace edge::schemas {
namespace {

constexpr Object lenient(std::span<const Field> fields) { return {.fields = fields, .open = false, .lenient = true}; }

constexpr std::string_view kPathTypes[] = {"Exact", "Prefix", "ImplementationSpecific"};

constexpr Field kResourceFields[] = {
    string("apiGroup", "Group of the kind."),
    string("kind", "Kind that is referred to.").needed(),
    string("name", "Its name.").as(Format::kName).needed(),
    string("namespace", "Its namespace, of parameters.").as(Format::kNamespace),
    string("scope", "Cluster or Namespace, of parameters."),
};
constexpr Object kResource = lenient(kResourceFields);
constexpr Field kPortFields[] = {
    integer("number", "Port of the service.").within(1, 65535),
    string("name", "Name of the port."),
};
constexpr Object kPort = lenient(kPortFields);
constexpr Field kServiceFields[] = {
    string("name", "Name of the Service.").as(Format::kName).needed(),
    object("port", kPort, "Its port, by number or name."),
};
constexpr Object kServiceRef = lenient(kServiceFields);
constexpr Field kBackendFields[] = {
    object("service", kServiceRef, "The Service."),
    object("resource", kResource, "A ProxyBackend of the group " EDGE_API_GROUP ", in the place of a Service."),
};
constexpr Object kBackend = lenient(kBackendFields);
constexpr Field kPathFields[] = {
    string("path", "The path."),
    string("pathType", "How the path is compared.").one_of(kPathTypes).needed(),
    object("backend", kBackend, "Where requests go.").needed(),
};
constexpr Object kPath = lenient(kPathFields);
constexpr Field kHttpFields[] = {objects("paths", kPath, "Paths.").at_most(4096).needed()};
constexpr Object kHttp = lenient(kHttpFields);
constexpr Field kRuleFields[] = {
    string("host", "The host; every one without it.").as(Format::kHostname),
    object("http", kHttp, "Paths of the host."),
};
constexpr Object kRule = lenient(kRuleFields);
constexpr Field kTlsFields[] = {
    strings("hosts", "Hosts that the certificate is for.").as(Format::kHostname).at_most(1024),
    string("secretName", "Secret with the certificate.").as(Format::kName),
};
constexpr Object kTls = lenient(kTlsFields);
constexpr Field kSpecFields[] = {
    string("ingressClassName", "Class of the ingress (rule D8).").as(Format::kName),
    object("defaultBackend", kBackend, "Where requests go that no rule takes."),
    objects("rules", kRule, "Rules.").at_most(1024),
    objects("tls", kTls, "Certificates.").at_most(1024),
};
constexpr Object kSpec = lenient(kSpecFields);
constexpr Field kIngressFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr Field kClassSpecFields[] = {
    string("controller", "Controller of the class's ingresses (rule D8)."),
    object("parameters", kResource, "A ProxyGateway whose listeners serve the class."),
};
constexpr Object kClassSpec = lenient(kClassSpecFields);
constexpr Field kClassFields[] = {object("spec", kClassSpec, "Desired state.").needed()};

}  // namespace

const Object kIngress = lenient(kIngressFields);
const Object kIngressClass = lenient(kClassFields);

}  // namespace edge::schemas
