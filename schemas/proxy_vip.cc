#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kModes[] = {"L2ARP", "L2", "BGP"};
constexpr std::string_view kFamilies[] = {"ipv4", "ipv6"};

constexpr Field kHealthPolicyFields[] = {
    integer("minHealthyNodes", "Nodes that must be healthy before the address is announced.").within(0, 1'000'000),
};
constexpr Object kHealthPolicy{kHealthPolicyFields};

constexpr Field kPasswordFields[] = {
    string("name", "Name of a secret in the namespace of the ProxyVIP.").as(Format::kName).needed(),
    string("key", "Key of the secret.").defaults_to("password"),
};
constexpr Object kPassword{kPasswordFields};

constexpr Field kPeerFields[] = {
    string("address", "Address of the peer.").as(Format::kIp).needed(),
    integer("as", "Autonomous system of the peer.").within(1, 4'294'967'295).needed(),
    integer("port", "TCP port of the peer.").within(1, 65535).defaults_to("179"),
    string("password", "TCP MD5 password (RFC 2385), for everybody to read who may read the ProxyVIP.")
        .as(Format::kBgpPassword),
    object("passwordSecretRef", kPassword, "Secret with the TCP MD5 password."),
    integer("multihop", "Routers on the way to the peer at most; without it the peer is on a link of the node.")
        .within(1, 255),
    string("sourceAddress", "Own address of the session; that of the route without it.").as(Format::kIp),
};
constexpr Rule kPeerRules[] = {
    {"!has(self.password) || !has(self.passwordSecretRef)",
     "password and passwordSecretRef are two forms of one setting"},
};
constexpr Object kPeer{.fields = kPeerFields, .rules = kPeerRules};

constexpr std::int64_t kMost32 = 4'294'967'295;
constexpr Field kBgpFields[] = {
    integer("localAS", "Own autonomous system.").within(1, kMost32).needed(),
    string("routerID", "BGP identifier, an IPv4 address; the lowest IPv4 address of the node without it.")
        .as(Format::kIp),
    objects("peers", kPeer, "Routers that the address is announced to.").at_most(32).needed(),
    strings("communities", "Communities (RFC 1997) and large communities (RFC 8092) that announcements carry.")
        .as(Format::kBgpCommunity)
        .at_most(64),
    integer("med", "MULTI_EXIT_DISC of announcements; none without it.").within(0, kMost32),
    integer("localPreference", "LOCAL_PREF of announcements to peers of the own autonomous system.")
        .within(0, kMost32)
        .defaults_to("100"),
    string("holdTime", "A peer that was not heard for so long is lost (RFC 4271 §4.2).")
        .as(Format::kDuration)
        .defaults_to("90s"),
    string("keepaliveTime", "How often a peer is told that this node is there; a third of holdTime without it.")
        .as(Format::kDuration),
    string("connectRetryTime", "Between two attempts to reach a peer.").as(Format::kDuration).defaults_to("5s"),
    boolean("bfd", "Whether BFD (RFC 5880) watches the peers.").defaults_to("false"),
    string("bfdInterval", "Between two packets of BFD, each way.").as(Format::kDuration).defaults_to("300ms"),
    integer("bfdMultiplier", "Packets of BFD in a row without which a peer is lost.").within(1, 255).defaults_to("3"),
    boolean("gracefulRestart", "Whether peers keep routes while a session is made anew (RFC 4724).")
        .defaults_to("false"),
    string("gracefulRestartTime", "How long they keep them.").as(Format::kDuration).defaults_to("120s"),
};
constexpr Object kBgp{kBgpFields};

constexpr Field kSpecFields[] = {
    string("address", "The address with its prefix length.").as(Format::kCidr),
    strings("pool", "Blocks of addresses, in place of one address: each gateway that asks for one gets one of its own.")
        .as(Format::kCidr)
        .at_most(16),
    string("mode", "How nodes hold the address.").one_of(kModes).defaults_to("L2ARP"),
    string("addressFamily", "Family of the address.").one_of(kFamilies),
    integers("ports", "Ports served on the address.").within(1, 65535),
    string("interface", "Network interface of the layer-2 mode; the one with a route to the address without it."),
    object("healthPolicy", kHealthPolicy, "When the address may be held."),
    string_map("nodeSelector", "Labels of the agents, or of their Nodes, that may hold the address; all without it."),
    object("bgp", kBgp, "Settings of the BGP mode."),
};
constexpr Rule kSpecRules[] = {
    {"self.mode != 'BGP' || has(self.bgp)", "mode BGP takes bgp"},
    {"has(self.address) != has(self.pool)", "a ProxyVIP has either address or pool"},
};
constexpr Object kSpec{.fields = kSpecFields, .rules = kSpecRules};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr Field kSessionFields[] = {
    string("node", "Node that has the session.").needed(),
    string("peer", "The peer's address, with its port where that is not 179.").needed(),
    string("state", "`Established` or `Down`.").needed(),
    string("since", "When it came into that state.").as(Format::kTimestamp),
    string("bfd", "State of BFD, where it watches the peer."),
    string("lastError", "Why it ended last."),
};
constexpr Object kSession{kSessionFields};

constexpr Field kAllocationFields[] = {
    string("address", "The address.").as(Format::kIp).needed(),
    string("kind", "Kind of the gateway that has it.").needed(),
    string("namespace", "Namespace of the gateway.").as(Format::kNamespace).needed(),
    string("name", "Name of the gateway.").as(Format::kName).needed(),
    string("node", "Node that holds the address.").defaults_to(""),
};
constexpr Object kAllocation{kAllocationFields};

constexpr Field kStatusFields[] = {
    string("currentNode", "Node that holds the address."),
    strings("announcingNodes", "Nodes that announce it."),
    integer("epoch", "Counts the nodes that have held it; of two that hold it, the higher one is right.")
        .within(0, kNoMaximum),
    objects("sessions", kSession, "BGP sessions that it is announced on.").at_most(64),
    objects("allocations", kAllocation, "Of a pool: which gateway has which address.").at_most(1000),
    kConditionsField,
    kObservedGenerationField,
};
constexpr Object kStatus{kStatusFields};

constexpr std::string_view kAliases[] = {"vips", "vip"};
constexpr Column kColumns[] = {
    {"VIP", ".spec['address','pool']"},
    {"MODE", ".spec.mode"},
    kReadyColumn,
    {"NODE", ".status.currentNode", ColumnType::kString, true},
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
