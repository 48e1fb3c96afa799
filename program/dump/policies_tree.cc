#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "program/dump/policy_type_text.h"
#include "program/dump/settings_block.h"
#include "program/dump/settings_tree.h"
#include "program/format/records.h"

namespace edge::program {
namespace {

std::string keys_text(const SectionView& section, ArrayRef<RateKeyRecord> keys) {
  std::string text;
  for (const RateKeyRecord& part : section.array(keys)) text += " " + rate_key_text(section, part);
  return text;
}

std::string rate_text(const SectionView& section, const RateRecord& limit) {
  const auto period = std::chrono::nanoseconds(static_cast<std::int64_t>(limit.period_ns));
  return std::to_string(limit.requests) + " per " + duration_text(period) + " burst " + std::to_string(limit.burst) +
         " by" + keys_text(section, limit.keys);
}

/// Writes the settings of a policy, by its type.
class PolicySettings {
 public:
  PolicySettings(const SectionView& section, const PolicyRecord& policy)
      : section_(section), header_(section.header<PoliciesHeader>()), index_(policy.settings) {}

  TreeSettings take(PolicyType type) const {
    switch (type) {
      case PolicyType::kUnknown:
        break;
      case PolicyType::kRateLimit:
        return of(at(header_.rate_limits));
      case PolicyType::kConcurrencyLimit:
        return of(at(header_.concurrency_limits));
      case PolicyType::kRequestFilter:
        return of(at(header_.request_filters));
      case PolicyType::kClientCertificate:
        return of(at(header_.client_certificates));
      case PolicyType::kBasicAuth:
        return of(at(header_.basic_auths));
      case PolicyType::kApiKey:
        return of(at(header_.api_keys));
      case PolicyType::kJwt:
        return of(at(header_.jwts));
      case PolicyType::kOidc:
        return of(at(header_.oidcs));
      case PolicyType::kForwardAuth:
        return of(at(header_.forward_auths));
      case PolicyType::kCors:
        return of(at(header_.cors));
      case PolicyType::kSecurityHeaders:
        return of(at(header_.security_headers));
      case PolicyType::kIpAccess:
        return of(at(header_.ip_accesses));
      case PolicyType::kMaintenance:
        return of(at(header_.maintenances));
      case PolicyType::kFixedResponse:
        return of(at(header_.fixed_responses));
      case PolicyType::kErrorPages:
        return of(at(header_.error_pages));
    }
    return {};
  }

 private:
  template <typename T>
  const T& at(ArrayRef<T> records) const {
    return section_.array(records)[index_];
  }

