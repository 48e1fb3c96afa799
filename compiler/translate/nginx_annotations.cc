#include "compiler/translate/nginx_annotations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "base/text/ascii.h"
#include "base/units.h"
#include "compiler/translate/annotation_values.h"
#include "compiler/translate/nginx_rewrite.h"

namespace edge::compiler::translate {
namespace {

using model::Maybe;
using model::PolicyType;

/// What ingress-nginx has in place of what is not said.
constexpr std::int64_t kBurstMultiplier = 5;
constexpr std::int64_t kTries = 3;
constexpr auto kCorsAge = std::chrono::seconds(1728000);
constexpr std::string_view kCorsMethods[] = {"GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"};
constexpr std::string_view kCorsHeaders[] = {
    "DNT",           "Keep-Alive",   "User-Agent", "X-Requested-With", "If-Modified-Since",
    "Cache-Control", "Content-Type", "Range",      "Authorization"};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Seconds, as nginx writes times without a unit.
std::optional<model::Duration> seconds(std::string_view text) {
  const bool bare = !text.empty() && text.size() < 10 && std::ranges::all_of(text, is_digit);
  return parse_duration(bare ? std::string(text) + "s" : std::string(text));
}

/// `8m` is 8 MiB; 0: no bound.
std::optional<std::uint64_t> size(std::string_view text) {
  std::uint64_t unit = 1;
  if (!text.empty() && !is_digit(text.back())) {
    const char letter = ascii_lower(text.back());
    unit = letter == 'k' ? 1ULL << 10 : letter == 'm' ? 1ULL << 20 : letter == 'g' ? 1ULL << 30 : 0;
    text.remove_suffix(1);
  }
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (unit == 0 || error != std::errc() || end != text.data() + text.size() || count > (1ULL << 30)) return {};
  return count * unit;
}

/// What a redirect's URL says: as a filter, that answers so. `$request_uri` behind the host keeps path and query.
std::optional<model::Filter> redirect_to(const Located<std::string>& written) {
  constexpr std::string_view kAsAsked = "$request_uri";
  model::Filter filter{.span = written.span, .type = model::FilterType::kRedirect};
  std::string_view rest = written.value;
  const bool as_asked = rest.ends_with(kAsAsked);
  if (as_asked) rest.remove_suffix(kAsAsked.size());
  if (rest.find_first_of("$?# ") != std::string_view::npos) return std::nullopt;
  if (const std::size_t colon = rest.find("://"); colon != std::string_view::npos) {
    const std::string_view scheme = rest.substr(0, colon);
    if (scheme != "http" && scheme != "https") return std::nullopt;
    filter.scheme = Located<std::string>{std::string(scheme), written.span};
    rest.remove_prefix(colon + 3);
    std::string_view authority = rest.substr(0, rest.find('/'));
    rest.remove_prefix(authority.size());
    if (const std::size_t port = authority.rfind(':'); port != std::string_view::npos && !authority.ends_with(']')) {
      std::int64_t number = 0;
      const std::string_view digits = authority.substr(port + 1);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (error != std::errc() || end != digits.data() + digits.size() || number < 1 || number > 65535) return {};
      filter.port = Located<std::int64_t>{number, written.span};
      authority = authority.substr(0, port);
    }
    auto host = HostPattern::parse(authority);
    if (!host || host->wildcard()) return std::nullopt;
    filter.hostname = Located<HostPattern>{*std::move(host), written.span};
  }
  if (as_asked) return rest.empty() && filter.hostname ? std::optional(filter) : std::nullopt;
  if (rest.empty() && !filter.hostname) return std::nullopt;
  if (!rest.empty() && rest[0] != '/') return std::nullopt;
  filter.path = model::PathChange{.type = model::PathChangeType::kFull,
                                  .value = {rest.empty() ? std::string("/") : std::string(rest), written.span}};
  return filter;
}

/// Whether the value of a parameter is the URL that was asked for, in one of the ways that nginx can say it.
bool is_request_url(std::string_view text) {
  for (const std::string_view scheme : {"$scheme://", "$pass_access_scheme://", "http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    text.remove_prefix(scheme.size());
    break;
  }
  for (const std::string_view host : {"$host", "$http_host", "$best_http_host"}) {
    if (!text.starts_with(host) || text.substr(host.size()).starts_with('_')) continue;
    text.remove_prefix(host.size());
    break;
  }
  return text == "$escaped_request_uri" || text == "$request_uri";
}

/// ForwardAuth::sign_in_url; a path alone is one of the host that was asked for.
std::optional<std::string> sign_in_of(std::string_view text, std::string_view parameter) {
  const std::size_t query = text.find('?');
  std::string page(text.substr(0, query));
  std::string kept;
  for (std::string_view rest = query == std::string_view::npos ? "" : text.substr(query + 1); !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    const bool of_request = one.substr(0, one.find('=')) == parameter &&
                            is_request_url(one.substr(std::min(one.find('=') + 1, one.size())));
    if (!of_request) kept += (kept.empty() ? "?" : "&") + std::string(one);
  }
  for (const std::string_view scheme : {"https://", "http://", "$scheme://"}) {
    for (const std::string_view host : {"$host/", "$http_host/", "$best_http_host/"}) {
      const std::string before = std::string(scheme) + std::string(host);
      if (page.starts_with(before)) page.erase(0, before.size() - 1);
    }
  }
  page += kept;
  const bool absolute =
      (page.starts_with("http://") && page.size() > 7) || (page.starts_with("https://") && page.size() > 8);
  const bool path = page.starts_with('/') && !page.starts_with("//");
  const bool plain = std::ranges::all_of(page, [](char c) { return c > ' ' && c < 0x7f && c != '$'; });
  return (absolute || path) && plain ? std::optional(std::move(page)) : std::nullopt;
}

class NginxReader : private AnnotationValues {
 public:
  NginxReader(const model::Ingress& ingress, const std::vector<model::NameValue>& annotations,
              IngressSettings& settings, Diagnostics& diagnostics)
      : AnnotationValues(ingress, model::kNginxPrefix, annotations, diagnostics),
        ingress_(ingress),
        settings_(settings) {}

  void run() {
    tuning();
    guarded("rewrite-target", &NginxReader::routing);
    guarded("permanent-redirect", &NginxReader::redirects);
    guarded("ssl-redirect", &NginxReader::encryption);
    canary();
    retries();
    backend();
    addresses();
    basic_auth();
    forward_auth();
    rate_limit();
    cors();
  }

 private:
  bool says(std::string_view name, std::string_view value) const {
    const auto written = text(name);
    return written && written->value == value;
  }
  bool has_policy(PolicyType type) const {
    return std::ranges::any_of(settings_.policies,
                               [&](const model::ProxyPolicy& policy) { return policy.type.value == type; });
  }
  void add_policy(PolicyType type, Span span, decltype(model::ProxyPolicy::settings) policy_settings) {
    model::ProxyPolicy policy{.metadata = ingress_.metadata, .type = {type, span}, .target = {}};
    if (!take_fault()) policy.settings = std::move(policy_settings);
    settings_.policies.push_back(std::move(policy));
  }
  /// What is read wrong here would send requests where they must not go.
  void guarded(std::string_view name, void (NginxReader::*read)()) {
    take_fault();
    (this->*read)();
    if (!take_fault()) return;
    const auto written = text(name);
    settings_.policies.push_back({.metadata = ingress_.metadata,
                                  .type = {PolicyType::kUnknown, written ? written->span : ingress_.metadata.span},
                                  .target = {}});
  }

  void tuning() {
    constexpr std::string_view kSeconds = "a number of seconds";
    if (!settings_.backend.connect_timeout) {
      settings_.backend.connect_timeout = value<model::Duration>("proxy-connect-timeout", kSeconds, seconds);
    }
    const auto read = value<model::Duration>("proxy-read-timeout", kSeconds, seconds);
    const auto sent = value<model::Duration>("proxy-send-timeout", kSeconds, seconds);
    if (!settings_.idle_timeout) settings_.idle_timeout = read && sent && sent->value > read->value ? sent : read;
    if (!settings_.idle_timeout) settings_.idle_timeout = sent;
    if (!settings_.max_body) {
      settings_.max_body = value<std::uint64_t>("proxy-body-size", "a size such as `8m`", size);
    }
    if (const auto prefix = text("x-forwarded-prefix"); prefix && !prefix->value.empty()) {
      if (is_plain(prefix->value)) {
        settings_.request_headers.push_back({.name = {"X-Forwarded-Prefix", prefix->span}, .value = *prefix});
      } else {
        fault("x-forwarded-prefix", prefix->span, "a variable, of which there are none here; the field is not sent");
      }
    }
  }

  /// Without variables, and fit for a field's value.
  static bool is_plain(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f && c != '$'; });
  }

