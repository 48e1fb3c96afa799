// ProxyVIP and ProxyGateway as written: without defaults, references unresolved.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hostname.h"
#include "base/ip.h"
#include "compiler/model/certificate_issuer.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::model {

struct BgpPeer {
  Located<IpAddress> address{};
  std::int64_t as_number = 0;
  Maybe<std::int64_t> port{};
  Maybe<std::string> password{};
  Maybe<std::string> password_secret{};  ///< in the namespace of the ProxyVIP
  Maybe<std::string> password_key{};
  Maybe<std::int64_t> multihop{};
  Maybe<IpAddress> source_address{};
};

struct Bgp {
  Maybe<std::int64_t> local_as{};
  Maybe<IpAddress> router_id{};
  std::vector<BgpPeer> peers{};
  std::vector<Located<std::string>> communities{};
  Maybe<std::int64_t> med{};
  Maybe<std::int64_t> local_preference{};
  Maybe<std::chrono::nanoseconds> hold_time{};
  Maybe<std::chrono::nanoseconds> keepalive_time{};
  Maybe<std::chrono::nanoseconds> connect_retry_time{};
  Maybe<bool> bfd{};
  Maybe<std::chrono::nanoseconds> bfd_interval{};
  Maybe<std::int64_t> bfd_multiplier{};
  Maybe<bool> graceful_restart{};
  Maybe<std::chrono::nanoseconds> graceful_restart_time{};
};

/// An address of a pool that a gateway has.
struct PoolAllocation {
  IpAddress address{};
  std::string kind{};  ///< of the gateway
  std::string name_space{};
  std::string name{};

  friend bool operator==(const PoolAllocation&, const PoolAllocation&) = default;
};

struct ProxyVip {
  Metadata metadata;
  /// The host bits are kept, since this is the address of a host.
  Located<IpAddress> address{};
  std::uint8_t prefix_length = 0;
  /// In place of `address`: gateways get an address of their own from these blocks.
  std::vector<Located<Cidr>> pool{};
  /// Of its status: what was given out before.
  std::vector<PoolAllocation> allocations{};
  Maybe<std::string> mode{};
  Maybe<std::string> address_family{};
  std::vector<Located<std::int64_t>> ports{};
  Maybe<std::string> interface{};
  Maybe<std::int64_t> min_healthy_nodes{};
  std::vector<NameValue> node_selector{};  ///< labels of agents
  std::optional<Bgp> bgp{};
};

struct Tls {
  Span span{};
  /// From both forms: secretRef is a list of one.
  std::vector<Reference> certificates{};
  bool short_form = false;  ///< written as secretRef
  /// Replace `certificates`; both or none.
  Maybe<std::string> certificate_file{};
  Maybe<std::string> key_file{};
  /// Replaces both: certificates are ordered from a CA.
  std::optional<ListenerAcme> acme{};
  /// For clients; none: clients need no certificate.
  std::vector<Reference> client_authorities{};
  bool client_certificate_optional = false;
  /// Of translated listeners: one that does not verify is accepted (AllowInsecureFallback).
  bool client_certificate_unverified = false;
  bool requires_crl = false;
  /// For translated listeners: set even if none of the requested CAs can be referred to.
  bool needs_client_certificate = false;
  Maybe<std::string> mode{};
  Maybe<std::string> min_version{};
};

struct RedirectScheme {
  Span span{};
  Maybe<bool> enabled{};
  Maybe<std::string> scheme{};
  Maybe<std::int64_t> port{};
  Maybe<std::int64_t> status{};
  std::vector<Located<std::string>> exclusions{};
};

/// One condition of a label selector; `matchLabels` are kIn with one value.
struct LabelRequirement {
  enum class Operator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist };
  std::string key{};
  Operator op = Operator::kIn;
  std::vector<std::string> values{};
};

struct RouteKind {
  std::string group{};
  std::string kind{};
  Span span{};
};

/// The routes that a listener accepts, as in Gateway API.
struct AllowedRoutes {
  enum class From : std::uint8_t { kSame, kAll, kSelector, kNone };
  From from = From::kSame;
  std::vector<LabelRequirement> selector{};
  /// Empty: every kind that the protocol supports.
  std::vector<RouteKind> kinds{};
};

