#include "compiler/translate/ingress_annotations.h"

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "compiler/translate/annotation_values.h"
#include "compiler/translate/foreign_annotations.h"
#include "compiler/translate/nginx_annotations.h"
#include "schemas/schema.h"

namespace edge::compiler::translate {
namespace {

/// All there are. `allow` and `vip` are read elsewhere.
constexpr std::string_view kNames[] = {
    "affinity",
    "allow",
    "auth-basic-realm",
    "auth-basic-secret",
    "auth-jwt-algorithms",
    "auth-jwt-audience",
    "auth-jwt-issuer",
    "auth-jwt-jwks-uri",
    "auth-request-headers",
    "auth-response-headers",
    "auth-timeout",
    "auth-url",
    "canary",
    "canary-by-header",
    "canary-by-header-value",
    "canary-weight",
    "connect-timeout",
    "cors-allow-credentials",
    "cors-allow-headers",
    "cors-allow-methods",
    "cors-allow-origins",
    "cors-expose-headers",
    "cors-max-age",
    "idle-timeout",
    "ip-allow",
    "ip-deny",
    "lb-policy",
    "max-request-body-size",
    "rate-limit",
    "rate-limit-burst",
    "rate-limit-key",
    "request-timeout",
    "rewrite-host",
    "rewrite-target",
    "session-cookie-expires",
    "session-cookie-max-age",
    "session-cookie-name",
    "session-cookie-path",
    "ssl-redirect",
    "use-regex",
};
constexpr std::string_view kBalances[] = {"RoundRobin", "LeastConn", "P2C", "EWMA", "RingHash", "Maglev", "Random"};
constexpr std::string_view kAlgorithms[] = {"RS256", "RS384", "RS512", "PS256", "PS384",
                                            "PS512", "ES256", "ES384", "ES512", "EdDSA"};

constexpr std::string_view kOwnPrefix = EDGE_API_GROUP "/";

class AnnotationReader : private AnnotationValues {
 public:
  AnnotationReader(const model::Ingress& ingress, const std::vector<model::NameValue>& annotations,
                   Diagnostics& diagnostics)
      : AnnotationValues(ingress, kOwnPrefix, annotations, diagnostics),
        ingress_(ingress),
        annotations_(annotations),
        diagnostics_(diagnostics) {}

  IngressSettings run() {
    for (const model::NameValue& annotation : annotations_) check_name(annotation.name);
    routing();
    canary();
    backend();
    ip_access();
    rate_limit();
    cors();
    basic_auth();
    forward_auth();
    jwt();
    return std::move(settings_);
  }

 private:
  void check_name(const Located<std::string>& name) {
    if (std::find(std::begin(kNames), std::end(kNames), name.value) != std::end(kNames) || name.value == "vip") return;
    const std::string_view near = nearest_name(name.value, {std::begin(kNames), std::end(kNames)});
    const std::string group = std::string(schemas::kApiGroup) + "/";
    // A slip in the name of a protection must not serve without it: a policy without settings denies.
    const bool protects = name.value.starts_with("auth") || near.starts_with("auth-") ||
                          near.starts_with("rate-limit") || near.starts_with("ip-") || name.value.starts_with("ip-");
    if (protects) {
      settings_.policies.push_back(
          {.metadata = ingress_.metadata, .type = {model::PolicyType::kUnknown, name.span}, .target = {}});
    }
    diagnostics_.add({.code = DiagnosticCode::kUnknownAnnotation,
                      .severity = protects ? Severity::kError : Severity::kWarning,
                      .resource = ingress_.metadata.text(),
                      .field = "metadata.annotations",
                      .span = name.span,
                      .message = "unknown annotation `" + group + name.value.substr(0, 60) + "`",
                      .fix = near.empty() ? "" : "did you mean `" + group + std::string(near) + "`?"});
  }

  /// Faults since the last call decide whether the policy has settings.
  template <typename Settings>
  void add_policy(model::PolicyType type, Span span, Settings settings) {
    model::ProxyPolicy policy{.metadata = ingress_.metadata, .type = {type, span}, .target = {}};
    if (!take_fault()) policy.settings = std::move(settings);
    settings_.policies.push_back(std::move(policy));
  }