  void routing() {
    const auto regex = boolean("use-regex");
    if (const auto target = text("rewrite-target"); target && !target->value.empty() && !settings_.rewrite_target) {
      settings_.nginx_rewrite = target;
      check_rewrite(*target);
    }
    settings_.regex_hosts = (regex && regex->value) || settings_.nginx_rewrite;
    if (!settings_.rewrite_host) settings_.rewrite_host = host("upstream-vhost");
    const auto is_name = [](std::string_view name) {
      const auto parsed = HostPattern::parse(name);
      return parsed && !parsed->wildcard();
    };
    for (const Located<std::string>& alias : words("server-alias", is_name, "a host name")) {
      settings_.aliases.push_back({*HostPattern::parse(alias.value), alias.span});
    }
    settings_.app_root = path("app-root");
  }

  void check_rewrite(const Located<std::string>& target) {
    for (const model::IngressRule& rule : ingress_.rules) {
      for (const model::IngressPath& path : rule.paths) {
        const std::string written = path.path ? path.path->value : "/";
        if (nginx_rewrite(written, target.value)) continue;
        fault("rewrite-target", target.span,
              "`" + target.value.substr(0, 60) + "` cannot be made of the path `" + written.substr(0, 60) + "`",
              "use a path such as `/api(/|$)(.*)` with the target `/$2`");
        return;
      }
    }
  }

