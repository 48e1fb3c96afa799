#include <algorithm>
#include <utility>

#include "base/text/base64.h"
#include "compiler/model/decode_kinds.h"
#include "compiler/model/decode_rule.h"
#include "compiler/model/validate.h"
#include "program/filter_table.h"
#include "program/values/address_list.h"
#include "schemas/schema.h"

namespace edge::compiler::model {
namespace {

ObjectRef object_ref(const Fields& fields, std::string_view default_group, std::string_view default_kind) {
  ObjectRef ref{.group = std::string(default_group), .kind = std::string(default_kind)};
  if (const auto group = fields.text("group")) ref.group = group->value;
  if (const auto kind = fields.text("kind")) {
    ref.kind = kind->value;
    ref.kind_span = kind->span;
  }
  ref.to = fields.reference();
  ref.port = fields.integer("port");
  ref.span = fields.span();
  if (!ref.kind_span.somewhere()) ref.kind_span = ref.to.name.span;
  return ref;
}

LabelRequirement::Operator operator_of(std::string_view text) {
  using enum LabelRequirement::Operator;
  if (text == "NotIn") return kNotIn;
  if (text == "Exists") return kExists;
  return text == "DoesNotExist" ? kDoesNotExist : kIn;
}

std::vector<LabelRequirement> selector(const Fields& fields) {
  std::vector<LabelRequirement> out;
  if (const yaml::Node labels = fields.node("matchLabels")) {
    for (const yaml::Node label : labels) {
      out.push_back({.key = std::string(label.key()), .values = {std::string(label.text())}});
    }
  }
  fields.entries("matchExpressions", [&](const Fields& entry) {
    LabelRequirement requirement{.key = entry.needed_text("key").value,
                                 .op = operator_of(entry.needed_text("operator").value)};
    for (Located<std::string>& value : entry.strings("values")) requirement.values.push_back(std::move(value.value));
    out.push_back(std::move(requirement));
  });
  return out;
}

AllowedRoutes allowed_namespaces(const Fields& spaces, AllowedRoutes::From usual) {
  using enum AllowedRoutes::From;
  AllowedRoutes allowed{.from = usual};
  if (const auto from = spaces.text("from")) {
    allowed.from = from->value == "All"        ? kAll
                   : from->value == "Selector" ? kSelector
                   : from->value == "None"     ? kNone
                                               : kSame;
  }
  allowed.selector = selector(spaces.object("selector"));
  // A selector that says nothing selects every namespace; one that is not there selects none.
  if (allowed.from == kSelector && !spaces.node("selector")) allowed.from = kNone;
  return allowed;
}

/// Gateway API's default: routes of the gateway's own namespace.
AllowedRoutes allowed_routes(const Fields& fields) {
  AllowedRoutes allowed = allowed_namespaces(fields.object("namespaces"), AllowedRoutes::From::kSame);
  fields.entries("kinds", [&](const Fields& entry) {
    const ObjectRef kind = object_ref(entry, kGatewayApiGroup, "");
    allowed.kinds.push_back({.group = kind.group, .kind = kind.kind, .span = entry.span()});
  });
  return allowed;
}

GatewayListener listener(const Fields& fields) {
  GatewayListener out{.listener = {.span = fields.span(),
                                   .name = fields.needed_text("name"),
                                   .port = fields.needed_integer("port"),
                                   .protocol = fields.needed_text("protocol")}};
  if (const auto hostname = fields.hostname("hostname")) out.listener.hostnames.push_back(*hostname);
  if (const Fields tls = fields.object("tls")) {
    out.listener.tls = Tls{.span = tls.span(), .mode = tls.text("mode")};
    tls.entries("certificateRefs",
                [&](const Fields& entry) { out.certificates.push_back(object_ref(entry, "", "Secret")); });
  }
  out.listener.allowed_routes = allowed_routes(fields.object("allowedRoutes"));
  return out;
}

std::vector<GatewayListener> listeners(const Fields& spec, Report& report) {
  std::vector<GatewayListener> all;
  spec.entries("listeners", [&](const Fields& entry) {
    all.push_back(listener(entry));
    all.back().listener.position = static_cast<std::uint32_t>(all.size() - 1);
    const Located<std::string>& name = all.back().listener.name;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i].listener.name.value != name.value) continue;
      report.fault(DiagnosticCode::kConflict, name.span, "spec.listeners[" + std::to_string(all.size() - 1) + "].name",
                   "two listeners have the name " + in_quotes(name.value));
      break;
    }
  });
  return all;
}

