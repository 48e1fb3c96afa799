// The kinds of Gateway API (gateway.networking.k8s.io) as written. translate/ turns them into the own kinds.
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

/// A reference that says of which kind it is. Group and kind are filled in with the field's default.
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
  /// protocol is as written: any name; hostnames has at most one.
  Listener listener;
  std::vector<ObjectRef> certificates{};
};

struct GatewayAddress {
  Maybe<std::string> type{};
  Maybe<std::string> value{};
  Span span{};
};

/// Whose certificates clients must show.
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

struct ApiBackendRef {
  ObjectRef ref;
  Maybe<std::int64_t> weight{};
  std::vector<Filter> filters{};
  Span unknown_filter{};  ///< of a filter that has no counterpart
};

struct ApiMirror {
  ObjectRef ref;
  Span span{};
  double percent = 100;
};

struct ApiRetry {
  Span span{};
  std::vector<Located<std::int64_t>> codes{};
  Maybe<std::int64_t> max_retries{};
  Maybe<Duration> backoff{};
};

/// The filter ExternalAuth (GEP-1494), less the backend's name in `settings`.
struct ApiExternalAuth {
  ObjectRef ref;
  Span span{};
  ForwardAuth settings{};
};

/// GRPCRoute: what a call is told apart by.
struct GrpcMatch {
  Span span{};
  bool regex = false;
  Maybe<std::string> service{};
  Maybe<std::string> method{};
  std::vector<ValueCondition> headers{};
};

struct ApiRule {
  /// Matches, filters and the request timeout; mirrors and backends stand below.
  Rule rule;
  std::vector<GrpcMatch> calls{};
  std::vector<ApiMirror> mirrors{};
  std::vector<ApiBackendRef> backends{};
  std::optional<ApiRetry> retry{};
  Maybe<Duration> backend_timeout{};
  std::optional<Cors> cors{};
  Span cors_span{};
  std::optional<ApiExternalAuth> external_auth{};
  Span extension{};  ///< of an ExtensionRef filter
};

/// HTTPRoute, GRPCRoute, TLSRoute or TCPRoute; metadata.kind tells which.
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
  /// Empty where its type is none that is known, or says nothing.
  std::vector<SubjectName> alternative_names{};
};

/// Its labels, for selectors.
struct Namespace {
  Metadata metadata;
  std::vector<NameValue> labels{};
};

/// Where a reference to a ConfigMap stands among those to Secrets: no Secret has such a name.
inline constexpr std::string_view kConfigMapPrefix = "configmap/";

/// Names of keys, and what stands under `ca.crt`.
struct ConfigMap {
  Metadata metadata;
  std::vector<std::string> keys{};
  std::shared_ptr<const std::string> authorities{};  ///< null: none
};

}  // namespace edge::compiler::model
