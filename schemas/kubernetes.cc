// The fields of Kubernetes' own kinds that are read. Open: other fields are ignored.
#include "schemas/schema.h"

namespace edge::schemas {
namespace {

constexpr Field kServicePortFields[] = {
    string("name", "Name of the port."),
    integer("port", "Port of the service.").within(1, 65535).needed(),
    string("protocol", "TCP, UDP or SCTP.").defaults_to("TCP"),
    int_or_string("targetPort", "Port of the pods, by number or name."),
    string("appProtocol", "What the pods speak."),
};
constexpr Object kServicePort{kServicePortFields, true};
constexpr Field kServiceSpecFields[] = {
    objects("ports", kServicePort, "Ports."),
    string("trafficDistribution",
           "`PreferSameZone`, or its older name `PreferClose`: agents prefer endpoints of their zone."),
};
constexpr Object kServiceSpec{kServiceSpecFields, true};
constexpr Field kServiceFields[] = {object("spec", kServiceSpec, "Desired state.")};

constexpr Field kConditionFields[] = {
    boolean("ready", "Whether it takes traffic; unknown counts as yes."),
    boolean("serving", "Whether it still answers."),
    boolean("terminating", "Whether it is going away."),
};
constexpr Object kConditions{kConditionFields, true};
constexpr Field kZoneHintFields[] = {string("name", "Name of the zone.")};
constexpr Object kZoneHint{kZoneHintFields, true};
constexpr Field kHintFields[] = {objects("forZones", kZoneHint, "Zones whose agents prefer it.")};
constexpr Object kHints{kHintFields, true};
constexpr Field kEndpointFields[] = {
    strings("addresses", "Addresses of one endpoint.").needed(),
    object("conditions", kConditions, "Its state."),
    string("zone", "Where it is."),
    object("hints", kHints, "Who should use it."),
};
constexpr Object kEndpoint{kEndpointFields, true};
constexpr Field kEndpointPortFields[] = {
    string("name", "Name of the port."),
    integer("port", "Port.").within(1, 65535),
    string("protocol", "TCP, UDP or SCTP.").defaults_to("TCP"),
};
constexpr Object kEndpointPort{kEndpointPortFields, true};
constexpr std::string_view kAddressTypes[] = {"IPv4", "IPv6", "FQDN"};
constexpr Field kEndpointSliceFields[] = {
    string("addressType", "Family of the addresses.").one_of(kAddressTypes).needed(),
    objects("endpoints", kEndpoint, "Endpoints."),
    objects("ports", kEndpointPort, "Ports of every endpoint."),
};

constexpr Field kSubsetAddressFields[] = {string("ip", "Address.").as(Format::kIp).needed()};
constexpr Object kSubsetAddress{kSubsetAddressFields, true};
constexpr Field kSubsetFields[] = {
    objects("addresses", kSubsetAddress, "Addresses that are ready."),
    objects("notReadyAddresses", kSubsetAddress, "Addresses that are not."),
    objects("ports", kEndpointPort, "Ports of every address."),
};
constexpr Object kSubset{kSubsetFields, true};
constexpr Field kEndpointsFields[] = {objects("subsets", kSubset, "Endpoints.")};

constexpr Field kSecretFields[] = {
    string("type", "Type of the secret."),
    string_map("data", "Values, in base64."),
    string_map("stringData", "Values, as they are."),
    boolean("immutable", "Whether it may change."),
};

constexpr Field kFromFields[] = {
    string("group", "Group of the kind that refers.").needed(),
    string("kind", "Kind that refers.").needed(),
    string("namespace", "Its namespace.").as(Format::kNamespace).needed(),
};
constexpr Object kFrom{kFromFields};
constexpr Field kToFields[] = {
    string("group", "Group of the kind that is referred to.").needed(),
    string("kind", "Kind that is referred to.").needed(),
    string("name", "Its name; all without it.").as(Format::kName),
};
constexpr Object kTo{kToFields};
constexpr Field kGrantSpecFields[] = {
    objects("from", kFrom, "Who may refer.").needed(),
    objects("to", kTo, "To what.").needed(),
};
constexpr Object kGrantSpec{kGrantSpecFields};
constexpr Field kReferenceGrantFields[] = {object("spec", kGrantSpec, "What is allowed.").needed()};

constexpr Field kConfigMapFields[] = {
    string_map("data", "Values."),
    string_map("binaryData", "Values, in base64."),
};
constexpr Object kNoFields{{}, true};
constexpr Field kNamespaceFields[] = {object("spec", kNoFields, "Desired state.")};

}  // namespace

const Object kConfigMap{kConfigMapFields, true};
const Object kNamespace{kNamespaceFields, true};
const Object kService{kServiceFields, true};
const Object kEndpointSlice{kEndpointSliceFields, true};
const Object kEndpoints{kEndpointsFields, true};
const Object kSecret{kSecretFields, true};
const Object kReferenceGrant{kReferenceGrantFields, true};

}  // namespace edge::schemas