  void routing() {
    settings_.rewrite_target = value<std::string>("rewrite-target", "a path", [](std::string_view text) {
      return text.starts_with('/') ? std::optional(std::string(text)) : std::nullopt;
    });
    settings_.rewrite_host = value<HostPattern>("rewrite-host", "a host name", [](std::string_view text) {
      auto host = HostPattern::parse(text);
      return host && !host->wildcard() ? host : std::nullopt;
    });
    settings_.request_timeout = duration("request-timeout");
    settings_.idle_timeout = duration("idle-timeout");
    settings_.max_body = value<std::uint64_t>("max-request-body-size", "a size such as `10Mi`", parse_size);
    settings_.ssl_redirect = boolean("ssl-redirect");
    const bool has_certificate = std::any_of(ingress_.tls.begin(), ingress_.tls.end(),
                                             [](const model::IngressTls& tls) { return tls.secret.has_value(); });
    if (settings_.ssl_redirect && settings_.ssl_redirect->value && !has_certificate) {
      fault("ssl-redirect", settings_.ssl_redirect->span,
            "the Ingress has no `tls` with a Secret: there is nothing to redirect to");
    }
    const auto regex = boolean("use-regex");
    settings_.use_regex = regex && regex->value;
    take_fault();
  }

  void canary() {
    const auto enabled = boolean("canary");
    settings_.canary.enabled = enabled && enabled->value;
    settings_.canary.weight = number("canary-weight", 0, 100);
    settings_.canary.header = token("canary-by-header");
    settings_.canary.header_value = text("canary-by-header-value");
    take_fault();
  }

  void backend() {
    BackendOptions& options = settings_.backend;
    options.connect_timeout = duration("connect-timeout");
    options.lb_policy = one_of("lb-policy", kBalances);
    constexpr std::string_view kAffinities[] = {"source-ip", "cookie"};
    const auto affinity = one_of("affinity", kAffinities);
    if (affinity && affinity->value == "cookie") session(affinity->span);
    if (affinity && affinity->value == "source-ip") {
      // The client's address decides the endpoint.
      if (!options.lb_policy) options.lb_policy = Located<std::string>{"RingHash", affinity->span};
    }
    if (options.connect_timeout || options.lb_policy) options.suffix = "@" + ingress_.metadata.name;
    take_fault();
  }

  /// As ingress-nginx has it; the age is the session's too.
  void session(Span span) {
    constexpr std::int64_t kLongest = 400LL * 24 * 60 * 60;
    model::SessionPersistence made{.span = span, .name = Located<std::string>{"INGRESSCOOKIE", span}};
    if (const auto name = token("session-cookie-name")) made.name = name;
    auto age = number("session-cookie-max-age", 1, kLongest);
    const auto expires = number("session-cookie-expires", 1, kLongest);
    if (!age) age = expires;
    if (age) {
      made.permanent = true;
      made.absolute_timeout = Located<model::Duration>{std::chrono::seconds(age->value), age->span};
    }
    made.path = value<std::string>("session-cookie-path", "a path", [](std::string_view text) {
      return model::is_cookie_path(text) ? std::optional(std::string(text)) : std::nullopt;
    });
    settings_.persistence = std::move(made);
  }

  void ip_access() {
    const auto names = {std::string_view("ip-allow"), std::string_view("ip-deny")};
    if (!any(names)) return;
    model::IpAccess access{.allow = blocks("ip-allow"), .deny = blocks("ip-deny")};
    add_policy(model::PolicyType::kIpAccess, first_of(names), std::move(access));
  }