std::optional<ClientValidation> client_validation(const Fields& settings) {
  const Fields fields = settings.object("validation");
  if (!fields) return std::nullopt;
  ClientValidation out{.span = fields.span()};
  fields.entries("caCertificateRefs",
                 [&](const Fields& entry) { out.authorities.push_back(object_ref(entry, "", "ConfigMap")); });
  const auto mode = fields.text("mode");
  out.optional = mode && mode->value == "AllowInsecureFallback";
  return out;
}

/// Reads the rules of one route.
class ApiRuleReader {
 public:
  explicit ApiRuleReader(Report& report) : report_(report) {}

  ApiRule rule(const Fields& fields, std::size_t index, bool grpc) {
    RuleLocation location{.rule = index, .list = "matches"};
    ApiRule out{.rule = {.span = fields.span(), .name = fields.text("name")}};
    fields.entries("matches", [&](const Fields& entry) {
      location.index = grpc ? out.calls.size() : out.rule.matches.size();
      if (grpc) {
        out.calls.push_back(call(entry, location));
      } else {
        out.rule.matches.push_back(decode_match(entry, location, report_));
      }
    });
    location = {.rule = index, .list = "filters"};
    fields.entries("filters", [&](const Fields& entry) {
      filter(entry, location, out);
      ++location.index;
    });
    check_filters(out.rule, {.rule = index}, report_);
    location = {.rule = index, .list = "backendRefs"};
    fields.entries("backendRefs", [&](const Fields& entry) {
      location.index = out.backends.size();
      out.backends.push_back(backend(entry, location));
    });
    take_from_only_backend(out);
    const Fields timeouts = fields.object("timeouts");
    out.rule.request_timeout = timeouts.duration("request");
    out.backend_timeout = timeouts.duration("backendRequest");
    if (const Fields retry = fields.object("retry")) {
      out.retry = ApiRetry{.span = retry.span(),
                           .codes = retry.integers("codes"),
                           .max_retries = retry.integer("attempts"),
                           .backoff = retry.duration("backoff")};
    }
    out.rule.persistence = decode_persistence(fields.object("sessionPersistence"), {.rule = index}, report_);
    return out;
  }

 private:
  GrpcMatch call(const Fields& fields, const RuleLocation& location) {
    const Fields method = fields.object("method");
    GrpcMatch out{.span = fields.span(), .service = method.text("service"), .method = method.text("method")};
    const auto type = method.text("type");
    out.regex = type && type->value == "RegularExpression";
    if (method && !out.service && !out.method) {
      report_.fault(DiagnosticCode::kMissingField, method.span(), location.text("method"),
                    "one of `service` and `method` is required");
    }
    fields.entries("headers", [&](const Fields& entry) {
      out.headers.push_back(decode_header_match(entry, location, out.headers.size(), report_));
    });
    return out;
  }

  void filter(const Fields& fields, const RuleLocation& location, ApiRule& out) {
    const program::FilterTypeRow* const row = program::find_filter_type(fields.needed_text("type").value);
    if (row == nullptr) return;  // The schema said so.
    switch (row->type) {
      case FilterType::kExtension:
        out.extensions.push_back(extension(fields, location));
        return;
      case FilterType::kCors:
        out.cors = cors(fields.object(row->field), location);
        out.cors_span = fields.span();
        return;
      case FilterType::kExternalAuth:
        if (out.external_auth) {
          report_.add({.code = DiagnosticCode::kExclusiveFields,
                       .field = location.text(),
                       .span = fields.span(),
                       .message = "a rule has at most one filter of this type",
                       .labels = {{out.external_auth->span, "the other is here"}}});
        }
        out.external_auth = external_auth(fields.object(row->field), fields, location);
        return;
      case FilterType::kMirror:
        out.mirrors.push_back(mirror(fields.object(row->field), fields, location));
        return;
      case FilterType::kRequestHeaders:
      case FilterType::kResponseHeaders:
      case FilterType::kRewrite:
      case FilterType::kRedirect:
        out.rule.filters.push_back(decode_filter(fields, location, SelfRedirect::kAllowed, report_));
    }
  }

  ObjectRef extension(const Fields& filter, const RuleLocation& location) {
    const Fields own = filter.object("extensionRef");
    if (!own) {
      report_.fault(DiagnosticCode::kMissingField, filter.span(), location.text("extensionRef"),
                    "the field `extensionRef` is required with type ExtensionRef");
    }
    ObjectRef out = object_ref(own, "", "");
    out.span = filter.span();
    return out;
  }

