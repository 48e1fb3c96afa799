#include "compiler/translate/foreign_annotations.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text/ascii.h"

namespace edge::compiler::translate {
namespace {

using Use = ForeignUse;

constexpr std::array kNginx = {
    ForeignAnnotation{"affinity", Use::kServed, "`cookie`: session persistence"},
    ForeignAnnotation{"affinity-canary-behavior", Use::kLeftOut, "a session stays with its backend of a split",
                      "sticky"},
    ForeignAnnotation{"affinity-mode", Use::kNeedless, "sessions stay with their endpoint while it takes traffic"},
    ForeignAnnotation{"allowlist-source-range", Use::kServed, "as `whitelist-source-range`"},
    ForeignAnnotation{"app-root", Use::kServed, "a redirect (302) of `/`"},
    ForeignAnnotation{"auth-always-set-cookie", Use::kLeftOut, "cookies of the service come with its refusals alone",
                      "false"},
    ForeignAnnotation{"auth-cache-duration", Use::kLeftOut, "answers are not kept; `cacheTTL` of a ForwardAuth policy"},
    ForeignAnnotation{"auth-cache-key", Use::kLeftOut, "answers are not kept"},
    ForeignAnnotation{"auth-keepalive", Use::kNeedless, "connections to the service are kept"},
    ForeignAnnotation{"auth-keepalive-requests", Use::kNeedless, "connections to the service are kept"},
    ForeignAnnotation{"auth-keepalive-share-vars", Use::kNeedless, "there are no variables"},
    ForeignAnnotation{"auth-keepalive-timeout", Use::kNeedless, "connections to the service are kept"},
    ForeignAnnotation{"auth-method", Use::kServed, "`GET` alone"},
    ForeignAnnotation{"auth-proxy-set-headers", Use::kProtects, "the service sees the request's own fields"},
    ForeignAnnotation{"auth-realm", Use::kServed, "`realm` of a BasicAuth policy"},
    ForeignAnnotation{"auth-request-redirect", Use::kLeftOut, "the service sees `X-Forwarded-Uri`"},
    ForeignAnnotation{"auth-response-headers", Use::kServed, "`responseHeaders` of a ForwardAuth policy"},
    ForeignAnnotation{"auth-secret", Use::kServed, "Secret of a BasicAuth policy, key `auth`"},
    ForeignAnnotation{"auth-secret-type", Use::kServed, "`auth-file` alone"},
    ForeignAnnotation{
        "auth-signin", Use::kServed,
        "`signInURL` of a ForwardAuth policy; of variables `$host`, and in the parameter those of the URL"},
    ForeignAnnotation{"auth-signin-redirect-param", Use::kServed, "`signInParameter` of a ForwardAuth policy"},
    ForeignAnnotation{"auth-snippet", Use::kProtects, "use a ForwardAuth policy"},
    ForeignAnnotation{"auth-tls-error-page", Use::kProtects, "use `clientValidation` of a ProxyGateway's listener"},
    ForeignAnnotation{"auth-tls-match-cn", Use::kProtects, "use `clientValidation` of a ProxyGateway's listener"},
    ForeignAnnotation{"auth-tls-pass-certificate-to-upstream", Use::kProtects,
                      "use `clientValidation` of a ProxyGateway's listener", "false"},
    ForeignAnnotation{"auth-tls-secret", Use::kProtects, "use `clientValidation` of a ProxyGateway's listener"},
    ForeignAnnotation{"auth-tls-verify-client", Use::kProtects, "use `clientValidation` of a ProxyGateway's listener",
                      "off"},
    ForeignAnnotation{"auth-tls-verify-depth", Use::kProtects, "use `clientValidation` of a ProxyGateway's listener"},
    ForeignAnnotation{"auth-type", Use::kServed, "`basic`: a BasicAuth policy"},
    ForeignAnnotation{"auth-url", Use::kServed, "a ForwardAuth policy; no variables"},
    ForeignAnnotation{"backend-protocol", Use::kServed,
                      "`HTTP`, `AUTO_HTTP`, `GRPC`; `HTTPS` and `GRPCS` with `proxy-ssl-verify` or a BackendTLSPolicy"},
    ForeignAnnotation{"canary", Use::kServed, "as our own"},
    ForeignAnnotation{"canary-by-cookie", Use::kServed, "cookies with the value `always` go there, `never` do not"},
    ForeignAnnotation{"canary-by-header", Use::kServed, "`always` goes there, `never` does not"},
    ForeignAnnotation{"canary-by-header-pattern", Use::kServed, "values that match the expression go there"},
    ForeignAnnotation{"canary-by-header-value", Use::kServed, "the value that goes there, in place of `always`"},
    ForeignAnnotation{"canary-weight", Use::kServed, "its share"},
    ForeignAnnotation{"canary-weight-total", Use::kServed, "what `canary-weight` is a part of; 100"},
    ForeignAnnotation{"client-body-buffer-size", Use::kNeedless, "bodies are passed on as they come"},
    ForeignAnnotation{"configuration-snippet", Use::kProtects, "say it by filters and policies of a ProxyRoute"},
    ForeignAnnotation{"connection-proxy-header", Use::kLeftOut, "connections to backends are kept"},
    ForeignAnnotation{"cors-allow-credentials", Use::kServed, "true without it, but never for the origin `*`"},
    ForeignAnnotation{"cors-allow-headers", Use::kServed, "with ingress-nginx's default"},
    ForeignAnnotation{"cors-allow-methods", Use::kServed, "with ingress-nginx's default"},
    ForeignAnnotation{"cors-allow-origin", Use::kServed, "`*` without it"},
    ForeignAnnotation{"cors-expose-headers", Use::kServed, ""},
    ForeignAnnotation{"cors-max-age", Use::kServed, "1728000 without it"},
    ForeignAnnotation{"custom-headers", Use::kLeftOut, "use a ResponseHeaderModifier of a ProxyRoute"},
    ForeignAnnotation{"custom-http-errors", Use::kLeftOut, "answers of backends pass as they are"},
    ForeignAnnotation{"default-backend", Use::kLeftOut, "use `spec.defaultBackend`"},
    ForeignAnnotation{"denylist-source-range", Use::kServed, "`deny` of an IPAccess policy"},
    ForeignAnnotation{"disable-proxy-intercept-errors", Use::kNeedless, "answers of backends pass as they are"},
    ForeignAnnotation{"enable-access-log", Use::kLeftOut, "use `accessLog` of a ProxyGateway", "true"},
    ForeignAnnotation{"enable-cors", Use::kServed, "a CORS policy"},
    ForeignAnnotation{"enable-global-auth", Use::kNeedless, "there is no global one"},
    ForeignAnnotation{"enable-modsecurity", Use::kProtects, "put a firewall before or behind this proxy", "false"},
    ForeignAnnotation{"enable-opentelemetry", Use::kLeftOut, "use `tracing` of a ProxyGateway", "false"},
    ForeignAnnotation{"enable-opentracing", Use::kLeftOut, "use `tracing` of a ProxyGateway", "false"},
    ForeignAnnotation{"enable-owasp-core-rules", Use::kProtects, "put a firewall before or behind this proxy", "false"},
    ForeignAnnotation{"enable-rewrite-log", Use::kLeftOut, "`edgectl explain` tells it", "false"},
    ForeignAnnotation{"force-ssl-redirect", Use::kServed, "as `ssl-redirect`; the Ingress needs a `tls` with a Secret"},
    ForeignAnnotation{"from-to-www-redirect", Use::kServed, "a redirect (308) of the host with, or without, `www.`"},
    ForeignAnnotation{"global-rate-limit", Use::kProtects, "use a RateLimit policy"},
    ForeignAnnotation{"global-rate-limit-ignored-cidrs", Use::kProtects, "use a RateLimit policy"},
    ForeignAnnotation{"global-rate-limit-key", Use::kProtects, "use a RateLimit policy"},
    ForeignAnnotation{"global-rate-limit-window", Use::kProtects, "use a RateLimit policy"},
    ForeignAnnotation{"http2-push-preload", Use::kNeedless, "no browser takes pushes any more"},
    ForeignAnnotation{"limit-allowlist", Use::kLeftOut, "the limit holds for these clients too"},
    ForeignAnnotation{"limit-burst-multiplier", Use::kServed, "5 without it"},
    ForeignAnnotation{"limit-connections", Use::kProtects, "use `limits` of a ProxyGateway"},
    ForeignAnnotation{"limit-rate", Use::kLeftOut, "responses have the connection's own speed"},
    ForeignAnnotation{"limit-rate-after", Use::kLeftOut, "responses have the connection's own speed"},
    ForeignAnnotation{"limit-rpm", Use::kServed, "a RateLimit policy by the client's address; 60 or more"},
    ForeignAnnotation{"limit-rps", Use::kServed, "a RateLimit policy by the client's address"},
    ForeignAnnotation{"limit-whitelist", Use::kLeftOut, "the limit holds for these clients too"},
    ForeignAnnotation{"load-balance", Use::kServed, "`round_robin`, `ewma`"},
    ForeignAnnotation{"mirror-host", Use::kLeftOut, "use a RequestMirror of a ProxyRoute"},
    ForeignAnnotation{"mirror-request-body", Use::kLeftOut, "use a RequestMirror of a ProxyRoute"},
    ForeignAnnotation{"mirror-target", Use::kLeftOut, "use a RequestMirror of a ProxyRoute"},
    ForeignAnnotation{"modsecurity-snippet", Use::kProtects, "put a firewall before or behind this proxy"},
    ForeignAnnotation{"modsecurity-transaction-id", Use::kLeftOut, "put a firewall before or behind this proxy"},
    ForeignAnnotation{"opentelemetry-operation-name", Use::kLeftOut, "spans are named by the route"},
    ForeignAnnotation{"opentelemetry-trust-incoming-span", Use::kLeftOut, "use `tracing` of a ProxyGateway"},
    ForeignAnnotation{"opentracing-trust-incoming-span", Use::kLeftOut, "use `tracing` of a ProxyGateway"},
    ForeignAnnotation{"permanent-redirect", Use::kServed,
                      "a redirect (301) to a URL; `$request_uri` may end it, other variables may not"},
    ForeignAnnotation{"permanent-redirect-code", Use::kServed, "301, 302, 303, 307, 308"},
    ForeignAnnotation{"preserve-trailing-slash", Use::kNeedless, "paths stay as they are"},
    ForeignAnnotation{"proxy-body-size", Use::kServed, "longest request body"},
    ForeignAnnotation{"proxy-buffer-size", Use::kNeedless, "heads of responses have a bound of their own"},
    ForeignAnnotation{"proxy-buffering", Use::kNeedless, "bodies are passed on as they come"},
    ForeignAnnotation{"proxy-buffers-number", Use::kNeedless, "bodies are passed on as they come"},
    ForeignAnnotation{"proxy-busy-buffers-size", Use::kNeedless, "bodies are passed on as they come"},
    ForeignAnnotation{"proxy-connect-timeout", Use::kServed, "seconds, as ProxyBackend's `connectTimeout`"},
    ForeignAnnotation{"proxy-cookie-domain", Use::kLeftOut, "cookies of backends pass as they are", "off"},
    ForeignAnnotation{"proxy-cookie-path", Use::kLeftOut, "cookies of backends pass as they are", "off"},
    ForeignAnnotation{"proxy-http-version", Use::kNeedless, "HTTP/1.1, or as `backend-protocol` says"},
    ForeignAnnotation{"proxy-max-temp-file-size", Use::kNeedless, "bodies are passed on as they come"},
    ForeignAnnotation{"proxy-next-upstream", Use::kServed,
                      "`error`, `timeout`, `invalid_header`, `http_429`, `http_500` to `http_504`, `off`"},
    ForeignAnnotation{"proxy-next-upstream-timeout", Use::kLeftOut, "the request's own timeout bounds its retries",
                      "0"},
    ForeignAnnotation{"proxy-next-upstream-tries", Use::kServed, "1 to 10; 3 without it"},
    ForeignAnnotation{"proxy-read-timeout", Use::kServed,
                      "seconds, as `idleTimeout` of a route's limits; of this and the next the longer"},
    ForeignAnnotation{"proxy-redirect-from", Use::kLeftOut, "Location of backends passes as it is", "off"},
    ForeignAnnotation{"proxy-redirect-to", Use::kLeftOut, "Location of backends passes as it is", "off"},
    ForeignAnnotation{"proxy-request-buffering", Use::kNeedless, "bodies are passed on as they come"},
    ForeignAnnotation{"proxy-send-timeout", Use::kServed, "seconds"},
    ForeignAnnotation{"proxy-ssl-ciphers", Use::kLeftOut, "those of the best grade alone are offered"},
    ForeignAnnotation{"proxy-ssl-name", Use::kServed, "with `proxy-ssl-verify: \"on\"`; else the Service's name"},
    ForeignAnnotation{"proxy-ssl-protocols", Use::kLeftOut, "TLS 1.2 and 1.3 are spoken"},
    ForeignAnnotation{"proxy-ssl-secret", Use::kServed,
                      "with `proxy-ssl-verify: \"on\"`: `ca.crt`, and the client's certificate; of the same namespace"},
    ForeignAnnotation{"proxy-ssl-server-name", Use::kNeedless, "the name is always sent"},
    ForeignAnnotation{"proxy-ssl-verify", Use::kServed,
                      "`on` with `proxy-ssl-secret`; certificates of backends are always checked"},
    ForeignAnnotation{"proxy-ssl-verify-depth", Use::kNeedless, "certificates of backends are always checked"},
    ForeignAnnotation{"relative-redirects", Use::kLeftOut, "redirects are absolute", "false"},
    ForeignAnnotation{"rewrite-target", Use::kServed, "see below"},
    ForeignAnnotation{"satisfy", Use::kLeftOut, "all that protects is asked for", "all"},
    ForeignAnnotation{"server-alias", Use::kServed, "more host names, in a list; no expressions"},
    ForeignAnnotation{"server-snippet", Use::kProtects, "say it by filters and policies of a ProxyRoute"},
    ForeignAnnotation{"service-upstream", Use::kLeftOut, "endpoints are called, not the Service's address", "false"},
    ForeignAnnotation{"session-cookie-change-on-failure", Use::kNeedless,
                      "a session moves when its endpoint takes no traffic"},
    ForeignAnnotation{"session-cookie-conditional-samesite-none", Use::kLeftOut, "the cookie is SameSite=Lax", "false"},
    ForeignAnnotation{"session-cookie-domain", Use::kLeftOut, "the cookie is the host's own"},
    ForeignAnnotation{"session-cookie-expires", Use::kServed, "as `session-cookie-max-age`"},
    ForeignAnnotation{"session-cookie-max-age", Use::kServed, "seconds"},
    ForeignAnnotation{"session-cookie-name", Use::kServed, "`INGRESSCOOKIE` without it"},
    ForeignAnnotation{"session-cookie-path", Use::kServed, ""},
    ForeignAnnotation{"session-cookie-samesite", Use::kLeftOut, "the cookie is SameSite=Lax", "Lax"},
    ForeignAnnotation{"session-cookie-secure", Use::kNeedless, "it is where the client's connection is encrypted"},
    ForeignAnnotation{"ssl-ciphers", Use::kProtects, "those of the best grade alone are offered"},
    ForeignAnnotation{"ssl-passthrough", Use::kProtects, "use a listener of protocol TLS and a TLSRoute", "false"},
    ForeignAnnotation{"ssl-prefer-server-ciphers", Use::kNeedless, "each cipher that is offered will do"},
    ForeignAnnotation{"ssl-redirect", Use::kServed,
                      "plain HTTP for the hosts of `tls` goes to HTTPS; not without it, other than ingress-nginx"},
    ForeignAnnotation{"stream-snippet", Use::kProtects, "use a TCPRoute"},
    ForeignAnnotation{"temporal-redirect", Use::kServed, "as `permanent-redirect`, with 302"},
    ForeignAnnotation{"temporal-redirect-code", Use::kServed, "as `permanent-redirect-code`"},
    ForeignAnnotation{"upstream-hash-by", Use::kServed,
                      "`$remote_addr`, `$binary_remote_addr`: by the client's address"},
    ForeignAnnotation{"upstream-vhost", Use::kServed, "the Host that the backend sees; no variables"},
    ForeignAnnotation{"use-regex", Use::kServed, "see below"},
    ForeignAnnotation{"whitelist-source-range", Use::kServed, "`allow` of an IPAccess policy"},
    ForeignAnnotation{"x-forwarded-prefix", Use::kServed, "the field `X-Forwarded-Prefix`; no variables"},
};
static_assert(std::ranges::is_sorted(kNginx, {}, &ForeignAnnotation::name));

const ForeignAnnotation* find_nginx(std::string_view name) {
  const auto found = std::ranges::lower_bound(kNginx, name, {}, &ForeignAnnotation::name);
  return found != kNginx.end() && found->name == name ? &*found : nullptr;
}

std::vector<std::string_view> nginx_names() {
  std::vector<std::string_view> names;
  for (const ForeignAnnotation& one : kNginx) names.push_back(one.name);
  return names;
}

}  // namespace

std::span<const ForeignAnnotation> nginx_annotations() { return kNginx; }

std::string_view word_of(ForeignUse use) {
  constexpr std::string_view kWords[] = {"served", "needless", "warning", "error"};
  return kWords[static_cast<std::size_t>(use)];
}

bool sounds_protective(std::string_view name) {
  constexpr std::string_view kParts[] = {"auth",     "whitelist", "allow-list", "allowlist",  "allow-source",
                                         "denylist", "deny-list", "blacklist",  "ssl",        "snippet",
                                         "limit",    "security",  "waf",        "middleware", "config-",
                                         "satisfy",  "client-c",  "tls",        "oauth",      "jwt"};
  return std::ranges::any_of(kParts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

void tell_foreign_annotations(const model::Ingress& ingress, IngressSettings& settings, Diagnostics& diagnostics) {
  for (const model::NameValue& annotation : ingress.foreign) {
    const std::string_view key = annotation.name.value;
    const std::string_view prefix = key.substr(0, key.find('/') + 1);
    const std::string_view name = key.substr(prefix.size());
    const bool nginx = prefix == model::kNginxPrefix;
    const ForeignAnnotation* const known = nginx ? find_nginx(name) : nullptr;
    if (known != nullptr) {
      if (known->use == Use::kServed || known->use == Use::kNeedless) continue;
      if (!known->harmless.empty() && annotation.value.value == known->harmless) continue;
    }
    const std::string_view near = nginx && known == nullptr ? nearest_name(name, nginx_names()) : std::string_view();
    const bool protects =
        known != nullptr ? known->use == Use::kProtects : sounds_protective(name) || sounds_protective(near);
    std::string fix(known != nullptr ? known->text : std::string_view());
    if (!near.empty()) fix = "did you mean `" + std::string(prefix) + std::string(near) + "`?";
    diagnostics.add({.code = DiagnosticCode::kUnknownAnnotation,
                     .severity = protects ? Severity::kError : Severity::kWarning,
                     .resource = ingress.metadata.text(),
                     .field = "metadata.annotations",
                     .span = annotation.name.span,
                     .message = "the annotation `" + std::string(key.substr(0, 100)) + "` is " +
                                (known != nullptr || !nginx ? "not served" : "unknown"),
                     .notes = protects ? std::vector<std::string>{"it protects: until it is gone, the Ingress answers "
                                                                  "503"}
                                       : std::vector<std::string>{},
                     .fix = std::move(fix)});
    if (protects) {
      settings.policies.push_back(
          {.metadata = ingress.metadata, .type = {model::PolicyType::kUnknown, annotation.name.span}, .target = {}});
    }
  }
}

}  // namespace edge::compiler::translate
