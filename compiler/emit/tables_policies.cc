#include <algorithm>
#include <map>
#include <set>
#include <type_traits>

#include "base/hash.h"
#include "compiler/emit/settings.h"
#include "compiler/emit/tables.h"
#include "compiler/link/policies/effective_policies.h"
#include "program/format/records.h"

namespace edge::compiler::emit {
namespace {

program::RateKey rate_key(RateKey key) {
  switch (key) {
    case RateKey::kSourceIp:
      return program::RateKey::kSourceIp;
    case RateKey::kHeader:
      return program::RateKey::kHeader;
    case RateKey::kCookie:
      return program::RateKey::kCookie;
    case RateKey::kQuery:
      return program::RateKey::kQuery;
    case RateKey::kJwtClaim:
      return program::RateKey::kJwtClaim;
    case RateKey::kHost:
      return program::RateKey::kHost;
    case RateKey::kIdentity:
      return program::RateKey::kIdentity;
    case RateKey::kPath:
      break;
  }
  return program::RateKey::kPath;
}

/// Collects settings by type, and returns the index of each.
class PolicyEmitter {
 public:
  explicit PolicyEmitter(program::SectionBuilder& builder) : builder_(builder) {}

  void add(const LinkedPolicy& policy) {
    const auto& [name_space, name] = std::tie(policy.identity.name_space, policy.identity.name);
    const std::uint32_t settings = std::visit([this](const auto& held) { return put(held); }, policy.settings);
    // Of a policy with several targets each has a record of its own, all under the policy's name.
    const std::string_view known = policy.of_filter && !policy.named_by_filter
                                       ? std::string_view(name)
                                       : std::string_view(name).substr(0, name.find_first_of(":@"));
    policies_.push_back({stable_id("ProxyPolicy", name_space, name), builder_.string(name_space),
                         builder_.string(known), program_type(policy.type), settings});
  }

  /// What holds on each listener for requests that no route takes.
  void add_no_routes(const LinkedConfig& config) {
    for (std::uint32_t listener = 0; listener < config.listeners.size(); ++listener) {
      std::vector<std::uint64_t> ids;
      for (const std::uint32_t index : link::policies_without_route(config, listener)) {
        const Identity& identity = config.policies[index].identity;
        ids.push_back(stable_id("ProxyPolicy", identity.name_space, identity.name));
      }
      if (ids.empty()) continue;
      no_routes_.push_back({listener, link::denied_without_route(config, listener) ? 1U : 0U, builder_.array(ids)});
    }
  }

  /// Which claims the rules of each listener match, and who verifies them.
  void add_listener_claims(const LinkedConfig& config) {
    using Fields = std::set<std::pair<std::string_view, std::optional<std::string_view>>>;
    std::map<std::uint32_t, Fields> claims;
    for (const LinkedRoute& route : config.routes) {
      for (const ClaimCondition& condition : route.claims) {
        for (const std::uint32_t listener : route.listeners) claims[listener].emplace(condition.claim, condition.item);
      }
    }
    for (std::uint32_t i = 0; i < config.listeners.size(); ++i) {
      for (const ClaimHeader& claimed : config.listeners[i].claimed_headers) {
        claims[i].emplace(claimed.claim, std::nullopt);
      }
    }
    for (const auto& [listener, fields] : claims) {
      const std::optional<std::uint32_t> policy = link::token_policy(config, listener);
      if (!policy) continue;  // linking has detached these
      const Identity& identity = config.policies[*policy].identity;
      std::vector<program::ClaimFieldRecord> records;
      for (const auto& [claim, item] : fields) {
        records.push_back({builder_.string(claim), builder_.string(item.value_or("")), item ? 1U : 0U});
      }
      listener_claims_.push_back(
          {stable_id("ProxyPolicy", identity.name_space, identity.name), listener, 0, builder_.array(records)});
    }
  }

