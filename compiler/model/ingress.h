// Ingress and IngressClass (networking.k8s.io) as written. translate/ converts them to the product's kinds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hostname.h"
#include "compiler/model/backend.h"
#include "compiler/model/gateway_api.h"

namespace edge::compiler::model {

struct IngressBackend {
  Span span{};
  Maybe<std::string> service{};
  Located<PortRef> port{};
  std::optional<ObjectRef> resource{};
};

struct IngressPath {
  Span span{};
  Maybe<std::string> path{};
  Located<std::string> type;
  IngressBackend backend{};
};

struct IngressRule {
  Span span{};
  Maybe<HostPattern> host{};
  std::vector<IngressPath> paths{};
};

struct IngressTls {
  Span span{};
  std::vector<Located<HostPattern>> hosts{};
  Maybe<std::string> secret{};
};

/// Prefixes of other controllers' annotations. The first are supported as docs/ingress-nginx.md says; the others are
/// only reported.
inline constexpr std::string_view kNginxPrefix = "nginx.ingress.kubernetes.io/";
inline constexpr std::string_view kForeignPrefixes[] = {kNginxPrefix, "traefik.ingress.kubernetes.io/", "haproxy.org/",
                                                        "haproxy-ingress.github.io/", "ingress.kubernetes.io/"};

struct Ingress {
  Metadata metadata;
  Maybe<std::string> class_name{};
  /// Those with the prefix `{api_group}/`, without it.
  std::vector<NameValue> annotations{};
  /// Those with kForeignPrefixes, by their full names.
  std::vector<NameValue> foreign{};
  std::optional<IngressBackend> default_backend{};
  std::vector<IngressRule> rules{};
  std::vector<IngressTls> tls{};
};

struct IngressClass {
  Metadata metadata;
  Located<std::string> controller;
  bool is_default = false;
  std::optional<ObjectRef> parameters{};
};

}  // namespace edge::compiler::model
