#include "compiler/model/decode.h"

#include <charconv>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/units.h"
#include "compiler/model/allowances.h"
#include "compiler/model/decode_kinds.h"
#include "compiler/yaml/read.h"
#include "schemas/schema.h"

namespace edge::compiler::model {
namespace {

using schemas::Kind;
using yaml::Node;

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

std::string_view scalar(Node map, std::string_view key) {
  const Node value = map.find(key);
  return value && value.is_scalar() ? value.text() : std::string_view();
}

/// Of keys and values alone, so that two writings of one resource are one.
std::uint64_t digest_of(Node node) {
  std::uint64_t digest = hash_bytes(static_cast<std::uint64_t>(node.kind()), node.text());
  if (node.is_scalar() || node.is_null()) return digest;
  for (const Node child : node) digest = hash_bytes(digest ^ digest_of(child), child.key());
  return digest;
}

/// What a resource is called before anything of it is known to be valid.
Metadata name_of(Node resource, std::string_view kind) {
  const Node metadata = resource.find("metadata");
  Metadata out{.kind = std::string(kind),
               .name_space = clipped(scalar(metadata, "namespace")),
               .name = std::string(scalar(metadata, "name").substr(0, 253))};
  const bool of_cluster = kind == "GatewayClass" || kind == "IngressClass" || kind == "Namespace";
  if (of_cluster) {
    out.name_space.clear();
  } else if (out.name_space.empty()) {
    out.name_space = "default";
  }
  if (const Node name = metadata.find("name")) out.span = name.span();
  if (!out.span.somewhere()) out.span = resource.find("kind").span();
  out.created = parse_timestamp(scalar(metadata, "creationTimestamp")).value_or(0);
  const std::string_view generation = scalar(metadata, "generation");
  std::from_chars(generation.data(), generation.data() + generation.size(), out.generation);
  out.digest = digest_of(resource);
  return out;
}

class Decoder {
 public:
  Decoder(ResourceSet& resources, Diagnostics& diagnostics) : resources_(resources), diagnostics_(diagnostics) {}

  void resource(Node root) {
    if (!root.is_map()) {
      return complain(DiagnosticCode::kWrongType, root.span(),
                      "a resource is a map with apiVersion, kind and metadata");
    }
    const std::string_view api_version = scalar(root, "apiVersion");
    const std::string_view kind = scalar(root, "kind");
    for (const std::string_view key : {"apiVersion", "kind"}) {
      const Node value = given(root, key);
      if (!value || !value.is_scalar()) {
        return complain(DiagnosticCode::kMissingField, root.size() > 0 ? (*root.begin()).key_span() : root.span(),
                        "the field `" + std::string(key) + "` is required");
      }
    }
    const Node items = given(root, "items");
    if (items && kind.ends_with("List")) {
      if (!items.is_list()) return complain(DiagnosticCode::kWrongType, items.span(), "`items` is a list of resources");
      for (const Node item : items) resource(item);
      return;
    }
    const Kind* known = schemas::find_kind(kind);
    if (known == nullptr || group_of(known->api_version) != group_of(api_version)) {
      return unknown_kind(root, kind, api_version);
    }
    if (known->own && known->api_version != api_version) {
      return complain(DiagnosticCode::kUnknownKind, root.find("apiVersion").span(),
                      in_quotes(api_version) + " is not a version of " + std::string(kind),
                      "write `" + std::string(known->api_version) + "`");
    }
    decode_known(root, *known);
  }

 private:
  void complain(DiagnosticCode code, Span span, std::string message, std::string fix = {},
                Severity severity = Severity::kError) {
    diagnostics_.add(
        {.code = code, .severity = severity, .span = span, .message = std::move(message), .fix = std::move(fix)});
  }