  program::PoliciesHeader store() {
    std::sort(policies_.begin(), policies_.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    program::PoliciesHeader header{};
    header.policies = builder_.array(policies_);
    header.rate_limits = builder_.array(rate_limits_);
    header.basic_auths = builder_.array(basic_auths_);
    header.jwts = builder_.array(jwts_);
    header.oidcs = builder_.array(oidcs_);
    header.forward_auths = builder_.array(forward_auths_);
    header.cors = builder_.array(cors_);
    header.security_headers = builder_.array(security_headers_);
    header.ip_accesses = builder_.array(ip_accesses_);
    header.api_keys = builder_.array(api_keys_);
    header.maintenances = builder_.array(maintenances_);
    header.fixed_responses = builder_.array(fixed_responses_);
    header.error_pages = builder_.array(error_pages_);
    header.no_routes = builder_.array(no_routes_);
    header.concurrency_limits = builder_.array(concurrency_limits_);
    header.client_certificates = builder_.array(client_certificates_);
    header.request_filters = builder_.array(request_filters_);
    header.listener_claims = builder_.array(listener_claims_);
    return header;
  }

 private:
  template <typename Record>
  static std::uint32_t push(std::vector<Record>& records, const Record& record) {
    records.push_back(record);
    return static_cast<std::uint32_t>(records.size() - 1);
  }

  std::uint32_t put(std::monostate /*unreadable*/) { return program::kNone; }
  std::uint32_t put(const IpAccessSettings& from) {
    return push(ip_accesses_, {sources(from.allow), sources(from.deny)});
  }
  std::uint32_t put(const RateLimitSettings& from) {
    std::vector<program::RateRecord> limits;
    for (const RateLimitRule& limit : from.limits) {
      limits.push_back({limit.requests, nanoseconds(limit.period), limit.burst, rate_keys(limit.keys)});
    }
    return push(rate_limits_, {builder_.array(limits), from.shared ? 1U : 0U, 0});
  }
  std::uint32_t put(const ConcurrencySettings& from) {
    std::vector<program::ConcurrencyRecord> limits;
    for (const ConcurrencyRule& limit : from.limits) limits.push_back({rate_keys(limit.keys), limit.requests, 0});
    return push(concurrency_limits_, {builder_.array(limits), from.status, 0});
  }
  std::uint32_t put(const BasicAuthSettings& from) {
    return push(basic_auths_,
                {builder_.string(from.realm), secret_record(builder_, from.users), from.strip_auth ? 1U : 0U});
  }
  std::uint32_t put(const JwtSettings& from) {
    std::vector<program::ClaimHeaderRecord> claims;
    for (const ClaimHeader& each : from.claim_headers) {
      claims.push_back({builder_.string(each.claim), builder_.string(each.header)});
    }
    std::vector<program::JwtIssuerRecord> issuers;
    for (const JwtIssuer& issuer : from.issuers) issuers.push_back(issuer_record(issuer));
    return push(jwts_, {nanoseconds(from.clock_skew), builder_.string(from.header), builder_.string(from.prefix),
                        builder_.array(issuers), builder_.array(claims)});
  }
  program::JwtIssuerRecord issuer_record(const JwtIssuer& from) {
    using program::JwtKeys;
    const JwtKeys keys = !from.jwks_uri.empty() ? JwtKeys::kUri
                         : !from.jwks.empty()   ? JwtKeys::kInline
                         : from.shared          ? JwtKeys::kShared
                                                : JwtKeys::kSecret;
    const std::string& source = keys == JwtKeys::kUri ? from.jwks_uri : from.jwks;
    return {builder_.string(from.issuer),
            store_texts(builder_, from.audience),
            store_texts(builder_, from.algorithms),
            keys,
            builder_.string(source),
            secret_record(builder_, from.secret)};
  }
  std::uint32_t put(const ApiKeySettings& from) {
    std::vector<program::SecretRecord> keys;
    for (const SecretKey& key : from.keys) keys.push_back(secret_record(builder_, key));
    return push(api_keys_, {builder_.string(from.header), builder_.string(from.cookie),
                            builder_.string(from.identity_header), builder_.array(keys), from.strip_key ? 1U : 0U});
  }
  std::uint32_t put(const RequestFilterSettings& from) {
    std::vector<program::FieldRecord> headers;
    for (const HeaderPattern& header : from.headers) {
      headers.push_back({builder_.string(header.name), builder_.string(header.pattern)});
    }
    return push(request_filters_,
                {from.max_header_size, from.max_headers_size, from.max_body_size, from.max_headers,
                 from.max_query_parameters, static_cast<std::uint32_t>(from.inspected_body_size), from.shadow ? 1U : 0U,
                 from.status, 0, store_texts(builder_, from.methods), store_texts(builder_, from.content_types),
                 store_texts(builder_, from.paths), store_texts(builder_, from.queries), builder_.array(headers),
                 store_texts(builder_, from.bodies)});
  }

  program::CertificateNamesRecord names(const CertificateNames& from) {
    return {store_texts(builder_, from.dns_names),
            store_texts(builder_, from.uris),
            store_texts(builder_, from.uri_prefixes),
            store_texts(builder_, from.emails),
            cidrs(from.addresses),
            store_texts(builder_, from.common_names),
            store_texts(builder_, from.fingerprints)};
  }
  std::uint32_t put(const ClientCertificateSettings& from) {
    return push(client_certificates_, {names(from.allow), names(from.deny), builder_.string(from.identity_header),
                                       from.allows_all ? 1U : 0U, from.forwards ? 1U : 0U});
  }
  std::uint32_t put(const OidcSettings& from) {
    return push(oidcs_, {builder_.string(from.issuer), builder_.string(from.client_id),
                         builder_.string(from.redirect_url), secret_record(builder_, from.client_secret),
                         secret_record(builder_, from.session_secret), store_texts(builder_, from.scopes),
                         store_texts(builder_, from.forward_headers), store_texts(builder_, from.required_roles),
                         store_texts(builder_, from.required_groups), from.require_all ? 1U : 0U});
  }
  std::uint32_t put(const ForwardAuthSettings& from) {
    return push(forward_auths_, {nanoseconds(from.timeout), nanoseconds(from.cache_ttl), builder_.string(from.address),
                                 store_texts(builder_, from.auth_headers), store_texts(builder_, from.response_headers),
                                 builder_.string(from.sign_in_url), builder_.string(from.sign_in_parameter)});
  }
  std::uint32_t put(const CorsSettings& from) {
    const auto credentials = from.credentials_for_everyone ? program::CorsCredentials::kEveryone
                             : from.allow_credentials      ? program::CorsCredentials::kListed
                                                           : program::CorsCredentials::kNone;
    return push(cors_, {nanoseconds(from.max_age), store_texts(builder_, from.allow_origins),
                        store_texts(builder_, from.allow_methods), store_texts(builder_, from.allow_headers),
                        store_texts(builder_, from.expose_headers), static_cast<std::uint32_t>(credentials), 0});
  }
  std::uint32_t put(const SecurityHeadersSettings& from) {
    const std::uint32_t flags =
        (from.hsts ? program::kHsts : 0U) | (from.hsts_include_sub_domains ? program::kHstsIncludeSubDomains : 0U) |
        (from.hsts_preload ? program::kHstsPreload : 0U) | (from.no_sniff ? program::kNoSniff : 0U);
    return push(security_headers_, {from.hsts_max_age, builder_.string(from.x_frame_options),
                                    builder_.string(from.referrer_policy), flags, 0});
  }

  program::AddressSourcesRecord sources(const AddressSources& from) {
    std::vector<program::SecretRecord> lists;
    for (const SecretKey& list : from.lists) lists.push_back(secret_record(builder_, list));
    return {cidrs(from.networks), builder_.array(lists), store_texts(builder_, from.files),
            store_texts(builder_, from.countries), builder_.array(from.systems)};
  }

  std::uint32_t put(const MaintenanceSettings& from) {
    return push(maintenances_, {from.retry_after, page(from.page), cidrs(from.except_addresses),
                                fields(from.except_headers), from.enabled ? 1U : 0U, 0});
  }
  std::uint32_t put(const FixedResponseSettings& from) {
    return push(fixed_responses_, {from.status, 0, page(from.page), fields(from.headers)});
  }
  std::uint32_t put(const ErrorPagesSettings& from) {
    std::vector<program::ErrorPageRecord> pages;
    for (const ErrorPage& each : from.pages) {
      pages.push_back({each.first, each.last, page(each.page), each.backend_errors ? 1U : 0U, 0});
    }
    return push(error_pages_, {builder_.array(pages)});
  }

  program::PageRecord page(const Page& from) {
    return {builder_.string(from.content_type), builder_.string(from.body)};
  }
  program::ArrayRef<program::FieldRecord> fields(const std::vector<HeaderValue>& headers) {
    std::vector<program::FieldRecord> records;
    for (const HeaderValue& header : headers) {
      records.push_back({builder_.string(header.name), builder_.string(header.value)});
    }
    return builder_.array(records);
  }

  program::ArrayRef<program::RateKeyRecord> rate_keys(const std::vector<RateKeyPart>& parts) {
    std::vector<program::RateKeyRecord> keys;
    for (const RateKeyPart& part : parts) keys.push_back({rate_key(part.key), builder_.string(part.name)});
    return builder_.array(keys);
  }

  program::ArrayRef<program::CidrRecord> cidrs(const std::vector<Cidr>& blocks) {
    std::vector<program::CidrRecord> records;
    for (const Cidr& block : blocks) records.push_back(program::cidr_record(block));
    return builder_.array(records);
  }

  program::SectionBuilder& builder_;
  std::vector<program::PolicyRecord> policies_;
  std::vector<program::RateLimitRecord> rate_limits_;
  std::vector<program::BasicAuthRecord> basic_auths_;
  std::vector<program::JwtRecord> jwts_;
  std::vector<program::OidcRecord> oidcs_;
  std::vector<program::ForwardAuthRecord> forward_auths_;
  std::vector<program::CorsRecord> cors_;
  std::vector<program::SecurityHeadersRecord> security_headers_;
  std::vector<program::IpAccessRecord> ip_accesses_;
  std::vector<program::ApiKeyRecord> api_keys_;
  std::vector<program::MaintenanceRecord> maintenances_;
  std::vector<program::FixedResponseRecord> fixed_responses_;
  std::vector<program::ErrorPagesRecord> error_pages_;
  std::vector<program::NoRouteRecord> no_routes_;
  std::vector<program::ConcurrencyLimitRecord> concurrency_limits_;
  std::vector<program::ClientCertificateRecord> client_certificates_;
  std::vector<program::RequestFilterRecord> request_filters_;
  std::vector<program::ListenerClaimsRecord> listener_claims_;
};

}  // namespace

std::vector<std::byte> emit_policies(const LinkedConfig& config) {
  // By name: the order in which a configuration holds its policies may be that of edits.
  std::vector<const LinkedPolicy*> policies;
  const std::vector<bool> used = link::policies_in_use(config);
  for (std::size_t i = 0; i < config.policies.size(); ++i) {
    if (used[i]) policies.push_back(&config.policies[i]);
  }
  std::sort(policies.begin(), policies.end(), [](const LinkedPolicy* a, const LinkedPolicy* b) {
    return std::tie(a->identity.name_space, a->identity.name) < std::tie(b->identity.name_space, b->identity.name);
  });
  program::SectionBuilder builder(sizeof(program::PoliciesHeader), 160 * policies.size());
  PolicyEmitter emitter(builder);
  for (const LinkedPolicy* policy : policies) emitter.add(*policy);
  emitter.add_no_routes(config);
  emitter.add_listener_claims(config);
  return std::move(builder).finish(emitter.store());
}

}  // namespace edge::compiler::emit