  void rate_limit() {
    if (!any({"rate-limit", "rate-limit-burst", "rate-limit-key"})) return;
    const Span span = first_of({"rate-limit", "rate-limit-burst", "rate-limit-key"});
    const auto rate = number("rate-limit", 1, 1'000'000'000);
    if (!text("rate-limit")) fault("rate-limit", span, "the annotation `rate-limit` is needed with this one");
    model::RateLimit limit{.requests_per_second = rate ? rate->value : 0,
                           .burst = number("rate-limit-burst", 1, 1'000'000'000),
                           .key = value<std::string>("rate-limit-key", "a key of rate limits", rate_key)};
    add_policy(model::PolicyType::kRateLimit, span, std::move(limit));
  }

  static std::optional<std::string> rate_key(std::string_view text) {
    if (text == "source-ip" || text == "host" || text == "path") return std::string(text);
    for (const std::string_view prefix : {"header:", "cookie:", "query:", "jwt:"}) {
      if (text.starts_with(prefix) && text.size() > prefix.size()) return std::string(text);
    }
    return std::nullopt;
  }

  void cors() {
    if (!any({"cors-allow-origins", "cors-allow-methods", "cors-allow-headers", "cors-expose-headers", "cors-max-age",
              "cors-allow-credentials"})) {
      return;
    }
    const auto anything = [](std::string_view text) { return !text.empty(); };
    model::Cors cors{.allow_origins = words("cors-allow-origins", anything, "an origin"),
                     .allow_methods = tokens("cors-allow-methods"),
                     .allow_headers = tokens("cors-allow-headers"),
                     .expose_headers = tokens("cors-expose-headers"),
                     .max_age = duration("cors-max-age"),
                     .allow_credentials = boolean("cors-allow-credentials")};
    const bool everyone = std::any_of(cors.allow_origins.begin(), cors.allow_origins.end(),
                                      [](const Located<std::string>& origin) { return origin.value == "*"; });
    if (everyone && cors.allow_credentials && cors.allow_credentials->value) {
      fault("cors-allow-credentials", cors.allow_credentials->span, "credentials for every origin are refused");
    }
    const Span span = first_of({"cors-allow-origins", "cors-allow-methods", "cors-allow-headers", "cors-expose-headers",
                                "cors-max-age", "cors-allow-credentials"});
    // Without its settings nobody of another origin may read: it narrows.
    if (take_fault()) return;
    add_policy(model::PolicyType::kCors, span, std::move(cors));
  }

  void basic_auth() {
    const auto names = {std::string_view("auth-basic-secret"), std::string_view("auth-basic-realm")};
    if (!any(names)) return;
    const auto secret = value<std::string>("auth-basic-secret", "the name of a Secret", [](std::string_view text) {
      return HostPattern::parse(text) ? std::optional(std::string(text)) : std::nullopt;
    });
    model::BasicAuth auth{.realm = text("auth-basic-realm"),
                          .secret = {.name = needed(secret, "auth-basic-secret", first_of(names))}};
    add_policy(model::PolicyType::kBasicAuth, first_of(names), std::move(auth));
  }

  void forward_auth() {
    const auto names = {std::string_view("auth-url"), std::string_view("auth-request-headers"),
                        std::string_view("auth-response-headers"), std::string_view("auth-timeout")};
    if (!any(names)) return;
    model::ForwardAuth auth{.address = needed(url("auth-url"), "auth-url", first_of(names)),
                            .auth_headers = tokens("auth-request-headers"),
                            .response_headers = tokens("auth-response-headers"),
                            .timeout = duration("auth-timeout")};
    add_policy(model::PolicyType::kForwardAuth, first_of(names), std::move(auth));
  }

  void jwt() {
    const auto names = {std::string_view("auth-jwt-issuer"), std::string_view("auth-jwt-jwks-uri"),
                        std::string_view("auth-jwt-algorithms"), std::string_view("auth-jwt-audience")};
    if (!any(names)) return;
    const Span span = first_of(names);
    const auto known = [](std::string_view text) {
      return std::find(std::begin(kAlgorithms), std::end(kAlgorithms), text) != std::end(kAlgorithms);
    };
    const auto anything = [](std::string_view text) { return !text.empty(); };
    model::JwtIssuer issuer{.issuer = needed(text("auth-jwt-issuer"), "auth-jwt-issuer", span),
                            .audience = words("auth-jwt-audience", anything, "an audience"),
                            .jwks_uri = needed(url("auth-jwt-jwks-uri"), "auth-jwt-jwks-uri", span),
                            .allowed_algorithms = words("auth-jwt-algorithms", known, "a signature algorithm")};
    needed(text("auth-jwt-algorithms"), "auth-jwt-algorithms", span);
    model::Jwt jwt;
    jwt.issuers.push_back(std::move(issuer));
    add_policy(model::PolicyType::kJwt, span, std::move(jwt));
  }

  const model::Ingress& ingress_;
  const std::vector<model::NameValue>& annotations_;
  Diagnostics& diagnostics_;
  IngressSettings settings_;
};

/// Our own, and of ingress-nginx those of session persistence, which mean the same there, where ours of that name is
/// not given.
std::vector<model::NameValue> with_sessions_of_nginx(const model::Ingress& ingress) {
  constexpr std::string_view kOfSessions[] = {"affinity", "session-cookie-expires", "session-cookie-max-age",
                                              "session-cookie-name", "session-cookie-path"};
  std::vector<model::NameValue> all = ingress.annotations;
  const std::size_t own = all.size();
  for (const model::NameValue& annotation : ingress.foreign) {
    const std::string_view key = annotation.name.value;
    if (!key.starts_with(model::kNginxPrefix)) continue;
    const std::string_view name = key.substr(model::kNginxPrefix.size());
    const auto same = [&](const model::NameValue& other) { return other.name.value == name; };
    if (std::ranges::find(kOfSessions, name) == std::end(kOfSessions) ||
        std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(own), same))
      continue;
    all.push_back({.name = {std::string(name), annotation.name.span}, .value = annotation.value});
  }
  return all;
}

}  // namespace

IngressSettings read_annotations(const model::Ingress& ingress, Diagnostics& diagnostics) {
  const std::vector<model::NameValue> own = with_sessions_of_nginx(ingress);
  IngressSettings settings = AnnotationReader(ingress, own, diagnostics).run();
  read_nginx_annotations(ingress, settings, diagnostics);
  tell_foreign_annotations(ingress, settings, diagnostics);
  return settings;
}

}  // namespace edge::compiler::translate