  void unknown_kind(Node root, std::string_view kind, std::string_view api_version) {
    std::vector<std::string_view> own;
    for (const Kind& candidate : schemas::kinds()) {
      if (candidate.own) own.push_back(candidate.kind);
    }
    const bool our_group = group_of(api_version) == schemas::kApiGroup;
    const Kind* same_name = schemas::find_kind(kind);
    if (our_group && kind == kRouteTestKind) return;
    if (our_group) {
      const std::string_view near = nearest_name(kind, own);
      return complain(DiagnosticCode::kUnknownKind, root.find("kind").span(), "unknown kind " + in_quotes(kind),
                      near.empty() ? "" : "did you mean `" + std::string(near) + "`?");
    }
    // An own kind under another group is a slip rather than a stranger.
    if (same_name != nullptr && same_name->own) {
      return complain(DiagnosticCode::kUnknownKind, root.find("apiVersion").span(),
                      std::string(kind) + " is not a kind of " + in_quotes(api_version),
                      "write `" + std::string(same_name->api_version) + "`");
    }
    complain(DiagnosticCode::kForeignKind, root.find("kind").span(),
             in_quotes(kind) + " of " + in_quotes(api_version) + " is not read here; the resource is passed over", "",
             Severity::kNote);
  }

  void decode_known(Node root, const Kind& kind) {
    Metadata metadata = name_of(root, kind.kind);
    Report report(diagnostics_, metadata.text());
    if (kind.body == &schemas::kSecret) hide_secrets(root, report);
    check(root, kind, report);
    read_allowances(root.find("metadata"), kind.own, metadata.text(), diagnostics_);
    const Fields fields(root);
    if (!report.ok()) {
      if (kind.body == &schemas::kProxyPolicy) {
        for (ProxyPolicy& policy : salvage_policy(fields, metadata)) resources_.policies.push_back(std::move(policy));
      } else if (kind.body == &schemas::kBackendTlsPolicy) {
        if (auto policy = salvage_backend_tls_policy(fields, metadata)) {
          resources_.backend_tls_policies.push_back(*std::move(policy));
        }
      }
      resources_.refused.push_back(std::move(metadata));
      return;
    }
    read(fields, kind, metadata, report);
    if (!report.ok()) resources_.refused.push_back(std::move(metadata));
  }

  /// Values of secrets are neither printed nor quoted. Annotations may hold them too: `kubectl apply` leaves what it
  /// was given in one.
  void hide_secrets(Node root, Report& report) {
    report.hide_values();
    const Node metadata = root.find("metadata");
    for (const Node values : {root.find("data"), root.find("stringData"), metadata.find("annotations")}) {
      if (!values) continue;
      if (!values.is_map()) diagnostics_.hide(values.span());
      for (const Node value : values) diagnostics_.hide(value.span());
    }
  }

  /// apiVersion and kind are known; metadata and the kind's own fields are checked against their schemas.
  void check(Node root, const Kind& kind, Report& report) {
    const FieldPath metadata_path{.above = nullptr, .name = "metadata"};
    const Node metadata = given(root, "metadata");
    if (!metadata) {
      report.fault(DiagnosticCode::kMissingField, root.find("kind").span(), "metadata.name",
                   "the field `metadata.name` is required");
    } else {
      validate(metadata, schemas::metadata(), &metadata_path, report);
    }
    validate_body(root, kind, report);
  }

  /// The kind's fields beside the three that every resource has.
  void validate_body(Node root, const Kind& kind, Report& report) {
    if (kind.body->open) return validate(root, *kind.body, nullptr, report);
    std::vector<schemas::Field> fields(kind.body->fields.begin(), kind.body->fields.end());
    fields.push_back(schemas::string("apiVersion", ""));
    fields.push_back(schemas::string("kind", ""));
    fields.push_back(schemas::anything("metadata", ""));
    validate(root, {.fields = fields, .open = false, .lenient = kind.body->lenient}, nullptr, report);
  }

