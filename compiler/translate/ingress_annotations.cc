#include "compiler/translate/ingress_annotations.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text/ascii.h"
#include "base/units.h"
#include "compiler/model/cookie_path.h"
#include "schemas/schema.h"

namespace edge::compiler::translate {
namespace {

using model::Maybe;

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

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_url(std::string_view text) {
  return (text.starts_with("http://") && text.size() > 7) || (text.starts_with("https://") && text.size() > 8);
}

class AnnotationReader {
 public:
  AnnotationReader(const model::Ingress& ingress, Diagnostics& diagnostics)
      : ingress_(ingress), diagnostics_(diagnostics) {}

  IngressSettings run() {
    for (const model::NameValue& annotation : ingress_.annotations) check_name(annotation.name);
    routing();
    canary();
    backend();
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
    const bool protects = name.value.starts_with("auth") || near.starts_with("auth-") || near.starts_with("rate-limit");
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

  /// The value of an annotation; nothing when it is not given.
  Maybe<std::string> text(std::string_view name) const {
    for (const model::NameValue& annotation : ingress_.annotations) {
      if (annotation.name.value == name) return annotation.value;
    }
    return std::nullopt;
  }

  void fault(std::string_view name, Span span, const std::string& message) {
    faulty_ = true;
    diagnostics_.add({.code = DiagnosticCode::kInvalidAnnotation,
                      .resource = ingress_.metadata.text(),
                      .field = "metadata.annotations." + std::string(schemas::kApiGroup) + "/" + std::string(name),
                      .span = span,
                      .message = message});
  }

  /// The value through `parse`, which gives an optional.
  template <typename T, typename Parse>
  Maybe<T> value(std::string_view name, std::string_view wanted, Parse parse) {
    const auto written = text(name);
    if (!written) return std::nullopt;
    if (auto parsed = parse(std::string_view(written->value))) return Located<T>{*std::move(parsed), written->span};
    fault(name, written->span,
          "`" + written->value.substr(0, 60) + "` is not " + std::string(wanted) + ", which `" + std::string(name) +
              "` takes");
    return std::nullopt;
  }

  Maybe<model::Duration> duration(std::string_view name) {
    return value<model::Duration>(name, "a duration such as `30s`", parse_duration);
  }
  Maybe<bool> boolean(std::string_view name) {
    return value<bool>(name, "`true` or `false`", [](std::string_view text) -> std::optional<bool> {
      if (text == "true" || text == "false") return text == "true";
      return std::nullopt;
    });
  }
  Maybe<std::int64_t> number(std::string_view name, std::int64_t low, std::int64_t high) {
    const std::string range = "a number from " + std::to_string(low) + " to " + std::to_string(high);
    return value<std::int64_t>(name, range, [&](std::string_view text) -> std::optional<std::int64_t> {
      std::int64_t parsed = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
      if (error != std::errc() || end != text.data() + text.size() || parsed < low || parsed > high) return {};
      return parsed;
    });
  }
  Maybe<std::string> token(std::string_view name) {
    return value<std::string>(name, "the name of a header", [](std::string_view text) {
      return is_token(text) ? std::optional(std::string(text)) : std::nullopt;
    });
  }
  Maybe<std::string> url(std::string_view name) {
    return value<std::string>(name, "an absolute http or https URL", [](std::string_view text) {
      return is_url(text) ? std::optional(std::string(text)) : std::nullopt;
    });
  }
  Maybe<std::string> one_of(std::string_view name, std::span<const std::string_view> allowed) {
    std::string all;
    for (const std::string_view candidate : allowed) all += (all.empty() ? "one of " : ", ") + std::string(candidate);
    return value<std::string>(name, all, [&](std::string_view text) {
      const bool found = std::find(allowed.begin(), allowed.end(), text) != allowed.end();
      return found ? std::optional(std::string(text)) : std::nullopt;
    });
  }

  /// Words between commas.
  model::Strings words(std::string_view name, bool (*fits)(std::string_view), std::string_view wanted) {
    model::Strings out;
    const auto written = text(name);
    if (!written) return out;
    std::string_view rest = written->value;
    while (true) {
      const std::string_view word = trim_blanks(rest.substr(0, rest.find(',')));
      if (!fits(word)) {
        fault(name, written->span,
              "`" + std::string(word.substr(0, 60)) + "` is not " + std::string(wanted) + ", of which `" +
                  std::string(name) + "` takes a list");
        return out;
      }
      out.push_back({std::string(word), written->span});
      if (rest.find(',') == std::string_view::npos) return out;
      rest.remove_prefix(rest.find(',') + 1);
    }
  }
  model::Strings tokens(std::string_view name) { return words(name, is_token, "a token"); }

  bool any(std::initializer_list<std::string_view> names) const {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return text(name).has_value(); });
  }

  /// Faults since the last call decide whether the policy has settings.
  template <typename Settings>
  void add_policy(model::PolicyType type, Span span, Settings settings) {
    model::ProxyPolicy policy{.metadata = ingress_.metadata, .type = {type, span}, .target = {}};
    if (!std::exchange(faulty_, false)) policy.settings = std::move(settings);
    settings_.policies.push_back(std::move(policy));
  }

  /// What needs `name` is at fault without it.
  Located<std::string> needed(const Maybe<std::string>& value, std::string_view name, Span because) {
    if (value) return *value;
    if (!text(name)) fault(name, because, "the annotation `" + std::string(name) + "` is needed with this one");
    return {};
  }

  Span first_of(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (const auto written = text(name)) return written->span;
    }
    return {};
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
    faulty_ = false;
  }

  void canary() {
    const auto enabled = boolean("canary");
    settings_.canary.enabled = enabled && enabled->value;
    settings_.canary.weight = number("canary-weight", 0, 100);
    settings_.canary.header = token("canary-by-header");
    settings_.canary.header_value = text("canary-by-header-value");
    faulty_ = false;
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
    faulty_ = false;
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
    if (std::exchange(faulty_, false)) return;
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
    model::Jwt jwt{.issuer = needed(text("auth-jwt-issuer"), "auth-jwt-issuer", span),
                   .audience = words("auth-jwt-audience", anything, "an audience"),
                   .jwks_uri = needed(url("auth-jwt-jwks-uri"), "auth-jwt-jwks-uri", span),
                   .allowed_algorithms = words("auth-jwt-algorithms", known, "a signature algorithm")};
    needed(text("auth-jwt-algorithms"), "auth-jwt-algorithms", span);
    add_policy(model::PolicyType::kJwt, span, std::move(jwt));
  }

  const model::Ingress& ingress_;
  Diagnostics& diagnostics_;
  IngressSettings settings_;
  /// A value since the last policy is at fault.
  bool faulty_ = false;
};

}  // namespace

IngressSettings read_annotations(const model::Ingress& ingress, Diagnostics& diagnostics) {
  return AnnotationReader(ingress, diagnostics).run();
}

std::vector<std::string_view> annotation_names() { return {std::begin(kNames), std::end(kNames)}; }

}  // namespace edge::compiler::translate
