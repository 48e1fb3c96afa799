#include <algorithm>
#include <array>
#include <variant>

#include "compiler/lint/credentials.h"
#include "compiler/lint/finding.h"
#include "compiler/lint/lint.h"

namespace edge::compiler::lint {
namespace {

using model::ProxyPolicy;

/// A burst below the rate makes the rate unreachable: the bucket is full before a second's worth is in it.
void check(const ProxyPolicy& policy, const model::RateLimit& limit, Diagnostics& diagnostics) {
  if (!limit.burst || !limit.limits.empty() || limit.burst->value >= limit.requests_per_second) return;
  diagnostics.add(warning(policy.metadata,
                          {.code = DiagnosticCode::kBurstBelowRate,
                           .span = limit.burst->span,
                           .field = "spec.rateLimit.burst",
                           .message = "a burst of " + std::to_string(limit.burst->value) + " is below the rate of " +
                                      std::to_string(limit.requests_per_second) + " a second",
                           .fix = "let `burst` be at least `requestsPerSecond`, or leave it out"}));
}

/// The conditions of the lists that browsers build in (hstspreload.org).
void check(const ProxyPolicy& policy, const model::SecurityHeaders& headers, Diagnostics& diagnostics) {
  constexpr std::int64_t kYear = 31'536'000;
  if (!headers.hsts_preload || !headers.hsts_preload->value || !headers.hsts || !headers.hsts->value) return;
  const bool covers = headers.hsts_include_sub_domains && headers.hsts_include_sub_domains->value;
  const bool lasts = headers.hsts_max_age && headers.hsts_max_age->value >= kYear;
  if (covers && lasts) return;
  diagnostics.add(warning(policy.metadata, {.code = DiagnosticCode::kHstsPreload,
                                            .span = headers.hsts_preload->span,
                                            .field = "spec.securityHeaders.hsts.preload",
                                            .message = "no preload list takes the host by this header",
                                            .fix = "set `includeSubDomains: true` and `maxAge` to 31536000 or more"}));
}

bool local(std::string_view url) {
  constexpr std::array<std::string_view, 4> kLocal = {"http://localhost", "http://127.", "http://[::1]",
                                                      "http://host.docker.internal"};
  return std::ranges::any_of(kLocal, [&](std::string_view prefix) { return url.starts_with(prefix); });
}

/// Who sits on the way to a provider over plain HTTP decides who is who.
void provider(const ProxyPolicy& policy, const Located<std::string>& url, std::string field, std::string_view what,
              Diagnostics& diagnostics) {
  if (!url->starts_with("http://") || local(*url)) return;
  diagnostics.add(
      warning(policy.metadata, {.code = DiagnosticCode::kPlainIdentityProvider,
                                .span = url.span,
                                .field = std::move(field),
                                .message = std::string(what) + " over plain HTTP: whoever is on the way can put "
                                                               "in others",
                                .fix = "use `https://`"}));
}

void check(const ProxyPolicy& policy, const model::Jwt& jwt, Diagnostics& diagnostics) {
  for (const model::JwtIssuer& issuer : jwt.issuers) {
    if (!issuer.jwks_uri) continue;
    provider(policy, *issuer.jwks_uri, issuer.field + ".jwksUri", "the keys that tokens are checked by come",
             diagnostics);
  }
}

void check(const ProxyPolicy& policy, const model::Oidc& oidc, Diagnostics& diagnostics) {
  provider(policy, oidc.issuer_url, "spec.oidc.issuerURL", "the provider's keys and tokens come", diagnostics);
}

void check(const ProxyPolicy& policy, const model::ForwardAuth& auth, Diagnostics& diagnostics) {
  if (!auth.address->starts_with("http://") || local(*auth.address)) return;
  const auto credential = std::ranges::find_if(
      auth.auth_headers, [](const Located<std::string>& name) { return carries_credential(*name); });
  if (!auth.auth_headers.empty() && credential == auth.auth_headers.end()) return;
  const bool all = auth.auth_headers.empty();
  Diagnostic found = warning(
      policy.metadata,
      {.code = DiagnosticCode::kCredentialInClear,
       .span = auth.address.span,
       .field = "spec.forwardAuth.address",
       .message = (all ? std::string("all headers, credentials too,") : "the header " + in_quotes(**credential)) +
                  " of every request reach the authentication service over plain HTTP",
       .fix = "use `https://`, or list in `authHeaders` only what the service needs"});
  if (!all) found.labels.push_back({credential->span, "a credential"});
  diagnostics.add(std::move(found));
}

void check(const ProxyPolicy&, const std::monostate&, Diagnostics&) {}
void check(const ProxyPolicy&, const model::IpAccess&, Diagnostics&) {}
void check(const ProxyPolicy&, const model::ApiKey&, Diagnostics&) {}
void check(const ProxyPolicy&, const model::ClientCertificate&, Diagnostics&) {}  // its listeners: lint_together
void check(const ProxyPolicy&, const model::RequestFilter&, Diagnostics&) {}
void check(const ProxyPolicy&, const model::Maintenance&, Diagnostics&) {}
void check(const ProxyPolicy&, const model::FixedResponse&, Diagnostics&) {}
void check(const ProxyPolicy&, const model::ErrorPages&, Diagnostics&) {}
void check(const ProxyPolicy&, const model::ConcurrencyLimit&, Diagnostics&) {}  // its keys: lint_together
void check(const ProxyPolicy&, const model::BasicAuth&, Diagnostics&) {}         // its transport: lint_together
void check(const ProxyPolicy&, const model::Cors&, Diagnostics&) {}  // its faults are errors: decode_policy.cc

}  // namespace

void lint(const ProxyPolicy& policy, Diagnostics& diagnostics) {
  std::visit([&](const auto& settings) { check(policy, settings, diagnostics); }, policy.settings);
}

}  // namespace edge::compiler::lint