  void read(const Fields& fields, const Kind& kind, const Metadata& metadata, Report& report) {
    const auto keep = [&](auto& list, auto value) {
      if (report.ok()) list.push_back(std::move(value));
    };
    if (kind.body == &schemas::kProxyRoute) {
      keep(resources_.routes, decode_route(fields, metadata, report));
    } else if (kind.body == &schemas::kProxyBackend) {
      keep(resources_.backends, decode_backend(fields, metadata, report));
    } else if (kind.body == &schemas::kProxyGateway) {
      keep(resources_.gateways, decode_gateway(fields, metadata, report));
    } else if (kind.body == &schemas::kProxyVip) {
      keep(resources_.vips, decode_vip(fields, metadata, report));
    } else if (kind.body == &schemas::kProxyPolicy) {
      for (ProxyPolicy& policy : decode_policy(fields, metadata, report)) {
        if (!report.ok()) drop_settings(fields, policy);
        resources_.policies.push_back(std::move(policy));
      }
    } else if (kind.body == &schemas::kEdgeCluster) {
      keep(resources_.edge_clusters, decode_edge_cluster(fields, metadata, report));
    } else if (kind.body == &schemas::kEdgeRemoteCluster) {
      keep(resources_.remote_clusters, decode_remote_cluster(fields, metadata, report));
    } else if (kind.body == &schemas::kCertificateIssuer) {
      keep(resources_.certificate_issuers, decode_certificate_issuer(fields, metadata, report));
    } else if (kind.body == &schemas::kSite) {
      keep(resources_.sites, decode_site(fields, metadata, report));
    } else if (kind.body == &schemas::kWanLink) {
      keep(resources_.wan_links, decode_wan_link(fields, metadata, report));
    } else if (kind.body == &schemas::kWanPolicy) {
      keep(resources_.wan_policies, decode_wan_policy(fields, metadata, report));
    } else if (kind.body == &schemas::kService) {
      keep(resources_.services, decode_service(fields, metadata));
    } else if (kind.body == &schemas::kEndpointSlice) {
      keep(resources_.slices, decode_slice(fields, metadata, report));
    } else if (kind.body == &schemas::kEndpoints) {
      for (EndpointSlice& slice : decode_endpoints(fields, metadata, report)) keep(resources_.slices, std::move(slice));
    } else if (kind.body == &schemas::kSecret) {
      keep(resources_.secrets, decode_secret(fields, metadata, report));
    } else if (kind.body == &schemas::kReferenceGrant) {
      keep(resources_.grants, decode_grant(fields, metadata));
    } else {
      read_foreign(fields, kind, metadata, report);
    }
  }

  /// Kinds that translate/ turns into own ones.
  void read_foreign(const Fields& fields, const Kind& kind, const Metadata& metadata, Report& report) {
    const auto keep = [&](auto& list, auto value) {
      if (report.ok()) list.push_back(std::move(value));
    };
    if (kind.body == &schemas::kGatewayClass) {
      keep(resources_.gateway_classes, decode_gateway_class(fields, metadata));
    } else if (kind.body == &schemas::kGateway) {
      keep(resources_.api_gateways, decode_api_gateway(fields, metadata, report));
    } else if (kind.body == &schemas::kListenerSet) {
      keep(resources_.listener_sets, decode_listener_set(fields, metadata, report));
    } else if (kind.body == &schemas::kHttpRoute || kind.body == &schemas::kGrpcRoute ||
               kind.body == &schemas::kTlsRoute || kind.body == &schemas::kTcpRoute ||
               kind.body == &schemas::kUdpRoute) {
      keep(resources_.api_routes, decode_api_route(fields, metadata, report));
    } else if (kind.body == &schemas::kServiceExport) {
      keep(resources_.api_routes, decode_service_export(metadata));
    } else if (kind.body == &schemas::kServiceImport) {
      keep(resources_.service_imports, decode_service_import(fields, metadata));
    } else if (kind.body == &schemas::kBackendTlsPolicy) {
      keep(resources_.backend_tls_policies, decode_backend_tls_policy(fields, metadata));
    } else if (kind.body == &schemas::kIngress) {
      keep(resources_.ingresses, decode_ingress(fields, metadata, report));
    } else if (kind.body == &schemas::kIngressClass) {
      keep(resources_.ingress_classes, decode_ingress_class(fields, metadata));
    } else if (kind.body == &schemas::kNamespace) {
      keep(resources_.namespaces, decode_namespace(fields, metadata));
    } else if (kind.body == &schemas::kConfigMap) {
      keep(resources_.config_maps, decode_config_map(fields, metadata));
    }
  }

  ResourceSet& resources_;
  Diagnostics& diagnostics_;
};

}  // namespace

void decode(const yaml::Document& document, ResourceSet& resources, Diagnostics& diagnostics) {
  Decoder(resources, diagnostics).resource(document.root());
}

ResourceSet decode_all(const SourceMap& sources, Diagnostics& diagnostics) {
  ResourceSet resources;
  for (std::uint32_t source = 0; source < sources.size(); ++source) {
    yaml::read_documents(sources, source, diagnostics, {},
                         [&](const yaml::Document& document) { decode(document, resources, diagnostics); });
  }
  return resources;
}

}  // namespace edge::compiler::model