struct Listener {
  Span span{};
  Located<std::string> name;
  Located<std::int64_t> port;
  Located<std::string> protocol;
  std::vector<Located<HostPattern>> hostnames{};
  std::optional<Tls> tls{};
  Maybe<bool> ssl_redirect{};
  Maybe<std::int64_t> max_request_body{};
  Maybe<bool> proxy_protocol{};
  /// The listener's own, or the gateway's.
  std::optional<RedirectScheme> redirect_scheme{};
  /// For translated listeners. None: routes of the gateway's namespace, and others by a ReferenceGrant.
  std::optional<AllowedRoutes> allowed_routes{};
  /// Reason of a condition (Gateway API) if translation refused it; the listener is then never served.
  std::string refused{};
  /// Of a ListenerSet: its place in ProxyGateway::listener_sets. Absent: the listener is the gateway's own.
  std::optional<std::uint32_t> set{};
  /// In the list that it was written in.
  std::uint32_t position = 0;
};

struct Compression {
  Span span{};
  Maybe<bool> enabled{};
  Maybe<std::uint64_t> min_size{};
  Maybe<std::int64_t> level{};
  std::vector<Located<std::string>> algorithms{};
  std::vector<Located<std::string>> exclude_types{};
  Maybe<std::string> credentials{};
};

struct Cache {
  Span span{};
  Maybe<bool> enabled{};
  Maybe<std::uint64_t> max_size{};
  Maybe<std::chrono::nanoseconds> default_ttl{};
  Maybe<std::chrono::nanoseconds> max_ttl{};
  Maybe<std::uint64_t> max_entry_size{};
};

struct Tracing {
  Span span{};
  Maybe<bool> enabled{};
  Maybe<std::int64_t> sampling_rate{};
  Maybe<std::string> trust_incoming{};
};

struct AccessLog {
  Span span{};
  Maybe<bool> enabled{};
  Maybe<std::string> format{};
  std::vector<Located<std::string>> exclude_paths{};
};

struct ClientLimits {
  Span span{};
  Maybe<std::uint64_t> min_body_rate{};
  Maybe<std::chrono::nanoseconds> body_grace{};
  Maybe<std::int64_t> max_connections_per_source{};
  Maybe<std::int64_t> max_streams_per_source{};
};

struct Paths {
  Span span{};
  Maybe<bool> merge_slashes{};
  Maybe<std::string> escaped_slashes{};
  Maybe<std::string> path_parameters{};
};

struct ProxyGateway {
  Metadata metadata;
  Maybe<std::string> vip_ref{};
  Maybe<std::string> load_balancer_class{};
  std::vector<Located<std::string>> agent_groups{};
  /// For translated gateways: addresses to bind in addition to those of a VIP.
  std::vector<Located<IpAddress>> addresses{};
  /// Of translated gateways that ask for no address: they get one from a pool where there is one.
  bool takes_from_pool = false;
  /// Of translated gateways: ListenerSets whose listeners stand behind the gateway's own, in their order.
  std::vector<Metadata> listener_sets{};
  /// Of translated gateways: whose ListenerSets add listeners.
  AllowedRoutes allowed_listeners{.from = AllowedRoutes::From::kNone};
  /// Of translated gateways: what backends are shown that are called over TLS. A name that is empty: what was asked for
  /// is no certificate.
  std::optional<Reference> client_certificate{};
  /// Reason of a condition (Gateway API) why translating refused it; none of its listeners is then served.
  std::string refused{};
  std::string refused_because{};  ///< for people; empty: the reason says it
  std::vector<Listener> listeners{};
  std::optional<Compression> compression{};
  std::optional<Cache> cache{};
  std::optional<Tracing> tracing{};
  std::optional<AccessLog> access_log{};
  std::optional<ClientLimits> limits{};
  std::optional<Paths> paths{};
  Maybe<std::string> canary_header{};
  Maybe<std::string> reason_header{};
  std::optional<RedirectScheme> redirect_scheme{};
  std::vector<Located<Cidr>> trusted_proxies{};
  /// Takes requests of other clusters alone: where those reach it.
  struct OtherClusters {
    Span span{};
    std::vector<Located<std::string>> advertise{};
  };
  std::optional<OtherClusters> clusters{};
};

/// The resource that the listener is written in: a ListenerSet, or the gateway itself.
inline const Metadata& owner_of(const ProxyGateway& gateway, const Listener& listener) {
  return listener.set ? gateway.listener_sets[*listener.set] : gateway.metadata;
}

}  // namespace edge::compiler::model