  void redirects() {
    constexpr std::string_view kCodes[] = {"301", "302", "303", "307", "308"};
    const auto redirect = [&](std::string_view name, std::string_view code_name, std::int64_t usual) {
      const auto written = text(name);
      if (!written) return;
      const auto code = one_of(code_name, kCodes);
      auto filter = redirect_to(*written);
      if (!filter) {
        fault(name, written->span, "`" + written->value.substr(0, 60) + "` is no URL that a redirect can go to",
              "give scheme, host and path, or scheme and host with `$request_uri`");
        return;
      }
      filter->status = Located<std::int64_t>{code ? std::stoll(code->value) : usual, written->span};
      settings_.redirect = std::move(filter);
    };
    redirect("permanent-redirect", "permanent-redirect-code", 301);
    redirect("temporal-redirect", "temporal-redirect-code", 302);
    const auto www = boolean("from-to-www-redirect");
    settings_.www_redirect = www && www->value;
  }

  void encryption() {
    const bool has_certificate =
        std::ranges::any_of(ingress_.tls, [](const model::IngressTls& tls) { return tls.secret.has_value(); });
    const auto usual = boolean("ssl-redirect");
    const auto forced = boolean("force-ssl-redirect");
    if (forced && forced->value && !has_certificate) {
      fault("force-ssl-redirect", forced->span,
            "the Ingress has no `tls` with a Secret: there is nothing to redirect to");
    }
    const Maybe<bool>& asked = forced && forced->value ? forced : usual;
    if (!settings_.ssl_redirect && asked && has_certificate) settings_.ssl_redirect = asked;
  }

  void canary() {
    const auto enabled = boolean("canary");
    Canary& canary = settings_.canary;
    if (!enabled || canary.enabled) return;
    canary.enabled = enabled->value;
    if (const auto total = number("canary-weight-total", 1, 1'000'000)) canary.weight_total = total->value;
    canary.weight = number("canary-weight", 0, canary.weight_total);
    canary.header = token("canary-by-header");
    canary.header_value = text("canary-by-header-value");
    if (!canary.header_value) canary.header_pattern = text("canary-by-header-pattern");
    canary.cookie = token("canary-by-cookie");
    take_fault();
  }

  void retries() {
    const auto written = text("proxy-next-upstream");
    const auto tries = number("proxy-next-upstream-tries", 1, 10);
    if (!written && !tries) return;
    model::Retry retry{.max_retries = Located<std::int64_t>{(tries ? tries->value : kTries) - 1, {}}};
    const std::string words = written ? written->value : "error timeout";
    const auto add = [&](std::string_view name) {
      retry.retry_on.push_back({std::string(name), written ? written->span : tries->span});
    };
    for (std::string_view rest = words; !(rest = trim_blanks(rest)).empty();) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(word.size());
      constexpr std::string_view kStatuses[] = {"http_429", "http_500", "http_502", "http_503", "http_504"};
      if (word == "error" || word == "timeout" || word == "invalid_header") {
        add("connect-failure");
        add("reset");
      } else if (std::ranges::find(kStatuses, word) != std::end(kStatuses)) {
        add(word.substr(5));
      } else if (word == "off") {
        retry.max_retries->value = 0;
        add("connect-failure");
      } else {
        fault("proxy-next-upstream", written->span,
              "`" + std::string(word.substr(0, 60)) + "` is nothing that requests are tried again for");
      }
    }
    if (!take_fault() && !retry.retry_on.empty()) settings_.retry = std::move(retry);
  }

