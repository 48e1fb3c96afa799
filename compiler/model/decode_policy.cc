#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "compiler/model/answer_fields.h"
#include "compiler/model/decode_kinds.h"
#include "compiler/model/formats.h"
#include "program/filter_table.h"

namespace edge::compiler::model {
namespace {

struct Row {
  std::string_view type;
  std::string_view key;
  PolicyType value;
};
constexpr std::array<Row, 15> kTypes = {{
    {"BasicAuth", "basicAuth", PolicyType::kBasicAuth},
    {"ForwardAuth", "forwardAuth", PolicyType::kForwardAuth},
    {"OIDC", "oidc", PolicyType::kOidc},
    {"JWT", "jwt", PolicyType::kJwt},
    {"RateLimit", "rateLimit", PolicyType::kRateLimit},
    {"CORS", "cors", PolicyType::kCors},
    {"SecurityHeaders", "securityHeaders", PolicyType::kSecurityHeaders},
    {"IPAccess", "ipAccess", PolicyType::kIpAccess},
    {"APIKey", "apiKey", PolicyType::kApiKey},
    {"Maintenance", "maintenance", PolicyType::kMaintenance},
    {"FixedResponse", "fixedResponse", PolicyType::kFixedResponse},
    {"ErrorPages", "errorPages", PolicyType::kErrorPages},
    {"ConcurrencyLimit", "concurrencyLimit", PolicyType::kConcurrencyLimit},
    {"ClientCertificate", "clientCertificate", PolicyType::kClientCertificate},
    {"RequestFilter", "requestFilter", PolicyType::kRequestFilter},
}};

Oidc decode_oidc(const Fields& own) {
  const Fields authorization = own.object("authorization");
  return {.provider = own.text("provider"),
          .issuer_url = own.needed_text("issuerURL"),
          .client_id = own.needed_text("clientID"),
          .client_secret = own.object("clientSecretRef").reference(),
          .redirect_url = own.needed_text("redirectURL"),
          .scopes = own.strings("scopes"),
          .session_secret = own.object("sessionSecretRef").reference(),
          .forward_headers = own.strings("forwardHeaders"),
          .required_roles = authorization.strings("requiredRoles"),
          .required_groups = authorization.strings("requiredGroups"),
          .mode = authorization.text("mode")};
}

std::optional<Reference> reference_at(const Fields& own, std::string_view key) {
  const Fields object = own.object(key);
  return object ? std::optional(object.reference()) : std::nullopt;
}

JwtIssuer decode_issuer(const Fields& own, std::string field) {
  return {.issuer = own.needed_text("issuer"),
          .audience = own.strings("audience"),
          .jwks_uri = own.text("jwksUri"),
          .jwks = own.text("jwks"),
          .jwks_secret = reference_at(own, "jwksSecretRef"),
          .secret = reference_at(own, "secretRef"),
          .allowed_algorithms = own.strings("allowedAlgorithms"),
          .field = std::move(field)};
}

Jwt decode_jwt(const Fields& own) {
  Jwt jwt{.header_name = own.text("headerName"), .header_prefix = own.text("headerPrefix")};
  if (own.node("issuer")) jwt.issuers.push_back(decode_issuer(own, "spec.jwt"));
  own.entries("issuers", [&](const Fields& entry) {
    jwt.issuers.push_back(decode_issuer(entry, "spec.jwt.issuers[" + std::to_string(jwt.issuers.size()) + "]"));
  });
  own.entries("claimToHeaders", [&](const Fields& entry) {
    const auto before = entry.boolean("beforeRouting");
    jwt.claim_headers.push_back(
        {entry.needed_text("claim").value, entry.needed_text("header").value, before && before->value});
  });
  return jwt;
}

/// What does not clearly say otherwise is before routing: the header then chooses no rule by what clients send.
std::vector<std::string> salvaged_headers(yaml::Node jwt) {
  std::vector<std::string> headers;
  const yaml::Node list = given(jwt, "claimToHeaders");
  if (!list || !list.is_list()) return headers;
  for (const yaml::Node entry : list) {
    const yaml::Node header = given(entry, "header");
    const yaml::Node before = given(entry, "beforeRouting");
    if (header && header.is_scalar() && before && before.text() != "false") headers.emplace_back(header.text());
  }
  return headers;
}

RateLimit decode_rate_limit(const Fields& own) {
  const auto rate = own.integer("requestsPerSecond");
  RateLimit limit{.requests_per_second = rate ? rate->value : 0,
                  .burst = own.integer("burst"),
                  .key = own.text("key"),
                  .scope = own.text("scope")};
  own.entries("limits", [&](const Fields& entry) {
    limit.limits.push_back({.requests = entry.needed_integer("requests"),
                            .per = entry.needed_text("per").value,
                            .burst = entry.integer("burst"),
                            .keys = entry.strings("keys")});
  });
  return limit;
}

ApiKey decode_api_key(const Fields& own) {
  ApiKey key{.header = own.text("header"),
             .cookie = own.text("cookie"),
             .identity_header = own.text("identityHeader"),
             .strip_key = own.boolean("stripKey")};
  own.entries("secretRefs", [&](const Fields& entry) { key.secrets.push_back(entry.reference()); });
  return key;
}

std::optional<Reference> backend_of(const Fields& own) {
  const Fields backend = own.object("backendRef");
  return backend ? std::optional(backend.reference()) : std::nullopt;
}

std::vector<AddressList> address_lists(const Fields& own, std::string_view key) {
  std::vector<AddressList> lists;
  own.entries(key, [&](const Fields& entry) {
    const Fields map = entry.object("configMapRef");
    lists.push_back({map ? std::optional(map.reference()) : std::nullopt, entry.text("file")});
  });
  return lists;
}

Page page_of(const Fields& holder, const std::string& field) {
  Page page{.body = holder.text("body"), .content_type = holder.text("contentType")};
  if (const Fields map = holder.object("configMapRef")) {
    page.map = map.reference();
    page.map_key = map.needed_text("key");
    page.field = field + ".configMapRef";
  }
  return page;
}

Maintenance decode_maintenance(const Fields& own) {
  const Fields except = own.object("except");
  return {.enabled = own.boolean("enabled"),
          .retry_after = own.duration("retryAfter"),
          .page = page_of(own, "spec.maintenance"),
          .except_addresses = except.cidrs("addresses"),
          .except_headers = name_values(except, "headers")};
}

ErrorPages decode_error_pages(const Fields& own) {
  ErrorPages pages;
  own.entries("pages", [&](const Fields& entry) {
    const std::string field = "spec.errorPages.pages[" + std::to_string(pages.pages.size()) + "]";
    pages.pages.push_back({.statuses = entry.strings("statuses"),
                           .page = page_of(entry, field),
                           .backend_errors = entry.boolean("backendErrors")});
  });
  return pages;
}

ForwardAuth decode_forward_auth(const Fields& own) {
  return {.address = own.text("address").value_or(Located<std::string>{}),
          .backend = backend_of(own),
          .path = own.text("path"),
          .auth_headers = own.strings("authHeaders"),
          .response_headers = own.strings("responseHeaders"),
          .timeout = own.duration("timeout"),
          .cache_ttl = own.duration("cacheTTL"),
          .sign_in_url = own.text("signInURL"),
          .sign_in_parameter = own.text("signInParameter")};
}

Cors decode_cors(const Fields& own) {
  return {.allow_origins = own.strings("allowOrigins"),
          .allow_methods = own.strings("allowMethods"),
          .allow_headers = own.strings("allowHeaders"),
          .expose_headers = own.strings("exposeHeaders"),
          .max_age = own.duration("maxAge"),
          .allow_credentials = own.boolean("allowCredentials")};
}

SecurityHeaders decode_security_headers(const Fields& own) {
  const Fields hsts = own.object("hsts");
  return {.hsts = hsts.boolean("enabled"),
          .hsts_max_age = hsts.integer("maxAge"),
          .hsts_include_sub_domains = hsts.boolean("includeSubDomains"),
          .hsts_preload = hsts.boolean("preload"),
          .x_frame_options = own.text("xFrameOptions"),
          .x_content_type_options = own.boolean("xContentTypeOptions"),
          .referrer_policy = own.text("referrerPolicy")};
}

IpAccess decode_ip_access(const Fields& own) {
  return {.allow = own.cidrs("allow"),
          .deny = own.cidrs("deny"),
          .allow_lists = address_lists(own, "allowLists"),
          .deny_lists = address_lists(own, "denyLists"),
          .allow_countries = own.strings("allowCountries"),
          .deny_countries = own.strings("denyCountries"),
          .allow_systems = own.integers("allowASNs"),
          .deny_systems = own.integers("denyASNs")};
}

ConcurrencyLimit decode_concurrency(const Fields& own) {
  ConcurrencyLimit limit{.status = own.integer("statusCode")};
  own.entries("limits", [&](const Fields& entry) {
    limit.limits.push_back({entry.needed_integer("requests").value, entry.strings("keys")});
  });
  return limit;
}

void decode_settings(const Fields& own, ProxyPolicy& policy) {
  switch (policy.type.value) {
    case PolicyType::kBasicAuth:
      policy.settings = BasicAuth{.realm = own.text("realm"),
                                  .secret = own.object("secretRef").reference(),
                                  .strip_auth = own.boolean("stripAuth")};
      return;
    case PolicyType::kForwardAuth:
      policy.settings = decode_forward_auth(own);
      return;
    case PolicyType::kOidc:
      policy.settings = decode_oidc(own);
      return;
    case PolicyType::kJwt:
      policy.settings = decode_jwt(own);
      return;
    case PolicyType::kRateLimit:
      policy.settings = decode_rate_limit(own);
      return;
    case PolicyType::kCors:
      policy.settings = decode_cors(own);
      return;
    case PolicyType::kMaintenance:
      policy.settings = decode_maintenance(own);
      return;
    case PolicyType::kFixedResponse:
      policy.settings = FixedResponse{.status = own.needed_integer("statusCode"),
                                      .headers = name_values(own, "headers"),
                                      .page = page_of(own, "spec.fixedResponse")};
      return;
    case PolicyType::kErrorPages:
      policy.settings = decode_error_pages(own);
      return;
    case PolicyType::kSecurityHeaders:
      policy.settings = decode_security_headers(own);
      return;
    case PolicyType::kIpAccess:
      policy.settings = decode_ip_access(own);
      return;
    case PolicyType::kApiKey:
      policy.settings = decode_api_key(own);
      return;
    case PolicyType::kConcurrencyLimit:
      policy.settings = decode_concurrency(own);
      return;
    case PolicyType::kClientCertificate:
      policy.settings = decode_client_certificate(own);
      return;
    case PolicyType::kRequestFilter:
      policy.settings = decode_request_filter(own);
      return;
    case PolicyType::kUnknown:
      return;
  }
}

/// Browsers refuse the pair `*` and credentials (Fetch §3.2.5), and answering each origin by its own name instead would
/// let every page on the web act as the user who is logged in.
void check_cors(const Fields& own, Report& report) {
  const auto credentials = own.boolean("allowCredentials");
  if (!credentials || !credentials->value) return;
  for (const Located<std::string>& origin : own.strings("allowOrigins")) {
    if (origin.value != "*") continue;
    report.add(
        {.code = DiagnosticCode::kCorsCredentials,
         .field = "spec.cors.allowCredentials",
         .span = credentials->span,
         .message = "credentials are allowed to every origin",
         .labels = {{origin.span, "every origin"}},
         .notes = {"every page on the web could then read answers as the user who is logged in; browsers refuse it"},
         .fix = "list the origins that may send credentials, or set `allowCredentials: false`"});
    return;
  }
}

/// Fields that a policy names and cannot set.
void check_written(const std::vector<Located<std::string>>& names, const std::string& field, Report& report,
                   bool (*reserved)(std::string_view) = program::is_reserved_from_policies) {
  for (const Located<std::string>& name : names) {
    if (!reserved(name.value)) continue;
    report.add({.code = DiagnosticCode::kInvalidValue,
                .severity = Severity::kWarning,
                .field = field,
                .span = name.span,
                .message = "the header " + in_quotes(name.value) + " is written by the proxy: no policy sets it",
                .fix = "leave it out, or use another name"});
  }
}

void check_written(const Fields& own, PolicyType type, Report& report) {
  if (type == PolicyType::kFixedResponse) {
    std::vector<Located<std::string>> names;
    for (const NameValue& header : name_values(own, "headers")) names.push_back(header.name);
    return check_written(names, "spec.fixedResponse.headers", report, is_reserved_from_answers);
  }
  if (type == PolicyType::kForwardAuth) {
    check_written(own.strings("responseHeaders"), "spec.forwardAuth.responseHeaders", report);
  } else if (type == PolicyType::kOidc) {
    check_written(own.strings("forwardHeaders"), "spec.oidc.forwardHeaders", report);
  } else if (type == PolicyType::kApiKey) {
    if (const auto header = own.text("identityHeader")) check_written({*header}, "spec.apiKey.identityHeader", report);
  } else if (type == PolicyType::kClientCertificate) {
    const auto header = own.text("identityHeader");
    if (header) check_written({*header}, "spec.clientCertificate.identityHeader", report);
  } else if (type == PolicyType::kJwt) {
    std::vector<Located<std::string>> headers;
    own.entries("claimToHeaders", [&](const Fields& entry) {
      if (const auto header = entry.text("header")) headers.push_back(*header);
    });
    check_written(headers, "spec.jwt.claimToHeaders", report);
  }
}

/// One service is asked; only one that is a backend has a path apart.
void check_forward(const Fields& own, Span span, Report& report) {
  const bool address = static_cast<bool>(own.node("address"));
  const Fields backend = own.object("backendRef");
  if (address && backend) {
    report.fault(DiagnosticCode::kExclusiveFields, own.node("address").key_span(), "spec.forwardAuth.address",
                 "`address` and `backendRef` exclude each other");
  } else if (!address && !backend) {
    report.fault(DiagnosticCode::kMissingField, span, "spec.forwardAuth",
                 "one of `address` and `backendRef` is required");
  }
  if (address && own.node("path")) {
    report.fault(DiagnosticCode::kExclusiveFields, own.node("path").key_span(), "spec.forwardAuth.path",
                 "`path` goes with `backendRef`", "write it in `address`");
  }
}

constexpr std::string_view kKeyFields[] = {"jwksUri", "jwks", "jwksSecretRef", "secretRef"};

/// The form of a set and no more: agents read the keys. What is secret in one would stand in programs and dumps.
void check_key_set(const Located<std::string>& text, const std::string& field, Report& report) {
  const nlohmann::json set = parse_json(text.value);
  const nlohmann::json& keys = list_in(set, "keys");
  if (keys.empty()) {
    report.fault(DiagnosticCode::kInvalidValue, text.span, field,
                 "no JWK set with a key: JSON such as `{\"keys\": [{\"kty\": ...}]}` is expected (RFC 7517)");
  }
  for (const nlohmann::json& key : keys) {
    if (!key.is_object() || (!key.contains("d") && !key.contains("k"))) continue;
    report.fault(DiagnosticCode::kInvalidValue, text.span, field, "a key that is private has no place in a policy",
                 "write the public key; for HMAC, name a Secret by `secretRef`");
  }
}

/// One issuer has keys of one kind. A secret that both sides share verifies HMAC and nothing else, and HMAC is verified
/// by such a secret and nothing else: whoever reads published keys must not be able to make a token (RFC 8725 §2.1).
void check_issuer(const Fields& own, Span span, const std::string& field, Report& report) {
  const auto given =
      std::ranges::count_if(kKeyFields, [&](std::string_view key) { return static_cast<bool>(own.node(key)); });
  if (given != 1) {
    report.fault(given == 0 ? DiagnosticCode::kMissingField : DiagnosticCode::kExclusiveFields, span, field,
                 "one of `jwksUri`, `jwks`, `jwksSecretRef` and `secretRef` is required");
  }
  if (!own.node("allowedAlgorithms")) {
    report.fault(DiagnosticCode::kMissingField, span, field + ".allowedAlgorithms", "`allowedAlgorithms` is required");
  }
  if (const auto jwks = own.text("jwks")) check_key_set(*jwks, field + ".jwks", report);
  const bool shared = static_cast<bool>(own.node("secretRef"));
  for (const Located<std::string>& algorithm : own.strings("allowedAlgorithms")) {
    if (algorithm.value.starts_with("HS") == shared) continue;
    report.fault(DiagnosticCode::kInvalidValue, algorithm.span, field + ".allowedAlgorithms",
                 shared ? "`secretRef` goes with HS256, HS384 and HS512 alone, not with " + algorithm.value
                        : algorithm.value + " goes with `secretRef` alone: published keys are no secrets");
  }
}

void check_jwt(const Fields& own, Span span, Report& report) {
  const bool several = static_cast<bool>(own.node("issuers"));
  if (!several) {
    if (!own.node("issuer")) {
      report.fault(DiagnosticCode::kMissingField, span, "spec.jwt", "one of `issuer` and `issuers` is required");
      return;
    }
    return check_issuer(own, span, "spec.jwt", report);
  }
  for (const std::string_view key :
       {"issuer", "audience", "jwksUri", "jwks", "jwksSecretRef", "secretRef", "allowedAlgorithms"}) {
    if (!own.node(key)) continue;
    report.fault(DiagnosticCode::kExclusiveFields, own.node(key).key_span(), "spec.jwt." + std::string(key),
                 "`" + std::string(key) + "` does not go with `issuers`", "write it in each of them");
  }
  std::vector<std::string> names;
  own.entries("issuers", [&](const Fields& entry) {
    const std::string field = "spec.jwt.issuers[" + std::to_string(names.size()) + "]";
    check_issuer(entry, entry.span(), field, report);
    const Located<std::string> name = entry.needed_text("issuer");
    if (std::ranges::find(names, name.value) != names.end()) {
      report.fault(DiagnosticCode::kInvalidValue, name.span, field + ".issuer", "the issuer is named twice");
    }
    names.push_back(name.value);
  });
  if (names.empty()) {
    report.fault(DiagnosticCode::kMissingField, own.node("issuers").span(), "spec.jwt.issuers", "no issuer is named");
  }
}

void check_api_key(const Fields& own, Span span, Report& report) {
  if (!own.node("header") && !own.node("cookie")) {
    report.fault(DiagnosticCode::kMissingField, span, "spec.apiKey", "one of `header` and `cookie` is required");
  }
  bool any = false;
  own.entries("secretRefs", [&](const Fields&) { any = true; });
  if (!any) report.fault(DiagnosticCode::kMissingField, span, "spec.apiKey.secretRefs", "no Secret is named");
}

constexpr std::string_view kAccessFields[] = {"allow",          "deny",          "allowLists", "denyLists",
                                              "allowCountries", "denyCountries", "allowASNs",  "denyASNs"};

/// Without any list it would let everybody pass, which nobody writes a policy for.
void check_access(const Fields& own, Span span, Report& report) {
  if (std::ranges::none_of(kAccessFields, [&](std::string_view key) { return static_cast<bool>(own.written(key)); })) {
    report.fault(DiagnosticCode::kMissingField, span, "spec.ipAccess",
                 "one of `allow` and `deny`, or of their lists, countries and ASNs, is required");
  }
  for (const std::string_view key : {"allowLists", "denyLists"}) {
    own.entries(key, [&](const Fields& entry) {
      const bool map = static_cast<bool>(entry.node("configMapRef"));
      if (map != static_cast<bool>(entry.node("file"))) return;
      report.fault(map ? DiagnosticCode::kExclusiveFields : DiagnosticCode::kMissingField, entry.span(),
                   "spec.ipAccess." + std::string(key), "one of `configMapRef` and `file` is required");
    });
  }
}

/// With no role and no group it would let pass everybody who is logged in, as if it were left out.
void check_authorization(const Fields& own, Report& report) {
  const Fields authorization = own.object("authorization");
  if (!authorization || authorization.written("requiredRoles") || authorization.written("requiredGroups")) return;
  report.fault(DiagnosticCode::kMissingField, own.node("authorization").key_span(), "spec.oidc.authorization",
               "no role and no group is named", "name some, or leave out `authorization`");
}

/// Seconds in which a bucket has to be full again: what the runtime's clock can hold with room to spare.
constexpr std::int64_t kLongestFill = 31'536'000;

std::int64_t seconds_of(std::string_view per) {
  if (per == "Day") return 86'400;
  if (per == "Hour") return 3'600;
  return per == "Minute" ? 60 : 1;
}

/// A request counts by one way of writing the limits.
void check_rate_limit(const Fields& own, Span span, Report& report) {
  const bool rate = static_cast<bool>(own.node("requestsPerSecond"));
  const bool limits = own.node("limits") && own.node("limits").size() > 0;
  if (rate && limits) {
    report.fault(DiagnosticCode::kExclusiveFields, own.node("limits").key_span(), "spec.rateLimit.limits",
                 "`requestsPerSecond` and `limits` exclude each other");
  } else if (!rate && !limits) {
    report.fault(DiagnosticCode::kMissingField, span, "spec.rateLimit",
                 "one of `requestsPerSecond` and `limits` is required");
  }
  if (own.node("burst") && !rate) {
    report.fault(DiagnosticCode::kExclusiveFields, own.node("burst").key_span(), "spec.rateLimit.burst",
                 "`burst` goes with `requestsPerSecond`", "write it in each of `limits`");
  }
  std::size_t index = 0;
  own.entries("limits", [&](const Fields& entry) {
    const std::string field = "spec.rateLimit.limits[" + std::to_string(index++) + "].burst";
    const auto burst = entry.integer("burst");
    const auto requests = entry.integer("requests");
    if (!burst || !requests || requests->value <= 0) return;
    const std::int64_t seconds = seconds_of(entry.needed_text("per").value);
    if (burst->value / requests->value < kLongestFill / seconds) return;
    report.fault(DiagnosticCode::kInvalidValue, burst->span, field,
                 "it takes a year or more until a burst of " + std::to_string(burst->value) + " can be had again",
                 "lower `burst`, or raise `requests`");
  });
}

void check_body(const Fields& holder, const std::string& field, Report& report) {
  if (!holder.node("body") || !holder.node("configMapRef")) return;
  report.fault(DiagnosticCode::kExclusiveFields, holder.node("configMapRef").key_span(), field + ".configMapRef",
               "`body` and `configMapRef` exclude each other");
}

/// These have no body (RFC 9110 §15.3.5, §15.3.6, §15.4.5).
void check_fixed(const Fields& own, Report& report) {
  check_body(own, "spec.fixedResponse", report);
  const auto status = own.integer("statusCode");
  const auto body = own.text("body");
  const std::string_view written = own.node("configMapRef") ? "configMapRef" : "body";
  if (!status || (written == "body" && (!body || body->value.empty()))) return;
  if (status->value != 204 && status->value != 205 && status->value != 304) return;
  report.fault(DiagnosticCode::kExclusiveFields, own.node(written).span(), "spec.fixedResponse." + std::string(written),
               "a response with status " + std::to_string(status->value) + " has no body",
               "leave out `" + std::string(written) + "`");
}

void check_error_pages(const Fields& own, Report& report) {
  std::size_t index = 0;
  own.entries("pages", [&](const Fields& entry) {
    const std::string field = "spec.errorPages.pages[" + std::to_string(index++) + "]";
    check_body(entry, field, report);
    if (entry.node("body") || entry.node("configMapRef")) return;
    report.fault(DiagnosticCode::kMissingField, entry.span(), field, "one of `body` and `configMapRef` is required");
  });
}

void check_concurrency(const Fields& own, Report& report) {
  const yaml::Node limits = own.node("limits");
  if (limits && limits.size() == 0) {
    report.fault(DiagnosticCode::kInvalidValue, limits.span(), "spec.concurrencyLimit.limits",
                 "at least one limit is required");
  }
  const auto status = own.integer("statusCode");
  if (status && status->value != 429 && status->value != 503) {
    report.fault(DiagnosticCode::kInvalidValue, status->span, "spec.concurrencyLimit.statusCode",
                 "`statusCode` is 429 or 503");
  }
}

}  // namespace

std::vector<ProxyPolicy> decode_policy(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  const Located<std::string> type = spec.needed_text("type");
  ProxyPolicy policy{.metadata = std::move(metadata), .type = {}, .target = {}};
  for (const Row& row : kTypes) {
    const Fields own = spec.object(row.key);
    if (row.type == type.value) {
      policy.type = {row.value, type.span};
      if (own) {
        if (row.value == PolicyType::kCors) check_cors(own, report);
        if (row.value == PolicyType::kIpAccess) check_access(own, type.span, report);
        if (row.value == PolicyType::kConcurrencyLimit) check_concurrency(own, report);
        if (row.value == PolicyType::kRateLimit) check_rate_limit(own, type.span, report);
        if (row.value == PolicyType::kJwt) check_jwt(own, type.span, report);
        if (row.value == PolicyType::kOidc) check_authorization(own, report);
        if (row.value == PolicyType::kApiKey) check_api_key(own, type.span, report);
        if (row.value == PolicyType::kRequestFilter) check_request_filter(own, type.span, report);
        if (row.value == PolicyType::kClientCertificate) check_client_certificate(own, report);
        if (row.value == PolicyType::kForwardAuth) check_forward(own, type.span, report);
        if (row.value == PolicyType::kFixedResponse) check_fixed(own, report);
        if (row.value == PolicyType::kMaintenance) check_body(own, "spec.maintenance", report);
        if (row.value == PolicyType::kErrorPages) check_error_pages(own, report);
        check_written(own, row.value, report);
        decode_settings(own, policy);
      } else {
        report.fault(DiagnosticCode::kMissingField, type.span, "spec." + std::string(row.key),
                     "the field `" + std::string(row.key) + "` is required with type " + type.value);
      }
    } else if (own) {
      report.fault(DiagnosticCode::kExclusiveFields, spec.node(row.key).key_span(), "spec." + std::string(row.key),
                   "`" + std::string(row.key) + "` does not go with type " + type.value);
    }
  }
  return on_targets(spec, policy, report);
}

std::vector<ProxyPolicy> salvage_policy(const Fields& root, Metadata metadata) {
  const yaml::Node spec = root.node("spec");
  if (!spec || !spec.is_map()) return {};
  ProxyPolicy policy{.metadata = std::move(metadata), .type = {PolicyType::kUnknown, spec.span()}, .target = {}};
  if (const yaml::Node type = given(spec, "type"); type && type.is_scalar()) {
    policy.type.span = type.span();
    for (const Row& row : kTypes) {
      if (row.type == type.text()) policy.type.value = row.value;
    }
  }
  drop_settings(root, policy);
  return salvaged_on_targets(spec, policy);
}

void drop_settings(const Fields& root, ProxyPolicy& policy) {
  policy.settings = std::monostate();
  if (policy.type.value == PolicyType::kJwt)
    policy.salvaged_headers = salvaged_headers(given(root.node("spec"), "jwt"));
}

}  // namespace edge::compiler::model