  ApiMirror mirror(const Fields& own, const Fields& filter, const RuleLocation& location) {
    ApiMirror out{.ref = object_ref(own.object("backendRef"), "", "Service"), .span = filter.span()};
    if (!own) {
      report_.fault(DiagnosticCode::kMissingField, filter.span(), location.text("requestMirror"),
                    "the field `requestMirror` is required with type RequestMirror");
    }
    out.share = decode_mirror_share(own, location, FilledPercent::kExcluded, report_);
    return out;
  }

  Cors cors(const Fields& fields, const RuleLocation& location) {
    Cors out{.allow_origins = fields.strings("allowOrigins"),
             .allow_methods = fields.strings("allowMethods"),
             .allow_headers = fields.strings("allowHeaders"),
             .expose_headers = fields.strings("exposeHeaders"),
             .allow_credentials = fields.boolean("allowCredentials")};
    if (const auto age = fields.integer("maxAge")) {
      out.max_age = Located<std::chrono::nanoseconds>{std::chrono::seconds(age->value), age->span};
    }
    const auto everyone = std::ranges::find(out.allow_origins, "*", &Located<std::string>::value);
    if (everyone != out.allow_origins.end() && out.allow_credentials && out.allow_credentials->value) {
      out.credentials_for_everyone = true;
      report_.add({.code = DiagnosticCode::kCorsCredentials,
                   .severity = Severity::kWarning,
                   .field = location.text("cors.allowCredentials"),
                   .span = out.allow_credentials->span,
                   .message = "credentials are allowed to every origin",
                   .labels = {{everyone->span, "every origin"}},
                   .notes = {"Gateway API has each origin named back: every page on the web can then read answers as "
                             "the user who is logged in"},
                   .fix = "list the origins that may send credentials, or set `allowCredentials: false`"});
    }
    const auto exposed = std::ranges::find(out.expose_headers, "*", &Located<std::string>::value);
    if (exposed != out.expose_headers.end() && out.allow_credentials && out.allow_credentials->value) {
      report_.add({.code = DiagnosticCode::kNotServed,
                   .severity = Severity::kWarning,
                   .field = location.text("cors.exposeHeaders"),
                   .span = exposed->span,
                   .message = "browsers take `*` for the name of a field where credentials are allowed; it is not sent",
                   .fix = "list the fields that pages may read"});
    }
    return out;
  }

  ApiExternalAuth external_auth(const Fields& own, const Fields& filter, const RuleLocation& location) {
    ApiExternalAuth out{.ref = object_ref(own.object("backendRef"), "", "Service"), .span = filter.span()};
    if (!own) {
      report_.fault(DiagnosticCode::kMissingField, filter.span(), location.text("externalAuth"),
                    "the field `externalAuth` is required with type ExternalAuth");
    }
    const Located<std::string> protocol = own.needed_text("protocol");
    const bool grpc = protocol.value == "GRPC";
    if (const yaml::Node other = own.node(grpc ? "http" : "grpc")) {
      report_.fault(DiagnosticCode::kExclusiveFields, other.key_span(),
                    location.text(grpc ? "externalAuth.http" : "externalAuth.grpc"),
                    "`" + std::string(grpc ? "http" : "grpc") + "` does not go with protocol " + protocol.value);
    }
    const Fields asked = own.object(grpc ? "grpc" : "http");
    out.settings = {.address = {{}, filter.span()},
                    .path = grpc ? std::nullopt : asked.text("path"),
                    .own_request = true,
                    .grpc = grpc,
                    .max_body_size = own.object("forwardBody").integer("maxSize"),
                    .auth_headers = asked.strings("allowedHeaders")};
    if (!grpc) out.settings.response_headers = asked.strings("allowedResponseHeaders");
    return out;
  }

  /// CORS and mirrors are a rule's: before a backend is chosen a preflight is answered. Those of the only backend are
  /// for all of the rule's requests; of one among several they are not served.
  static void take_from_only_backend(ApiRule& rule) {
    for (ApiBackendRef& one : rule.backends) {
      if (one.cors && (rule.backends.size() != 1 || rule.cors)) one.unknown_filter = one.cors_span;
      if (!one.mirrors.empty() && rule.backends.size() != 1) one.unknown_filter = one.mirrors.front().span;
    }
    if (rule.backends.size() != 1 || rule.backends.front().unknown_filter.somewhere()) return;
    ApiBackendRef& only = rule.backends.front();
    if (only.cors) {
      rule.cors = std::move(only.cors);
      rule.cors_span = only.cors_span;
    }
    for (ApiMirror& one : only.mirrors) rule.mirrors.push_back(std::move(one));
  }

