#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kModes[] = {"L2ARP", "L2", "BGP"};
constexpr std::string_view kFamilies[] = {"ipv4", "ipv6"};

constexpr Field kHealthPolicyFields[] = {
    integer("minHealthyNodes", "Nodes that must be healthy before the address is announced.").within(0, 1'000'000),
};
constexpr Object kHealthPolicy{kHealthPolicyFields};

constexpr Field kPeerFields[] = {
    string("address", "Address of the peer.").as(Format::kIp).needed(),
    integer("as", "Autonomous system of the peer.").within(1, 4'294'967'295).needed(),
    integer("port", "TCP port of the peer.").within(1, 65535).defaults_to("179"),
    string("password", "TCP MD5 password (RFC 2385)."),
};
constexpr Object kPeer{kPeerFields};

constexpr Field kBgpFields[] = {
    integer("localAS", "Own autonomous system.").within(1, 4'294'967'295),
    string("routerID", "BGP identifier, an IPv4 address.").as(Format::kIp),
    objects("peers", kPeer, "Routers that the address is announced to."),
    strings("communities", "Communities that announcements carry."),
    boolean("bfd", "Whether BFD watches the peers.").defaults_to("false"),
};
constexpr Object kBgp{kBgpFields};

constexpr Field kSpecFields[] = {
    string("address", "The address with its prefix length.").as(Format::kCidr).needed(),
    string("mode", "How nodes hold the address.").one_of(kModes).defaults_to("L2ARP"),
    string("addressFamily", "Family of the address.").one_of(kFamilies),
    integers("ports", "Ports served on the address.").within(1, 65535),
    string("interface", "Network interface of the layer-2 mode; the one with a route to the address without it."),
    object("healthPolicy", kHealthPolicy, "When the address may be held."),
    string_map("nodeSelector", "Labels of the agents that may hold the address; all without it."),
    object("bgp", kBgp, "Settings of the BGP mode."),
};
constexpr Object kSpec{kSpecFields};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr Field kStatusFields[] = {
    string("currentNode", "Node that holds the address."),
    strings("announcingNodes", "Nodes that announce it."),
    integer("epoch", "Counts the nodes that have held it; of two that hold it, the higher one is right.")
        .within(0, kNoMaximum),
    kConditionsField,
    kObservedGenerationField,
};
constexpr Object kStatus{kStatusFields};

constexpr std::string_view kAliases[] = {"vips", "vip"};
constexpr Column kColumns[] = {
    {"VIP", ".spec.address"},
    {"MODE", ".spec.mode"},
    kReadyColumn,
    kAgeColumn,
};

constexpr std::string_view kExample = "apiVersion: " EDGE_API_GROUP R"(/v1alpha1
kind: ProxyVIP
metadata:
  name: public
  namespace: edge-system
spec:
  address: 192.0.2.10/24
  mode: BGP
  ports: [80, 443]
  healthPolicy:
    minHealthyNodes: 2
  bgp:
    localAS: 64512
    peers:
      - address: 192.0.2.1
        as: 64500
)";

}  // namespace

const Object kProxyVip{kFields};
const Manifest kProxyVipManifest{.text =
                                     "An address that nodes hold and gateways listen on. One node holds it and answers "
                                     "ARP for it, or several announce it by BGP.",
                                 .aliases = kAliases,
                                 .columns = kColumns,
                                 .status = &kStatus,
                                 .example = kExample};

}  // namespace edge::schemas
