// The kinds of Gateway API (gateway.networking.k8s.io) as written. translate/ converts them to the product's kinds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/model/backend.h"
#include "compiler/model/gateway.h"
#include "compiler/model/policy.h"
#include "compiler/model/route.h"

namespace edge::compiler::model {

inline constexpr std::string_view kGatewayApiGroup = "gateway.networking.k8s.io";

/// A reference with its kind. Group and kind default to those of the field.
struct ObjectRef {
  std::string group{};
  std::string kind{};
  Span kind_span{};
  Reference to{};
  Maybe<std::int64_t> port{};
  Span span{};
};

struct GatewayClass {
  Metadata metadata;
  Located<std::string> controller;
  std::optional<ObjectRef> parameters{};
};

struct GatewayListener {
  /// protocol is as written, with any name; hostnames has at most one.
  Listener listener;
  std::vector<ObjectRef> certificates{};
};

struct GatewayAddress {
  Maybe<std::string> type{};
  Maybe<std::string> value{};
  Span span{};
};

/// The CAs of client certificates.
struct ClientValidation {
  std::vector<ObjectRef> authorities{};
  bool optional = false;  ///< AllowInsecureFallback
  Span span{};
};

struct PortClientValidation {
  std::int64_t port = 0;
  std::optional<ClientValidation> validation{};  ///< nullopt: clients of the port need no certificate
};

struct Gateway {
  Metadata metadata;
  Located<std::string> class_name;
  std::vector<GatewayListener> listeners{};
  std::vector<GatewayAddress> addresses{};
  std::optional<ObjectRef> parameters{};  ///< of spec.infrastructure
  std::optional<ClientValidation> client_validation{};
  std::vector<PortClientValidation> client_validation_of_port{};        ///< in place of the former
  std::optional<ObjectRef> client_certificate{};                        ///< of spec.tls.backend
  AllowedRoutes allowed_listeners{.from = AllowedRoutes::From::kNone};  ///< whose ListenerSets; `kinds` is empty
  Maybe<std::string> vip{};                                             ///< annotation `{api_group}/vip`
};

/// Listeners that are added to a Gateway.
struct ListenerSet {
  Metadata metadata;
  ObjectRef parent{};
  std::vector<GatewayListener> listeners{};
};

struct ApiMirror {
  ObjectRef ref;
  Span span{};
  std::optional<program::MirrorShare> share{};
};

struct ApiBackendRef {
  ObjectRef ref;
  Maybe<std::int64_t> weight{};
  std::vector<Filter> filters{};
  // Of the only backend of a rule they become the rule's.
  std::optional<Cors> cors{};
  Span cors_span{};
  std::vector<ApiMirror> mirrors{};
  Span unknown_filter{};  ///< of an unsupported filter
};

struct ApiRetry {
  Span span{};
  std::vector<Located<std::int64_t>> codes{};
  Maybe<std::int64_t> max_retries{};
  Maybe<Duration> backoff{};
};

/// The filter ExternalAuth (GEP-1494), without the backend's name in `settings`.
struct ApiExternalAuth {
  ObjectRef ref;
  Span span{};
  ForwardAuth settings{};
};

/// GRPCRoute: the conditions of a call.
struct GrpcMatch {
  Span span{};
  bool regex = false;
  Maybe<std::string> service{};
  Maybe<std::string> method{};
  std::vector<ValueCondition> headers{};
};

struct ApiRule {
  /// Matches, filters and the request timeout; mirrors and backends are below.
  Rule rule;
  std::vector<GrpcMatch> calls{};
  std::vector<ApiMirror> mirrors{};
  std::vector<ApiBackendRef> backends{};
  std::optional<ApiRetry> retry{};
  Maybe<Duration> backend_timeout{};
  std::optional<Cors> cors{};
  Span cors_span{};
  std::optional<ApiExternalAuth> external_auth{};
  std::vector<ObjectRef> extensions{};  ///< of filters of type ExtensionRef
};

/// HTTPRoute, GRPCRoute, TLSRoute, TCPRoute or UDPRoute; metadata.kind tells which. A ServiceExport is one, too: a
/// route for other clusters.
struct ApiRoute {
  Metadata metadata;
  std::vector<ObjectRef> parent_refs{};
  std::vector<Maybe<std::string>> section_names{};  ///< one for each of parent_refs
  std::vector<Located<HostPattern>> hostnames{};
  std::vector<ApiRule> rules{};
};

struct BackendTlsTarget {
  ObjectRef ref;
  Maybe<std::string> section_name{};
};

struct BackendTlsPolicy {
  Metadata metadata;
  std::vector<BackendTlsTarget> targets{};
  std::vector<ObjectRef> authorities{};
  Maybe<std::string> well_known{};
  Located<std::string> hostname;
  /// Empty where the type is unknown, or the value is empty.
  std::vector<SubjectName> alternative_names{};
};

/// With its labels, for selectors.
struct Namespace {
  Metadata metadata;
  std::vector<NameValue> labels{};
};

/// The prefix of references to a ConfigMap among those to Secrets: no Secret has such a name.
inline constexpr std::string_view kConfigMapPrefix = "configmap/";

/// One value of a ConfigMap.
struct ConfigMapValue {
  std::string key;
  std::shared_ptr<const std::string> value{};  ///< null: unread, or of `binaryData` and no base64
  bool binary = false;                         ///< of `binaryData`
  /// Why a controller has left it out (kUnreadValues); empty: it has not.
  std::string unread{};
};

/// What a controller compiles of a ConfigMap may have, in place of values, a text under this field for each that says
/// why it is not among them. Of no manifest.
inline constexpr std::string_view kUnreadValues = "unreadValues";

struct ConfigMap {
  Metadata metadata;
  std::vector<ConfigMapValue> values{};
  std::shared_ptr<const std::string> authorities{};  ///< of `ca.crt`; null: none
  std::shared_ptr<const std::string> networks{};     ///< of `networks` (program/values/address_list.h); null: none
};

}  // namespace edge::compiler::model