  ApiBackendRef backend(const Fields& fields, const RuleLocation& location) {
    ApiBackendRef out{.ref = object_ref(fields, "", "Service"), .weight = fields.integer("weight")};
    fields.entries("filters", [&](const Fields& entry) {
      const program::FilterTypeRow* const row = program::find_filter_type(entry.needed_text("type").value);
      if (row == nullptr) return;  // The schema said so.
      if (row->type == FilterType::kCors && !out.cors) {
        out.cors = cors(entry.object(row->field), location);
        out.cors_span = entry.span();
      } else if (row->type == FilterType::kMirror) {
        out.mirrors.push_back(mirror(entry.object(row->field), entry, location));
      } else if (!row->of_backend) {
        out.unknown_filter = entry.span();
      } else {
        out.filters.push_back(decode_filter(entry, location, SelfRedirect::kAllowed, report_));
      }
    });
    return out;
  }

  Report& report_;
};

}  // namespace

GatewayClass decode_gateway_class(const Fields& root, Metadata metadata) {
  const Fields spec = root.object("spec");
  GatewayClass out{.metadata = std::move(metadata), .controller = spec.needed_text("controllerName")};
  if (const Fields parameters = spec.object("parametersRef")) out.parameters = object_ref(parameters, "", "");
  return out;
}

Gateway decode_api_gateway(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  Gateway out{.metadata = std::move(metadata),
              .class_name = spec.needed_text("gatewayClassName"),
              .listeners = listeners(spec, report)};
  out.allowed_listeners =
      allowed_namespaces(spec.object("allowedListeners").object("namespaces"), AllowedRoutes::From::kNone);
  spec.entries("addresses", [&](const Fields& entry) {
    out.addresses.push_back({.type = entry.text("type"), .value = entry.text("value"), .span = entry.span()});
  });
  if (const Fields parameters = spec.object("infrastructure").object("parametersRef")) {
    out.parameters = object_ref(parameters, "", "");
  }
  const Fields frontend = spec.object("tls").object("frontend");
  out.client_validation = client_validation(frontend.object("default"));
  frontend.entries("perPort", [&](const Fields& entry) {
    out.client_validation_of_port.push_back(
        {.port = entry.needed_integer("port").value, .validation = client_validation(entry.object("tls"))});
  });
  if (const Fields certificate = spec.object("tls").object("backend").object("clientCertificateRef")) {
    out.client_certificate = object_ref(certificate, "", "Secret");
  }
  const Fields annotations = root.object("metadata").object("annotations");
  out.vip = annotations.text(std::string(schemas::kApiGroup) + "/vip");
  return out;
}

ListenerSet decode_listener_set(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  return {.metadata = std::move(metadata),
          .parent = object_ref(spec.object("parentRef"), kGatewayApiGroup, "Gateway"),
          .listeners = listeners(spec, report)};
}

ApiRoute decode_api_route(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  const bool grpc = metadata.kind == "GRPCRoute";
  ApiRoute out{.metadata = std::move(metadata), .hostnames = spec.hostnames("hostnames")};
  spec.entries("parentRefs", [&](const Fields& entry) {
    out.parent_refs.push_back(object_ref(entry, kGatewayApiGroup, "Gateway"));
    out.section_names.push_back(entry.text("sectionName"));
  });
  ApiRuleReader reader(report);
  spec.entries("rules", [&](const Fields& entry) { out.rules.push_back(reader.rule(entry, out.rules.size(), grpc)); });
  return out;
}

ApiRoute decode_service_export(Metadata metadata) {
  ApiRoute out{.metadata = std::move(metadata)};
  ApiRule& rule = out.rules.emplace_back();
  rule.rule.span = out.metadata.span;
  rule.backends.push_back(
      {.ref = {.kind = "Service", .to = {.name = {out.metadata.name, out.metadata.span}}, .span = out.metadata.span}});
  return out;
}