  void add(const AddressSourcesRecord& from, const std::array<const char*, 5>& names, Block& to) const {
    std::vector<std::string> systems;
    for (const std::uint32_t number : section_.array(from.systems)) systems.push_back(std::to_string(number));
    to.cidrs(names[0], from.networks);
    if (from.lists.count != 0) to.secrets(names[1], from.lists);
    to.texts(names[2], from.files).texts(names[3], from.countries).list(names[4], std::move(systems));
  }
  TreeSettings of(const IpAccessRecord& record) const {
    Block block(section_, "ipAccess");
    add(record.allow, {"allow", "allowLists", "allowFiles", "allowCountries", "allowASNs"}, block);
    add(record.deny, {"deny", "denyLists", "denyFiles", "denyCountries", "denyASNs"}, block);
    return block.take();
  }
  TreeSettings of(const RateLimitRecord& record) const {
    std::vector<std::string> limits;
    for (const RateRecord& limit : section_.array(record.limits)) limits.push_back(rate_text(section_, limit));
    return Block(section_, "rateLimit")
        .list("limits", std::move(limits))
        .word("scope", record.shared != 0 ? "Cluster" : "")
        .take();
  }
  TreeSettings of(const ConcurrencyLimitRecord& record) const {
    std::vector<std::string> limits;
    for (const ConcurrencyRecord& limit : section_.array(record.limits)) {
      limits.push_back(std::to_string(limit.requests) + " by" + keys_text(section_, limit.keys));
    }
    return Block(section_, "concurrencyLimit")
        .list("limits", std::move(limits))
        .number("statusCode", record.status)
        .take();
  }
  TreeSettings of(const BasicAuthRecord& record) const {
    return Block(section_, "basicAuth")
        .text("realm", record.realm)
        .secret("users", record.users)
        .flag("stripAuth", record.strip_auth != 0)
        .take();
  }
  TreeSettings of(const JwtRecord& record) const {
    std::vector<std::string> claims;
    for (const ClaimHeaderRecord& each : section_.array(record.claim_headers)) {
      claims.push_back(std::string(section_.string(each.claim)) + " " + std::string(section_.string(each.header)));
    }
    Block block(section_, "jwt");
    std::size_t number = 0;
    for (const JwtIssuerRecord& issuer : section_.array(record.issuers)) {
      // The first one's are named as they were when there was one.
      const std::string suffix = number++ == 0 ? "" : std::to_string(number);
      block.text("issuer" + suffix, issuer.issuer)
          .texts("audience" + suffix, issuer.audience)
          .texts("algorithms" + suffix, issuer.algorithms);
      if (issuer.keys == JwtKeys::kUri) block.text("jwksUri" + suffix, issuer.source);
      if (issuer.keys == JwtKeys::kInline) block.text("jwks" + suffix, issuer.source);
      if (issuer.keys == JwtKeys::kSecret) block.secret("jwksSecret" + suffix, issuer.secret);
      if (issuer.keys == JwtKeys::kShared) block.secret("secret" + suffix, issuer.secret);
    }
    return block.text("header", record.header)
        .text("prefix", record.prefix)
        .duration("clockSkew", record.clock_skew_ns)
        .list("claimToHeaders", std::move(claims))
        .take();
  }
  TreeSettings of(const ApiKeyRecord& record) const {
    return Block(section_, "apiKey")
        .text("header", record.header)
        .text("cookie", record.cookie)
        .text("identityHeader", record.identity_header)
        .secrets("keys", record.keys)
        .flag("stripKey", record.strip_key != 0)
        .take();
  }
  TreeSettings of(const RequestFilterRecord& record) const {
    Block block(section_, "requestFilter");
    block.word("action", record.shadow != 0 ? "Shadow" : "Deny").number("statusCode", record.status);
    const auto limit = [&](const char* name, std::uint64_t value) {
      if (value != 0) block.number(name, value);
    };
    limit("maxHeaders", record.max_headers);
    limit("maxHeaderSize", record.max_header_size);
    limit("maxHeadersSize", record.max_headers_size);
    limit("maxBodySize", record.max_body_size);
    if (record.max_query_parameters != kNone) block.number("maxQueryParameters", record.max_query_parameters);
    block.texts("methods", record.methods)
        .texts("contentTypes", record.content_types)
        .texts("denyPaths", record.paths)
        .texts("denyQueries", record.queries)
        .list("denyHeaders", lines_of(record.headers))
        .texts("denyBodies", record.bodies);
    limit("inspectedBodySize", record.inspected_body_size);
    return block.take();
  }
  void add(const CertificateNamesRecord& from, const std::string& side, Block& to) const {
    to.texts(side + "DnsNames", from.dns_names)
        .texts(side + "Uris", from.uris)
        .texts(side + "UriPrefixes", from.uri_prefixes)
        .texts(side + "Emails", from.emails)
        .cidrs(side + "IpAddresses", from.networks)
        .texts(side + "CommonNames", from.common_names)
        .texts(side + "Fingerprints", from.fingerprints);
  }
  TreeSettings of(const ClientCertificateRecord& record) const {
    Block block(section_, "clientCertificate");
    block.flag("allowsAll", record.allows_all != 0);
    add(record.allow, "allow", block);
    add(record.deny, "deny", block);
    return block.text("identityHeader", record.identity_header).flag("forwardCertificate", record.forwards != 0).take();
  }
  TreeSettings of(const OidcRecord& record) const {
    return Block(section_, "oidc")
        .text("issuer", record.issuer)
        .text("clientId", record.client_id)
        .secret("clientSecret", record.client_secret)
        .secret("sessionSecret", record.session_secret)
        .text("redirectUrl", record.redirect_url)
        .texts("scopes", record.scopes)
        .texts("forwardHeaders", record.forward_headers)
        .texts("requiredRoles", record.required_roles)
        .texts("requiredGroups", record.required_groups)
        .flag("requireAll", record.require_all != 0)
        .take();
  }
  TreeSettings of(const ForwardAuthRecord& record) const {
    return Block(section_, "forwardAuth")
        .text("address", record.address)
        .texts("authHeaders", record.auth_headers)
        .texts("responseHeaders", record.response_headers)
        .duration("timeout", record.timeout_ns)
        .duration("cacheTTL", record.cache_ttl_ns)
        .text("signInURL", record.sign_in_url)
        .text("signInParameter", record.sign_in_parameter)
        .take();
  }
  TreeSettings of(const CorsRecord& record) const {
    return Block(section_, "cors")
        .texts("allowOrigins", record.allow_origins)
        .texts("allowMethods", record.allow_methods)
        .texts("allowHeaders", record.allow_headers)
        .texts("exposeHeaders", record.expose_headers)
        .duration("maxAge", record.max_age_ns)
        .flag("allowCredentials", record.allow_credentials != 0)
        .flag("credentialsForEveryone",
              record.allow_credentials == static_cast<std::uint32_t>(CorsCredentials::kEveryone))
        .take();
  }
  std::vector<std::string> lines_of(ArrayRef<FieldRecord> fields) const {
    std::vector<std::string> lines;
    for (const FieldRecord& field : section_.array(fields)) {
      lines.push_back(std::string(section_.string(field.name)) + ": " + std::string(section_.string(field.value)));
    }
    return lines;
  }
  TreeSettings of(const MaintenanceRecord& record) const {
    return Block(section_, "maintenance")
        .flag("enabled", record.enabled != 0)
        .number("retryAfter", record.retry_after_s)
        .text("contentType", record.page.content_type)
        .body(record.page.body)
        .cidrs("exceptAddresses", record.except_addresses)
        .list("exceptHeaders", lines_of(record.except_fields))
        .take();
  }
  TreeSettings of(const FixedResponseRecord& record) const {
    return Block(section_, "fixedResponse")
        .number("statusCode", record.status)
        .list("headers", lines_of(record.fields))
        .text("contentType", record.page.content_type)
        .body(record.page.body)
        .take();
  }
  TreeSettings of(const ErrorPagesRecord& record) const {
    std::vector<std::string> pages;
    for (const ErrorPageRecord& page : section_.array(record.pages)) {
      const std::string last = page.last == page.first ? "" : "-" + std::to_string(page.last);
      pages.push_back(std::to_string(page.first) + last + (page.backend_errors != 0 ? " of backends too " : " ") +
                      std::string(section_.string(page.page.content_type)) + " " +
                      body_text(section_.string(page.page.body)));
    }
    return Block(section_, "errorPages").list("pages", std::move(pages)).take();
  }
  TreeSettings of(const SecurityHeadersRecord& record) const {
    Block block(section_, "securityHeaders");
    if ((record.flags & kHsts) != 0) block.number("hstsMaxAge", record.hsts_max_age_s);
    return block.flag("hstsIncludeSubDomains", (record.flags & kHstsIncludeSubDomains) != 0)
        .flag("hstsPreload", (record.flags & kHstsPreload) != 0)
        .text("xFrameOptions", record.x_frame_options)
        .flag("contentTypeNosniff", (record.flags & kNoSniff) != 0)
        .text("referrerPolicy", record.referrer_policy)
        .take();
  }

  const SectionView& section_;
  const PoliciesHeader& header_;
  std::uint32_t index_;
};

}  // namespace

std::vector<TreePolicy> policies_of(const ProgramView& program) {
  const SectionView& section = program.policies().view;
  std::vector<TreePolicy> policies;
  for (const PolicyRecord& policy : section.array(section.header<PoliciesHeader>().policies)) {
    TreePolicy& tree = policies.emplace_back();
    tree.name = std::string(section.string(policy.name_space)) + "/" + std::string(section.string(policy.name));
    tree.type = policy_type_text(policy.type);
    if (policy.settings != kNone) tree.settings = PolicySettings(section, policy).take(policy.type);
  }
  std::ranges::sort(policies, {}, &TreePolicy::name);
  return policies;
}

}  // namespace edge::program