  void backend() {
    BackendOptions& options = settings_.backend;
    constexpr std::string_view kBalancers[] = {"round_robin", "ewma"};
    if (const auto balance = one_of("load-balance", kBalancers); balance && !options.lb_policy) {
      options.lb_policy = Located<std::string>{balance->value == "ewma" ? "EWMA" : "RoundRobin", balance->span};
    }
    constexpr std::string_view kHashes[] = {"$remote_addr", "$binary_remote_addr"};
    if (const auto hash = one_of("upstream-hash-by", kHashes); hash && !options.lb_policy) {
      options.lb_policy = Located<std::string>{"RingHash", hash->span};
    }
    take_fault();
    if (protocol()) trust();
    if (options.connect_timeout || options.lb_policy || options.protocol || options.needs_tls.somewhere()) {
      options.suffix = "@" + ingress_.metadata.name;
    }
  }

  /// \returns whether endpoints are called over TLS.
  bool protocol() {
    const auto written = text("backend-protocol");
    if (!written) return false;
    std::string word = written->value;
    for (char& c : word) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    BackendOptions& options = settings_.backend;
    const bool grpc = word == "GRPC" || word == "GRPCS";
    if (grpc) options.protocol = Located<std::string>{"GRPC", written->span};
    const bool encrypted = word == "HTTPS" || word == "GRPCS";
    if (encrypted) options.needs_tls = written->span;
    if (grpc || encrypted || word == "HTTP" || word == "AUTO_HTTP") return encrypted;
    fault("backend-protocol", written->span,
          "`" + word.substr(0, 60) + "` is no protocol that backends are spoken to by");
    // Endpoints that speak something else are not called.
    options.needs_tls = written->span;
    take_fault();
    return false;
  }

  /// ingress-nginx calls endpoints without looking at their certificates where it is not told to; here they are not
  /// called then.
  void trust() {
    constexpr std::string_view kSwitch[] = {"on", "off"};
    const auto verify = one_of("proxy-ssl-verify", kSwitch);
    if (!verify || verify->value != "on") return void(take_fault());
    settings_.backend.authority = value<std::string>(
        "proxy-ssl-secret", "a Secret of the Ingress's namespace, `NAMESPACE/NAME`", [&](std::string_view text) {
          const std::size_t slash = text.find('/');
          const bool own = slash == std::string_view::npos || text.substr(0, slash) == ingress_.metadata.name_space;
          const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
          return own && HostPattern::parse(name) ? std::optional(std::string(name)) : std::nullopt;
        });
    if (const auto name = host("proxy-ssl-name")) {
      settings_.backend.server_name = Located<std::string>{name->value.text(), name->span};
    }
    // Whose certificates are not known is not called.
    if (take_fault()) settings_.backend.authority.reset();
  }

  void addresses() {
    const auto names = {std::string_view("whitelist-source-range"), std::string_view("allowlist-source-range"),
                        std::string_view("denylist-source-range")};
    if (!any(names) || has_policy(PolicyType::kIpAccess)) return;
    model::IpAccess access{.allow = blocks("whitelist-source-range"), .deny = blocks("denylist-source-range")};
    for (auto& block : blocks("allowlist-source-range")) access.allow.push_back(block);
    add_policy(PolicyType::kIpAccess, first_of(names), std::move(access));
  }

  void basic_auth() {
    const auto names = {std::string_view("auth-type"), std::string_view("auth-secret"), std::string_view("auth-realm"),
                        std::string_view("auth-secret-type")};
    if (!any(names) || has_policy(PolicyType::kBasicAuth)) return;
    constexpr std::string_view kTypes[] = {"basic"};
    constexpr std::string_view kSecretTypes[] = {"auth-file"};
    const Span span = first_of(names);
    needed(one_of("auth-type", kTypes), "auth-type", span);
    one_of("auth-secret-type", kSecretTypes);
    const auto secret = value<model::Reference>("auth-secret", "the name of a Secret", [&](std::string_view text) {
      const std::size_t slash = text.find('/');
      const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
      model::Reference reference{.name = {std::string(name), span}};
      if (slash != std::string_view::npos) reference.name_space = text.substr(0, slash);
      return HostPattern::parse(name) && slash != 0 ? std::optional(reference) : std::nullopt;
    });
    if (!secret && !has("auth-secret"))
      fault("auth-secret", span, "the annotation `auth-secret` is needed with this one");
    model::BasicAuth auth{.realm = text("auth-realm"), .secret = {}, .key = "auth"};
    if (secret) auth.secret = secret->value;
    if (secret) auth.secret.name.span = secret->span;
    add_policy(PolicyType::kBasicAuth, span, std::move(auth));
  }