ServiceImport decode_service_import(const Fields& root, Metadata metadata) {
  ServiceImport out{.metadata = std::move(metadata)};
  root.object("spec").entries("ports", [&](const Fields& entry) {
    const auto protocol = entry.text("protocol");
    if (protocol && protocol->value != "TCP") return;
    const auto name = entry.text("name");
    const auto speaks = entry.text("appProtocol");
    out.ports.push_back({.name = name ? name->value : std::string(),
                         .port = static_cast<std::uint16_t>(entry.needed_integer("port").value),
                         .protocol = speaks ? speaks->value : std::string()});
  });
  return out;
}

BackendTlsPolicy decode_backend_tls_policy(const Fields& root, Metadata metadata) {
  const Fields spec = root.object("spec");
  const Fields validation = spec.object("validation");
  BackendTlsPolicy out{.metadata = std::move(metadata),
                       .well_known = validation.text("wellKnownCACertificates"),
                       .hostname = validation.needed_text("hostname")};
  spec.entries("targetRefs", [&](const Fields& entry) {
    out.targets.push_back({.ref = object_ref(entry, "", ""), .section_name = entry.text("sectionName")});
  });
  validation.entries("caCertificateRefs",
                     [&](const Fields& entry) { out.authorities.push_back(object_ref(entry, "", "ConfigMap")); });
  validation.entries("subjectAltNames", [&](const Fields& entry) {
    const auto type = entry.text("type");
    const bool uri = type && type->value == "URI";
    const auto name = uri || (type && type->value == "Hostname") ? entry.text(uri ? "uri" : "hostname") : std::nullopt;
    out.alternative_names.push_back({.uri = uri, .name = name ? *name : Located<std::string>{{}, entry.span()}});
  });
  return out;
}

std::optional<BackendTlsPolicy> salvage_backend_tls_policy(const Fields& root, Metadata metadata) {
  const yaml::Node spec = root.node("spec");
  const yaml::Node targets = spec ? given(spec, "targetRefs") : yaml::Node();
  if (!targets || !targets.is_list()) return std::nullopt;
  BackendTlsPolicy policy{.metadata = std::move(metadata), .hostname = {}};
  const auto text = [](yaml::Node map, std::string_view key) {
    const yaml::Node value = given(map, key);
    return value && value.is_scalar() ? Located<std::string>{std::string(value.text()), value.span()}
                                      : Located<std::string>{};
  };
  for (const yaml::Node entry : targets) {
    if (!entry.is_map()) continue;
    BackendTlsTarget target;
    target.ref.kind = "Service";
    target.ref.span = target.ref.kind_span = entry.span();
    target.ref.to.name = text(entry, "name");
    // A port that cannot be told is every port.
    if (auto port = text(entry, "sectionName"); !port.value.empty()) target.section_name = std::move(port);
    if (!target.ref.to.name.value.empty()) policy.targets.push_back(std::move(target));
  }
  if (policy.targets.empty()) return std::nullopt;
  return policy;
}

Namespace decode_namespace(const Fields& root, Metadata metadata) {
  Namespace out{.metadata = std::move(metadata)};
  if (const yaml::Node labels = root.object("metadata").node("labels")) {
    for (const yaml::Node label : labels) {
      out.labels.push_back(
          {.name = {std::string(label.key()), label.key_span()}, .value = {std::string(label.text()), label.span()}});
    }
  }
  return out;
}

ConfigMap decode_config_map(const Fields& root, Metadata metadata) {
  ConfigMap out{.metadata = std::move(metadata)};
  if (const yaml::Node map = root.node("data")) {
    for (const yaml::Node entry : map) {
      ConfigMapValue& made = out.values.emplace_back(std::string(entry.key()));
      made.value = std::make_shared<const std::string>(entry.text());
      if (made.key == "ca.crt") out.authorities = made.value;
      if (made.key == program::kNetworksKey) out.networks = made.value;
    }
  }
  if (const yaml::Node map = root.node("binaryData")) {
    for (const yaml::Node entry : map) {
      ConfigMapValue& made = out.values.emplace_back(std::string(entry.key()));
      made.binary = true;
      if (auto bytes = from_base64(entry.text())) made.value = std::make_shared<const std::string>(*std::move(bytes));
    }
  }
  if (const yaml::Node map = root.node(kUnreadValues)) {
    for (const yaml::Node entry : map) {
      if (entry.text().empty()) continue;
      out.values.emplace_back(std::string(entry.key())).unread = std::string(entry.text());
    }
  }
  return out;
}

}  // namespace edge::compiler::model
