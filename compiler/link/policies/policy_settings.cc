#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "base/text/ascii.h"
#include "compiler/link/defaults.h"
#include "compiler/link/field_values.h"
#include "compiler/link/path_value.h"
#include "compiler/link/stages.h"
#include "compiler/model/answer_fields.h"
#include "program/forward_auth.h"
#include "program/values/address_list.h"

namespace edge::compiler::link {
namespace {

constexpr std::pair<std::string_view, RateKey> kRateKeys[] = {
    {"source-ip", RateKey::kSourceIp}, {"host", RateKey::kHost},         {"path", RateKey::kPath},
    {"header:", RateKey::kHeader},     {"cookie:", RateKey::kCookie},    {"query:", RateKey::kQuery},
    {"jwt:", RateKey::kJwtClaim},      {"identity", RateKey::kIdentity},
};

RateKeyPart rate_key(std::string_view written) {
  RateKeyPart part;
  for (const auto& [word, source] : kRateKeys) {
    if (!written.starts_with(word)) continue;
    part = {source, std::string(written.substr(word.size()))};
    if (source == RateKey::kHeader) part.name = ascii_lower(part.name);
    break;
  }
  return part;
}

std::vector<RateKeyPart> rate_keys(const model::Strings& written, std::string_view otherwise) {
  std::vector<RateKeyPart> keys;
  for (const Located<std::string>& part : written) keys.push_back(rate_key(part.value));
  if (keys.empty()) keys.push_back(rate_key(otherwise));
  return keys;
}

bool same(const std::vector<RateKeyPart>& a, const std::vector<RateKeyPart>& b) {
  return std::ranges::equal(a, b, [](const RateKeyPart& one, const RateKeyPart& other) {
    return one.key == other.key && one.name == other.name;
  });
}

bool same(const RateLimitRule& a, const RateLimitRule& b) {
  return a.requests == b.requests && a.period == b.period && a.burst == b.burst && same(a.keys, b.keys);
}

std::chrono::nanoseconds period(std::string_view word) {
  if (word == "Day") return std::chrono::days(1);
  if (word == "Hour") return std::chrono::hours(1);
  return word == "Minute" ? std::chrono::minutes(1) : std::chrono::seconds(1);
}

/// Of a backend the path alone: who resolves its name puts it before (link_policies.cc).
std::string address_of(const model::ForwardAuth& written) {
  if (!written.backend) return written.address.value;
  std::string path = value_or(written.path, std::string(written.own_request ? "" : "/"));
  if (!path.empty() && path.front() != '/') path.insert(0, "/");
  if (!written.own_request) return path;
  // What stands before a path: as a prefix of a rule is brought to its form, so that no segment of it leads elsewhere.
  path = prefix_value(path.empty() ? "/" : path).value_or("/");
  return path == "/" ? "" : path;
}

std::vector<std::string> auth_headers_of(const model::ForwardAuth& written) {
  std::vector<std::string> names = lower_all(written.auth_headers);
  if (!written.own_request) return names;
  std::vector<std::string> always = {std::string(written.grpc ? program::kGrpcRequest : program::kOwnRequest)};
  const std::int64_t body = value_or(written.max_body_size, std::int64_t{0});
  if (body != 0) always.push_back(std::string(program::kBodyLimit) + std::to_string(body));
  if (!written.grpc) always.emplace_back("authorization");
  names.insert(names.begin(), always.begin(), always.end());
  return names;
}

std::vector<std::string> response_headers_of(const model::ForwardAuth& written) {
  std::vector<std::string> names = lower_all(written.response_headers);
  if (written.own_request && !written.grpc && names.empty()) names.emplace_back(program::kAllFields);
  return names;
}

Page page_of(const model::Page& written, std::string_view usual_type) {
  return {.content_type = value_or(written.content_type, std::string(usual_type)),
          .body = value_or(written.body, std::string())};
}

/// `404`, or `4xx` for a class: the schema has said that it is one of the two.
ErrorPage page_for(const std::string& status, const model::ErrorPage& page) {
  const auto digit = [&](std::size_t at) { return static_cast<std::uint32_t>(status[at] - '0'); };
  const std::uint32_t first = digit(0) * 100;
  ErrorPage made{first, first + 99, page_of(page.page, kDefaults.page_type), value_or(page.backend_errors, false)};
  if (!status.ends_with("xx")) made.first = made.last = first + digit(1) * 10 + digit(2);
  return made;
}

std::vector<std::string> ascending(std::vector<std::string> list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

CertificateNames names_of(const model::CertificateNames& written) {
  std::vector<std::string> emails = values_of(written.emails);
  for (std::string& email : emails) {
    const std::size_t at = email.find('@');
    email = email.substr(0, at) + ascii_lower(email.substr(at));
  }
  std::vector<std::string> dns_names = lower_all(written.dns_names);
  for (std::string& name : dns_names) {
    if (name.ends_with('.')) name.pop_back();
  }
  std::vector<std::string> fingerprints = lower_all(written.fingerprints);
  for (std::string& print : fingerprints) std::erase(print, ':');
  CertificateNames names{.dns_names = ascending(std::move(dns_names)),
                         .uris = ascending(values_of(written.uris)),
                         .uri_prefixes = ascending(values_of(written.uri_prefixes)),
                         .emails = ascending(std::move(emails)),
                         .common_names = ascending(values_of(written.common_names)),
                         .fingerprints = ascending(std::move(fingerprints))};
  for (const Located<Cidr>& network : written.addresses) names.addresses.push_back(network.value);
  return names;
}

std::vector<std::string> texts(std::span<const std::string_view> list) { return {list.begin(), list.end()}; }

/// Converts the fields of each policy type, as written, to its settings. The policy resolves the names of secrets.
struct Settings {
  const model::Metadata& from;

  PolicySettings operator()(std::monostate) const { return std::monostate(); }

  AddressSources sources(const std::vector<Located<Cidr>>& networks, const std::vector<model::AddressList>& lists,
                         const model::Strings& countries, const std::vector<Located<std::int64_t>>& systems) const {
    AddressSources sources{.countries = values_of(countries)};
    for (const Located<Cidr>& network : networks) sources.networks.push_back(network.value);
    for (const model::AddressList& list : lists) {
      if (list.file) sources.files.push_back(list.file->value);
      if (!list.config_map) continue;
      SecretKey key = secret_key(from, *list.config_map, program::kNetworksKey);
      key.name.insert(0, model::kConfigMapPrefix);
      sources.lists.push_back(std::move(key));
    }
    for (const Located<std::int64_t>& system : systems) {
      sources.systems.push_back(static_cast<std::uint32_t>(system.value));
    }
    return sources;
  }

  PolicySettings operator()(const model::IpAccess& written) const {
    return IpAccessSettings{
        .allow = sources(written.allow, written.allow_lists, written.allow_countries, written.allow_systems),
        .deny = sources(written.deny, written.deny_lists, written.deny_countries, written.deny_systems)};
  }

  PolicySettings operator()(const model::Maintenance& written) const {
    MaintenanceSettings settings{.enabled = value_or(written.enabled, true),
                                 .page = page_of(written.page, kDefaults.page_type)};
    const auto after =
        std::chrono::ceil<std::chrono::seconds>(value_or(written.retry_after, std::chrono::nanoseconds{0}));
    settings.retry_after = static_cast<std::uint64_t>(after.count());
    for (const Located<Cidr>& block : written.except_addresses) settings.except_addresses.push_back(block.value);
    for (const model::NameValue& header : written.except_headers) {
      settings.except_headers.push_back({ascii_lower(header.name.value), header.value.value});
    }
    return settings;
  }

  PolicySettings operator()(const model::FixedResponse& written) const {
    FixedResponseSettings settings{.status = static_cast<std::uint32_t>(written.status.value),
                                   .page = page_of(written.page, kDefaults.text_type)};
    for (const model::NameValue& header : written.headers) {
      // What the proxy writes itself is warned of.
      if (model::is_reserved_from_answers(header.name.value)) continue;
      if (equals_ignoring_case(header.name.value, "Content-Type")) {
        settings.page.content_type = header.value.value;
        continue;
      }
      settings.headers.push_back({header.name.value, header.value.value});
    }
    return settings;
  }

  PolicySettings operator()(const model::ErrorPages& written) const {
    ErrorPagesSettings settings;
    for (const model::ErrorPage& page : written.pages) {
      for (const Located<std::string>& status : page.statuses) settings.pages.push_back(page_for(status.value, page));
    }
    std::ranges::stable_sort(settings.pages, {}, [](const ErrorPage& page) { return page.last - page.first; });
    return settings;
  }

  PolicySettings operator()(const model::RateLimit& written) const {
    const std::string key = value_or(written.key, std::string(kRateKeys[0].first));
    RateLimitSettings settings{.shared = written.scope && written.scope->value == "Cluster"};
    if (written.limits.empty()) {
      settings.limits.push_back(
          {.requests = static_cast<std::uint64_t>(written.requests_per_second),
           .burst = static_cast<std::uint64_t>(value_or(written.burst, written.requests_per_second)),
           .keys = {rate_key(key)}});
    }
    for (const model::RateLimitRule& each : written.limits) {
      RateLimitRule limit{.requests = static_cast<std::uint64_t>(each.requests.value),
                          .period = period(each.per),
                          .burst = static_cast<std::uint64_t>(value_or(each.burst, each.requests.value)),
                          .keys = rate_keys(each.keys, key)};
      // One that is written twice would be charged twice.
      const auto is_same = [&](const RateLimitRule& other) { return same(limit, other); };
      if (std::ranges::none_of(settings.limits, is_same)) settings.limits.push_back(std::move(limit));
    }
    return settings;
  }

  PolicySettings operator()(const model::ConcurrencyLimit& written) const {
    ConcurrencySettings settings{
        .status = static_cast<std::uint32_t>(value_or(written.status, kDefaults.concurrency_status))};
    for (const model::ConcurrencyRule& each : written.limits) {
      ConcurrencyRule limit{static_cast<std::uint32_t>(each.requests), rate_keys(each.keys, kRateKeys[0].first)};
      // Two by the same keys have one count: the lower number holds.
      const auto known =
          std::ranges::find_if(settings.limits, [&](const auto& other) { return same(other.keys, limit.keys); });
      if (known == settings.limits.end()) {
        settings.limits.push_back(std::move(limit));
      } else {
        known->requests = std::min(known->requests, limit.requests);
      }
    }
    return settings;
  }

  PolicySettings operator()(const model::BasicAuth& written) const {
    return BasicAuthSettings{.realm = value_or(written.realm, std::string(kDefaults.realm)),
                             .users = secret_key(from, written.secret, written.key),
                             .strip_auth = value_or(written.strip_auth, false)};
  }

  PolicySettings operator()(const model::Jwt& written) const {
    std::vector<ClaimHeader> claim_headers;
    for (const model::ClaimHeader& each : written.claim_headers) {
      claim_headers.push_back({each.claim, ascii_lower(each.header), each.before_routing});
    }
    JwtSettings settings{.header = ascii_lower(value_or(written.header_name, std::string(kDefaults.token_header))),
                         .prefix = value_or(written.header_prefix, std::string(kDefaults.token_prefix)),
                         .clock_skew = kDefaults.clock_skew,
                         .claim_headers = std::move(claim_headers)};
    for (const model::JwtIssuer& from_issuer : written.issuers) {
      JwtIssuer& issuer = settings.issuers.emplace_back();
      issuer.issuer = from_issuer.issuer.value;
      issuer.audience = values_of(from_issuer.audience);
      issuer.algorithms = values_of(from_issuer.allowed_algorithms);
      issuer.jwks_uri = value_or(from_issuer.jwks_uri, std::string());
      issuer.jwks = value_or(from_issuer.jwks, std::string());
      issuer.shared = from_issuer.secret.has_value();
      if (issuer.shared) issuer.secret = secret_key(from, *from_issuer.secret, kHmacKey);
      if (from_issuer.jwks_secret) issuer.secret = secret_key(from, *from_issuer.jwks_secret, kJwksKey);
    }
    return settings;
  }

  PolicySettings operator()(const model::ApiKey& written) const {
    ApiKeySettings settings{
        .header = ascii_lower(value_or(written.header, std::string())),
        .cookie = value_or(written.cookie, std::string()),
        .identity_header = ascii_lower(value_or(written.identity_header, std::string(kDefaults.identity_header))),
        .strip_key = value_or(written.strip_key, kDefaults.strip_api_key)};
    for (const model::Reference& secret : written.secrets) {
      settings.keys.push_back(secret_key(from, secret, kApiKeysKey));
    }
    return settings;
  }

  PolicySettings operator()(const model::RequestFilter& written) const {
    const std::uint64_t none = 0;
    RequestFilterSettings settings{
        .shadow = written.action && written.action->value == "Shadow",
        .status = static_cast<std::uint32_t>(value_or(written.status, kDefaults.filter_status)),
        .max_headers = static_cast<std::uint32_t>(value_or(written.max_headers, std::int64_t{0})),
        .max_header_size = value_or(written.max_header_size, none),
        .max_headers_size = value_or(written.max_headers_size, none),
        .max_body_size = value_or(written.max_body_size, none),
        .methods = ascending(values_of(written.methods)),
        .content_types = ascending(lower_all(written.content_types)),
        .paths = values_of(written.paths),
        .queries = values_of(written.queries),
        .bodies = values_of(written.bodies)};
    if (written.max_query_parameters) {
      settings.max_query_parameters = static_cast<std::uint32_t>(written.max_query_parameters->value);
    }
    for (const model::HeaderPattern& header : written.headers) {
      settings.headers.push_back({ascii_lower(value_or(header.name, std::string())), header.pattern.value});
    }
    if (!settings.bodies.empty()) {
      settings.inspected_body_size = value_or(written.inspected_body_size, kDefaults.inspected_body_size);
    }
    return settings;
  }

  PolicySettings operator()(const model::ClientCertificate& written) const {
    ClientCertificateSettings settings{.allows_all = !written.allow,
                                       .deny = names_of(written.deny),
                                       .identity_header = ascii_lower(value_or(written.identity_header, std::string())),
                                       .forwards = value_or(written.forwards, kDefaults.forward_certificate)};
    if (written.allow) settings.allow = names_of(*written.allow);
    return settings;
  }

  PolicySettings operator()(const model::Oidc& written) const {
    OidcSettings settings{.issuer = written.issuer_url.value,
                          .client_id = written.client_id.value,
                          .client_secret = secret_key(from, written.client_secret, "client-secret"),
                          .session_secret = secret_key(from, written.session_secret, "session-secret"),
                          .redirect_url = written.redirect_url.value,
                          .scopes = values_of(written.scopes),
                          .forward_headers = lower_all(written.forward_headers),
                          .required_roles = values_of(written.required_roles),
                          .required_groups = values_of(written.required_groups),
                          .require_all = written.mode && written.mode->value == "all"};
    if (settings.scopes.empty()) settings.scopes = texts(kDefaults.oidc_scopes);
    // Without this one there is no id_token, and so no login (OpenID Connect Core §3.1.2.1).
    if (std::find(settings.scopes.begin(), settings.scopes.end(), "openid") == settings.scopes.end()) {
      settings.scopes.insert(settings.scopes.begin(), "openid");
    }
    return settings;
  }

  PolicySettings operator()(const model::ForwardAuth& written) const {
    return ForwardAuthSettings{.address = address_of(written),
                               .auth_headers = auth_headers_of(written),
                               .response_headers = response_headers_of(written),
                               .timeout = value_or(written.timeout, kDefaults.forward_auth_timeout),
                               .cache_ttl = value_or(written.cache_ttl, std::chrono::nanoseconds{0}),
                               .sign_in_url = value_or(written.sign_in_url, std::string()),
                               .sign_in_parameter = written.sign_in_url
                                                        ? value_or(written.sign_in_parameter, std::string("rd"))
                                                        : std::string()};
  }

  PolicySettings operator()(const model::Cors& written) const {
    CorsSettings settings{.allow_origins = values_of(written.allow_origins),
                          .allow_methods = values_of(written.allow_methods),
                          .allow_headers = lower_all(written.allow_headers),
                          .expose_headers = lower_all(written.expose_headers),
                          .max_age = value_or(written.max_age, std::chrono::nanoseconds{0}),
                          .allow_credentials = value_or(written.allow_credentials, false),
                          .credentials_for_everyone = written.credentials_for_everyone};
    if (settings.allow_methods.empty()) settings.allow_methods = texts(kDefaults.cors_methods);
    return settings;
  }

  PolicySettings operator()(const model::SecurityHeaders& written) const {
    SecurityHeadersSettings settings{.hsts = value_or(written.hsts, false),
                                     .x_frame_options = value_or(written.x_frame_options, {}),
                                     .no_sniff = value_or(written.x_content_type_options, false),
                                     .referrer_policy = value_or(written.referrer_policy, {})};
    if (!settings.hsts) return settings;
    settings.hsts_max_age =
        written.hsts_max_age ? static_cast<std::uint64_t>(written.hsts_max_age->value) : kDefaults.hsts_max_age;
    settings.hsts_include_sub_domains = value_or(written.hsts_include_sub_domains, false);
    settings.hsts_preload = value_or(written.hsts_preload, false);
    return settings;
  }
};

}  // namespace

PolicySettings policy_settings(const model::ProxyPolicy& policy) {
  return std::visit(Settings{policy.metadata}, policy.settings);
}

}  // namespace edge::compiler::link