  /// `https://$host/start?rd=$escaped_request_uri` is how most are written: the host of the request is meant by a path
  /// alone, and the URL that was asked for comes without being asked for.
  Maybe<std::string> sign_in_url(std::string_view parameter) {
    return value<std::string>("auth-signin", "a URL without variables but `$host` and, in its parameter, the request's",
                              [&](std::string_view text) { return sign_in_of(text, parameter); });
  }

  void forward_auth() {
    const auto names = {std::string_view("auth-url"), std::string_view("auth-method"),
                        std::string_view("auth-response-headers")};
    if (!any(names) || has_policy(PolicyType::kForwardAuth)) return;
    // What is wrong with the page to sign in at leaves the service's own answer, which lets nobody through either.
    const auto parameter = token("auth-signin-redirect-param");
    const auto sign_in = sign_in_url(parameter ? parameter->value : std::string("rd"));
    take_fault();
    constexpr std::string_view kMethods[] = {"GET"};
    one_of("auth-method", kMethods);
    model::ForwardAuth auth{.address = needed(url("auth-url"), "auth-url", first_of(names)),
                            .response_headers = tokens("auth-response-headers"),
                            .sign_in_url = sign_in,
                            .sign_in_parameter = parameter};
    add_policy(PolicyType::kForwardAuth, first_of(names), std::move(auth));
  }

  void rate_limit() {
    const auto names = {std::string_view("limit-rps"), std::string_view("limit-rpm")};
    if (!any(names) || has_policy(PolicyType::kRateLimit)) return;
    const auto each_second = number("limit-rps", 1, 1'000'000);
    const auto each_minute = number("limit-rpm", 60, 60'000'000);
    const auto multiplier = number("limit-burst-multiplier", 1, 1000);
    // Of both the lower holds; what is not whole is rounded down.
    std::int64_t rate = each_second ? each_second->value : each_minute ? each_minute->value / 60 : 0;
    if (each_second && each_minute) rate = std::min(rate, each_minute->value / 60);
    model::RateLimit limit{
        .requests_per_second = rate,
        .burst = Located<std::int64_t>{rate * (multiplier ? multiplier->value : kBurstMultiplier), first_of(names)}};
    add_policy(PolicyType::kRateLimit, first_of(names), std::move(limit));
  }

  void cors() {
    const auto enabled = boolean("enable-cors");
    if (!enabled || !enabled->value || has_policy(PolicyType::kCors)) return;
    const auto anything = [](std::string_view text) { return !text.empty(); };
    const auto usual = [&](model::Strings written, std::span<const std::string_view> otherwise) {
      for (std::size_t i = 0; written.empty() && i < otherwise.size(); ++i) {
        for (const std::string_view one : otherwise) written.push_back({std::string(one), enabled->span});
      }
      return written;
    };
    constexpr std::string_view kEverybody[] = {"*"};
    model::Cors cors{.allow_origins = usual(words("cors-allow-origin", anything, "an origin"), kEverybody),
                     .allow_methods = usual(tokens("cors-allow-methods"), kCorsMethods),
                     .allow_headers = usual(tokens("cors-allow-headers"), kCorsHeaders),
                     .expose_headers = tokens("cors-expose-headers"),
                     .max_age = value<model::Duration>("cors-max-age", "a number of seconds", seconds)};
    if (!cors.max_age) cors.max_age = Located<model::Duration>{kCorsAge, enabled->span};
    const bool everyone =
        std::ranges::any_of(cors.allow_origins, [](const auto& origin) { return origin.value == "*"; });
    const auto credentials = boolean("cors-allow-credentials");
    // Browsers take no credentials with the origin `*`.
    cors.allow_credentials = Located<bool>{(!credentials || credentials->value) && !everyone, enabled->span};
    // Without its settings nobody of another origin may read: it narrows.
    if (!take_fault()) add_policy(PolicyType::kCors, enabled->span, std::move(cors));
  }

  const model::Ingress& ingress_;
  IngressSettings& settings_;
};

}  // namespace

void read_nginx_annotations(const model::Ingress& ingress, IngressSettings& settings, Diagnostics& diagnostics) {
  std::vector<model::NameValue> own;
  for (const model::NameValue& annotation : ingress.foreign) {
    const std::string_view key = annotation.name.value;
    if (!key.starts_with(model::kNginxPrefix)) continue;
    own.push_back({.name = {std::string(key.substr(model::kNginxPrefix.size())), annotation.name.span},
                   .value = annotation.value});
  }
  if (!own.empty()) NginxReader(ingress, own, settings, diagnostics).run();
}

}  // namespace edge::compiler::translate
