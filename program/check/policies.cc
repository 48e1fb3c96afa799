#include <algorithm>
#include <limits>
#include <string_view>

#include "program/check/checker.h"
#include "program/format/records.h"

namespace edge::program {
namespace {

/// How many records of its type's array a policy may name.
std::uint32_t settings_count(const PoliciesHeader& header, PolicyType type) {
  switch (type) {
    case PolicyType::kUnknown:
      return 0;
    case PolicyType::kIpAccess:
      return header.ip_accesses.count;
    case PolicyType::kRateLimit:
      return header.rate_limits.count;
    case PolicyType::kConcurrencyLimit:
      return header.concurrency_limits.count;
    case PolicyType::kRequestFilter:
      return header.request_filters.count;
    case PolicyType::kClientCertificate:
      return header.client_certificates.count;
    case PolicyType::kBasicAuth:
      return header.basic_auths.count;
    case PolicyType::kApiKey:
      return header.api_keys.count;
    case PolicyType::kJwt:
      return header.jwts.count;
    case PolicyType::kOidc:
      return header.oidcs.count;
    case PolicyType::kForwardAuth:
      return header.forward_auths.count;
    case PolicyType::kCors:
      return header.cors.count;
    case PolicyType::kSecurityHeaders:
      return header.security_headers.count;
    case PolicyType::kMaintenance:
      return header.maintenances.count;
    case PolicyType::kFixedResponse:
      return header.fixed_responses.count;
    case PolicyType::kErrorPages:
      return header.error_pages.count;
  }
  return 0;
}

bool check_records(Checker& check, const PoliciesHeader& header) {
  if (!check.array(header.policies, "policies")) return false;
  std::uint64_t previous = 0;
  std::size_t index = 0;
  for (const PolicyRecord& policy : check.view().array(header.policies)) {
    const bool sound = policy.id > previous && check.text(policy.name_space) && check.text(policy.name) &&
                       policy.type <= PolicyType::kRequestFilter &&
                       index_or_none(policy.settings, settings_count(header, policy.type));
    if (!check.require(sound, "policies", index++)) return false;
    previous = policy.id;
  }
  return true;
}

/// Calls `sound` with each record of an array that lies inside the section.
template <typename T, typename Sound>
bool each(Checker& check, ArrayRef<T> ref, const char* field, Sound sound) {
  if (!check.array(ref, field)) return false;
  std::size_t index = 0;
  for (const T& record : check.view().array(ref))
    if (!check.require(sound(record), field, index++)) return false;
  return true;
}

/// Whether text can stand in a header field: with none of the bytes that end one (RFC 9110 §5.5).
bool is_field_text(const Checker& check, StringRef ref) {
  return check.text(ref) && std::ranges::all_of(check.view().string(ref), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
         });
}

/// Policies of which the proxy's own answers are made.
bool check_answers(Checker& check, const PoliciesHeader& header) {
  const auto is_page = [&](const PageRecord& page) {
    return is_field_text(check, page.content_type) && check.text(page.body);
  };
  const auto field = [&](const FieldRecord& record) {
    return is_field_text(check, record.name) && is_field_text(check, record.value);
  };
  const auto maintenance = [&](const MaintenanceRecord& record) {
    return is_page(record.page) && record.enabled <= 1 &&
           check_cidrs(check, record.except_addresses, "maintenances.except_addresses") &&
           each(check, record.except_fields, "maintenances.except_fields", field);
  };
  const auto fixed = [&](const FixedResponseRecord& record) {
    return record.status >= 200 && record.status <= 599 && is_page(record.page) &&
           each(check, record.fields, "fixed_responses.fields", field);
  };
  const auto error_page = [&](const ErrorPageRecord& record) {
    return record.first >= 400 && record.first <= record.last && record.last <= 599 && is_page(record.page) &&
           record.backend_errors <= 1;
  };
  const auto pages = [&](const ErrorPagesRecord& record) {
    return each(check, record.pages, "error_pages.pages", error_page);
  };
  std::uint64_t next = 0;
  const auto no_route = [&](const NoRouteRecord& record) {
    const bool ascends = record.listener >= next;
    next = std::uint64_t{record.listener} + 1;
    if (!ascends || record.denied > 1 || !check.array(record.policies, "no_routes.policies")) return false;
    return std::ranges::all_of(check.view().array(record.policies),
                               [&](std::uint64_t id) { return find_policy(check.view(), id) != nullptr; });
  };
  return each(check, header.maintenances, "maintenances", maintenance) &&
         each(check, header.fixed_responses, "fixed_responses", fixed) &&
         each(check, header.error_pages, "error_pages", pages) && each(check, header.no_routes, "no_routes", no_route);
}

/// What is verified before a rule is looked for is verified by a JWT policy that can be made.
bool check_listener_claims(Checker& check, const PoliciesHeader& header) {
  std::uint64_t next = 0;
  const auto field = [&](const ClaimFieldRecord& record) {
    return check.text(record.claim) && record.claim.size > 0 && check.text(record.item) && record.has_item <= 1;
  };
  return each(check, header.listener_claims, "listener_claims", [&](const ListenerClaimsRecord& record) {
    const bool ascends = record.listener >= next;
    next = std::uint64_t{record.listener} + 1;
    const PolicyRecord* const policy = find_policy(check.view(), record.policy);
    return ascends && record.fields.count > 0 && policy != nullptr && policy->type == PolicyType::kJwt &&
           policy->settings != kNone && each(check, record.fields, "listener_claims.fields", field);
  });
}

/// Limits of requests; at most kMostLimits of one policy.
bool check_limits(Checker& check, const PoliciesHeader& header) {
  constexpr std::uint32_t kMostLimits = 8;
  constexpr std::uint64_t kLongestPeriod = std::numeric_limits<std::int64_t>::max();
  const auto some = [](const auto& limits) { return limits.count >= 1 && limits.count <= kMostLimits; };
  const auto key = [&](const RateKeyRecord& record) {
    return record.key >= RateKey::kSourceIp && record.key <= RateKey::kIdentity && check.text(record.name);
  };
  const auto rate = [&](const RateRecord& record) {
    return record.requests != 0 && record.burst != 0 && record.period_ns != 0 && record.period_ns <= kLongestPeriod &&
           record.keys.count != 0 && each(check, record.keys, "rate_limits.keys", key);
  };
  const auto rates = [&](const RateLimitRecord& record) {
    return record.shared <= 1 && some(record.limits) && each(check, record.limits, "rate_limits.limits", rate);
  };
  const auto concurrency = [&](const ConcurrencyRecord& record) {
    return record.requests != 0 && record.keys.count != 0 && each(check, record.keys, "concurrency_limits.keys", key);
  };
  const auto concurrencies = [&](const ConcurrencyLimitRecord& record) {
    return (record.status == 429 || record.status == 503) && some(record.limits) &&
           each(check, record.limits, "concurrency_limits.limits", concurrency);
  };
  return each(check, header.rate_limits, "rate_limits", rates) &&
         each(check, header.concurrency_limits, "concurrency_limits", concurrencies);
}

/// Whether text is a token, such as a method or a field's name (RFC 9110 §5.6.2).
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

struct TextBounds {
  std::uint32_t count;
  std::uint32_t bytes;  ///< of each
};

/// Few texts, none of them long. References may overlap: without both bounds a small section could cause much work.
bool check_few(Checker& check, ArrayRef<StringRef> list, TextBounds most, const char* field) {
  return check.require(list.count <= most.count, field) && check.texts(list, field) &&
         check.require(std::ranges::all_of(check.view().array(list),
                                           [&](const StringRef& ref) { return ref.size <= most.bytes; }),
                       field);
}

/// The same, in ascending order: they are searched by halving.
bool check_ascending(Checker& check, ArrayRef<StringRef> list, TextBounds most, const char* field) {
  return check_few(check, list, most, field) &&
         check.require(std::ranges::is_sorted(check.view().array(list), {},
                                              [&](const StringRef& ref) { return check.view().string(ref); }),
                       field);
}

bool check_filters(Checker& check, const PoliciesHeader& header) {
  constexpr TextBounds kPatterns{kMostFilterPatterns, kLongestFilterText};
  const auto field = [&](const FieldRecord& record) {
    return check.text(record.name) && check.text(record.value) && record.value.size <= kLongestFilterText;
  };
  // They are written into the field Allow.
  const auto methods = [&](ArrayRef<StringRef> list) {
    constexpr const char* kField = "request_filters.methods";
    return check_ascending(check, list, {kMostFilterMethods, kLongestFilterText}, kField) &&
           check.require(std::ranges::all_of(check.view().array(list),
                                             [&](const StringRef& ref) { return is_token(check.view().string(ref)); }),
                         kField);
  };
  return each(check, header.request_filters, "request_filters", [&](const RequestFilterRecord& record) {
    const std::uint32_t inspected = record.inspected_body_size;
    return record.shadow <= 1 && record.status >= 400 && record.status <= 499 && inspected <= kMostInspectedBody &&
           (inspected == 0) == (record.bodies.count == 0) && methods(record.methods) &&
           check_ascending(check, record.content_types, {kMostFilterTypes, kLongestFilterText},
                           "request_filters.content_types") &&
           check_few(check, record.paths, kPatterns, "request_filters.paths") &&
           check_few(check, record.queries, kPatterns, "request_filters.queries") &&
           check.require(record.headers.count <= kMostFilterPatterns, "request_filters.headers") &&
           each(check, record.headers, "request_filters.headers", field) &&
           check_few(check, record.bodies, kPatterns, "request_filters.bodies");
  });
}

bool check_certificates(Checker& check, const PoliciesHeader& header) {
  const auto ascend = [&](ArrayRef<StringRef> list, const char* field) {
    return check_ascending(check, list, {kMostCertificateNames, kLongestCertificateName}, field);
  };
  const auto names = [&](const CertificateNamesRecord& record) {
    return ascend(record.dns_names, "client_certificates.dns_names") &&
           ascend(record.uris, "client_certificates.uris") &&
           ascend(record.uri_prefixes, "client_certificates.uri_prefixes") &&
           ascend(record.emails, "client_certificates.emails") &&
           check.require(record.networks.count <= kMostCertificateNames, "client_certificates.networks") &&
           check_cidrs(check, record.networks, "client_certificates.networks") &&
           ascend(record.common_names, "client_certificates.common_names") &&
           check_ascending(check, record.fingerprints, {kMostFingerprints, kLongestCertificateName},
                           "client_certificates.fingerprints");
  };
  return each(check, header.client_certificates, "client_certificates", [&](const ClientCertificateRecord& record) {
    return names(record.allow) && names(record.deny) && check.text(record.identity_header) &&
           (record.identity_header.size == 0 || is_token(check.view().string(record.identity_header))) &&
           record.allows_all <= 1 && record.forwards <= 1;
  });
}

bool check_auth(Checker& check, const PoliciesHeader& header) {
  const auto basic = [&](const BasicAuthRecord& record) {
    return check.text(record.realm) && check.secret(record.users) && record.strip_auth <= 1;
  };
  const auto claim = [&](const ClaimHeaderRecord& record) {
    return check.text(record.claim) && check.text(record.header);
  };
  const auto issuer = [&](const JwtIssuerRecord& record) {
    return check.text(record.issuer) && check.texts(record.audience, "jwts.audience") &&
           check.texts(record.algorithms, "jwts.algorithms") && record.keys >= JwtKeys::kUri &&
           record.keys <= JwtKeys::kShared && check.text(record.source) && check.secret(record.secret);
  };
  const auto jwt = [&](const JwtRecord& record) {
    return check.text(record.header) && check.text(record.prefix) && record.issuers.count != 0 &&
           each(check, record.issuers, "jwts.issuers", issuer) &&
           each(check, record.claim_headers, "jwts.claim_headers", claim);
  };
  const auto api_key = [&](const ApiKeyRecord& record) {
    return check.text(record.header) && check.text(record.cookie) && check.text(record.identity_header) &&
           check.secrets(record.keys, "api_keys.keys") && record.strip_key <= 1;
  };
  const auto oidc = [&](const OidcRecord& record) {
    return check.text(record.issuer) && check.text(record.client_id) && check.text(record.redirect_url) &&
           check.secret(record.client_secret) && check.secret(record.session_secret) && record.require_all <= 1 &&
           check.texts(record.scopes, "oidcs.scopes") && check.texts(record.forward_headers, "oidcs.forward_headers") &&
           check.texts(record.required_roles, "oidcs.required_roles") &&
           check.texts(record.required_groups, "oidcs.required_groups");
  };
  const auto forward = [&](const ForwardAuthRecord& record) {
    return check.text(record.address) && check.texts(record.auth_headers, "forward_auths.auth_headers") &&
           check.texts(record.response_headers, "forward_auths.response_headers") && check.text(record.sign_in_url) &&
           check.text(record.sign_in_parameter);
  };
  return each(check, header.basic_auths, "basic_auths", basic) && each(check, header.jwts, "jwts", jwt) &&
         each(check, header.api_keys, "api_keys", api_key) && each(check, header.oidcs, "oidcs", oidc) &&
         each(check, header.forward_auths, "forward_auths", forward) && check_certificates(check, header) &&
         check_filters(check, header);
}

bool check_settings(Checker& check, const PoliciesHeader& header) {
  const auto cors = [&](const CorsRecord& record) {
    return record.allow_credentials <= static_cast<std::uint32_t>(CorsCredentials::kEveryone) &&
           check.texts(record.allow_origins, "cors.allow_origins") &&
           check.texts(record.allow_methods, "cors.allow_methods") &&
           check.texts(record.allow_headers, "cors.allow_headers") &&
           check.texts(record.expose_headers, "cors.expose_headers");
  };
  const auto security = [&](const SecurityHeadersRecord& record) {
    return check.text(record.x_frame_options) && check.text(record.referrer_policy);
  };
  const auto country = [&](const StringRef& ref) {
    return check.text(ref) && ref.size == 2 &&
           std::ranges::all_of(check.view().string(ref), [](char c) { return c >= 'A' && c <= 'Z'; });
  };
  const auto system = [](std::uint32_t number) { return number != 0; };
  const auto sources = [&](const AddressSourcesRecord& record) {
    return check_cidrs(check, record.networks, "ip_accesses.networks") &&
           check.secrets(record.lists, "ip_accesses.lists") && check.texts(record.files, "ip_accesses.files") &&
           each(check, record.countries, "ip_accesses.countries", country) &&
           each(check, record.systems, "ip_accesses.systems", system);
  };
  const auto access = [&](const IpAccessRecord& record) { return sources(record.allow) && sources(record.deny); };
  return each(check, header.ip_accesses, "ip_accesses", access) && check_limits(check, header) &&
         check_auth(check, header) && each(check, header.cors, "cors", cors) &&
         each(check, header.security_headers, "security_headers", security);
}

}  // namespace

void check_policies(Checker& check) {
  if (!check.require(check.view().bytes().size() >= sizeof(PoliciesHeader), "header") ||
      !check.require(check.id() == 0, "id"))
    return;
  const auto& header = check.view().header<PoliciesHeader>();
  (void)(check_records(check, header) && check_settings(check, header) && check_answers(check, header) &&
         check_listener_claims(check, header));
}

}  // namespace edge::program
