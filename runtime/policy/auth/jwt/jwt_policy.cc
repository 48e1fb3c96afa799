#include "runtime/policy/auth/jwt/jwt_policy.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <variant>

#include "base/text/ascii.h"
#include "net/client/url.h"
#include "program/claim_field.h"
#include "program/read.h"
#include "program/sha256.h"
#include "runtime/policy/auth/jwt/token_cache.h"
#include "runtime/policy/auth/stores.h"

namespace edge::runtime::auth {
namespace {

constexpr std::size_t kMostClaimBytes = 4096;

bool printable(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::string scalar_text(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::kString:
      return printable(*value.text()) ? std::string(*value.text()) : std::string{};
    case Json::Kind::kInteger:
      return std::to_string(*value.integer());
    case Json::Kind::kBoolean:
      return *value.boolean() ? "true" : "false";
    default:
      return {};
  }
}

AuthResult deny(std::string_view reason, std::string_view text, std::string fields) {
  return AuthResult::deny({401, reason, text, std::move(fields)});
}

/// RFC 6750 §3.1.
AuthResult deny(TokenFault fault) {
  const std::string_view text = fault_text(fault);
  const std::string_view reason = fault == TokenFault::kExpired ? "token-expired" : "token-invalid";
  return deny(reason, text,
              "WWW-Authenticate: Bearer error=\"invalid_token\", error_description=\"" + std::string(text) + "\"\r\n");
}

std::string_view bytes_of(const std::uint64_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

/// Each with its length, so that no two lists of settings read alike.
void append(std::string& identity, std::string_view part) {
  identity += std::to_string(part.size());
  identity.append(":").append(part);
}

constexpr std::string_view kSubjectClaim = "sub";

/// Unique among all issuers; `sub` is so only at the token's own (RFC 7519 §4.1.2). Empty where no limit counts by it,
/// or the token has none.
std::string subject_of(std::string_view issuer, const VerifiedClaims* claims) {
  if (claims == nullptr) return {};
  const auto found = std::ranges::find(*claims, kSubjectClaim, &VerifiedClaims::value_type::first);
  return found == claims->end() ? std::string{} : std::string(issuer).append("\n").append(found->second);
}

/// Each once, in order: policies alike know one token by one name.
std::vector<std::string> counted_claims(const program::SectionView& section) {
  std::set<std::string> names;
  const auto add = [&](program::ArrayRef<program::RateKeyRecord> keys) {
    for (const program::RateKeyRecord& part : section.array(keys)) {
      if (part.key == program::RateKey::kJwtClaim) names.emplace(section.string(part.name));
      if (part.key == program::RateKey::kIdentity) names.emplace(kSubjectClaim);
    }
  };
  const auto& header = section.header<program::PoliciesHeader>();
  for (const program::RateLimitRecord& record : section.array(header.rate_limits)) {
    for (const program::RateRecord& limit : section.array(record.limits)) add(limit.keys);
  }
  for (const program::ConcurrencyLimitRecord& record : section.array(header.concurrency_limits)) {
    for (const program::ConcurrencyRecord& limit : section.array(record.limits)) add(limit.keys);
  }
  return {names.begin(), names.end()};
}

/// What rules match on all listeners where the policy verifies tokens first, by what it is matched as.
template <typename Matched>
std::map<std::string, Matched> matched_claims(const program::SectionView& section, std::uint64_t policy) {
  std::map<std::string, Matched> by_field;
  for (const auto& record : section.array(section.header<program::PoliciesHeader>().listener_claims)) {
    if (record.policy != policy) continue;
    for (const program::ClaimFieldRecord& field : section.array(record.fields)) {
      Matched one{.claim = std::string(section.string(field.claim)), .item = std::nullopt};
      if (field.has_item != 0) one.item = section.string(field.item);
      std::string name = one.item ? program::claim_item_field(one.claim, *one.item) : program::claim_field(one.claim);
      by_field.try_emplace(std::move(name), std::move(one));
    }
  }
  return by_field;
}

}  // namespace

std::string claim_text(const Json& claim) {
  if (!claim.is_array()) return scalar_text(claim);
  std::string text;
  for (const Json& item : claim.items()) {
    const std::string part = scalar_text(item);
    // One with a comma would be read as two: better none than somebody's second role.
    if (part.empty() || part.find(',') != std::string::npos) return {};
    text += (text.empty() ? "" : ",") + part;
  }
  return text;
}

bool claim_contains(std::string_view name, const Json& claim, std::string_view item) {
  const auto is_item = [&](const Json& one) {
    if (item.empty()) return false;
    // Texts, most of what there is, are compared where they are. What is not printable is no text.
    const std::optional<std::string_view> text = one.text();
    return text ? *text == item && printable(item) : scalar_text(one) == item;
  };
  if (claim.is_array()) return std::ranges::any_of(claim.items(), is_item);
  if (is_item(claim)) return true;
  if (name != "scope" && name != "scp") return false;
  const std::string words = scalar_text(claim);
  for (std::string_view rest = words; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (!item.empty() && word == item) return true;
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return false;
}

// The keys of a Secret or of the policy itself are trusted as those of a URL are: published ones, which take no HMAC.
Status JwtPolicy::find_keys(const PolicyContext& making, const program::JwtIssuerRecord& record, Issuer& issuer) {
  using program::JwtKeys;
  const auto invalid = [](std::string what) { return Error{ErrorCode::kInvalidArgument, std::move(what)}; };
  const std::string_view text = making.section.string(record.source);
  if (record.keys == JwtKeys::kUri) {
    const Result<net::client::Url> url = net::client::parse_url(text);
    if (!url) return invalid("the address of the keys: " + url.error().text);
    if (Status status = making.stores.may_call(*url); !status) return status;
    issuer.source = making.stores.jwks.source(*url, url->secure ? making.stores.trust.authorities() : nullptr);
    return {};
  }
  KeySet keys;
  std::string_view held = text;
  if (record.keys != JwtKeys::kInline) {
    const std::string* const value = making.secrets.find(making.section, record.secret);
    if (value == nullptr) return Error{ErrorCode::kNotFound, "the secret with the keys of an issuer is missing"};
    held = *value;
  }
  if (record.keys == JwtKeys::kShared) {
    Result<Key> key = Key::shared(std::string(held));
    if (!key) return invalid("the issuer's own secret: " + key.error().text);
    keys.keys.push_back(*std::move(key));
  } else {
    Result<KeySet> read = read_key_set(held);
    if (!read) return invalid("the keys of an issuer: " + read.error().text);
    if (read->keys.empty()) return invalid("no key of an issuer can be used");
    keys = *std::move(read);
  }
  // The next version of a secret finds nothing in the cache of what this one has verified.
  const program::Hash digest = program::sha256(std::as_bytes(std::span(held)));
  std::memcpy(&issuer.fixed.generation, digest.data(), sizeof issuer.fixed.generation);
  append(issuer.identity, {reinterpret_cast<const char*>(digest.data()), digest.size()});
  issuer.fixed.keys = std::make_shared<const KeySet>(std::move(keys));
  return {};
}

Result<JwtPolicy::Issuer> JwtPolicy::make_issuer(const PolicyContext& making, const program::JwtIssuerRecord& record,
                                                 std::int64_t skew) {
  const program::SectionView& section = making.section;
  const auto invalid = [](std::string what) { return Error{ErrorCode::kInvalidArgument, std::move(what)}; };
  const bool shared = record.keys == program::JwtKeys::kShared;
  Issuer issuer;
  issuer.rules.issuer = section.string(record.issuer);
  issuer.rules.skew = skew;
  for (const std::string_view part : {std::string_view(issuer.rules.issuer), section.string(record.source)}) {
    append(issuer.identity, part);
  }
  append(issuer.identity, std::to_string(skew));
  for (const program::StringRef name : section.array(record.audience)) {
    issuer.rules.audience.emplace_back(section.string(name));
    append(issuer.identity, "audience");
    append(issuer.identity, issuer.rules.audience.back());
  }
  for (const program::StringRef name : section.array(record.algorithms)) {
    const auto algorithm = algorithm_named(section.string(name));
    // Keys are published, so that whoever has read them could make a token by HMAC; and a secret is no public key.
    if (!algorithm || (*algorithm >= Algorithm::kHs256) != shared) return invalid("an algorithm that is not served");
    issuer.rules.algorithms.add(*algorithm);
    append(issuer.identity, algorithm_name(*algorithm));
  }
  if (issuer.rules.algorithms.empty()) return invalid("no algorithm is allowed");
  if (Status status = find_keys(making, record, issuer); !status) return status.error();
  return issuer;
}

Result<std::shared_ptr<const JwtPolicy>> JwtPolicy::make(const PolicyContext& making,
                                                         const program::PolicyRecord& record_of,
                                                         const program::JwtRecord& record) {
  const program::SectionView& section = making.section;
  std::shared_ptr<JwtPolicy> policy(new JwtPolicy);
  policy->header_ = section.string(record.header);
  policy->prefix_ = section.string(record.prefix);
  std::string rest;
  for (const program::ClaimHeaderRecord& each : section.array(record.claim_headers)) {
    policy->claim_headers_.push_back(
        {std::string(section.string(each.claim)), std::string(section.string(each.header))});
    append(rest, "claim");
    append(rest, policy->claim_headers_.back().claim);
    append(rest, policy->claim_headers_.back().header);
  }
  policy->counted_claims_ = counted_claims(section);
  for (const std::string& claim : policy->counted_claims_) {
    append(rest, "counted");
    append(rest, claim);
  }
  auto matched_fields = std::make_shared<std::vector<std::string>>();
  for (auto& [field, matched] : matched_claims<MatchedClaim>(section, record_of.id)) {
    append(rest, "matched");
    append(rest, field);
    matched_fields->push_back(field);
    policy->matched_claims_.push_back(std::move(matched));
  }
  policy->matched_fields_ = std::move(matched_fields);
  const auto skew = static_cast<std::int64_t>(record.clock_skew_ns / 1'000'000'000);
  for (const program::JwtIssuerRecord& each : section.array(record.issuers)) {
    Result<Issuer> issuer = make_issuer(making, each, skew);
    if (!issuer) return issuer.error();
    issuer->identity += rest;
    policy->issuers_.push_back(*std::move(issuer));
  }
  return std::shared_ptr<const JwtPolicy>(std::move(policy));
}

// What it names is not verified yet: it chooses by whose keys and rules the token is verified, of which `iss` is one.
const JwtPolicy::Issuer* JwtPolicy::issuer_of(std::string_view token) const {
  if (issuers_.size() == 1) return &issuers_.front();
  const std::optional<std::string> named = unverified_issuer(token);
  if (!named) return nullptr;
  const auto found = std::ranges::find(issuers_, *named, [](const Issuer& one) { return one.rules.issuer; });
  return found == issuers_.end() ? nullptr : &*found;
}

JwtPolicy::Search JwtPolicy::find_token(const net::http1::HeadFields& fields, std::string_view& token) const {
  bool found = false;
  for (const Field& field : fields.all()) {
    if (!equals_ignoring_case(field.name, header_)) continue;
    // Of two the backend might believe the other.
    if (found) return Search::kFault;
    found = true;
    token = field.value;
  }
  if (!found || token.empty()) return Search::kMissing;
  if (!starts_with_ignoring_case(token, prefix_)) return Search::kMissing;
  token.remove_prefix(prefix_.size());
  return token.empty() ? Search::kMissing : Search::kFound;
}

net::Task<AuthResult> JwtPolicy::ask(const PolicyRequest& policy_request, AuthContext context) const {
  std::string_view token;
  switch (find_token(policy_request.head.fields, token)) {
    case Search::kFound:
      break;
    case Search::kMissing:
      return deny("token-missing", "A token is needed.", "WWW-Authenticate: Bearer\r\n");
    case Search::kFault:
      return deny(TokenFault::kMalformed);
  }
  if (token.size() > kMaxTokenBytes) return deny(TokenFault::kTooLarge);
  const Issuer* const issuer = issuer_of(token);
  if (issuer == nullptr) return deny(TokenFault::kIssuer);
  const KeysNow keys = issuer->keys(policy_request.now);
  if (keys.keys != nullptr) {
    if (std::optional<AuthResult> auth_result = check_token(token, *issuer, keys, context)) {
      return *std::move(auth_result);
    }
  }
  if (issuer->source == nullptr) return deny(TokenFault::kUnknownKey);
  // Another's, or no token at all: no key makes it this issuer's, so it waits for none.
  if (unverified_issuer(token) != issuer->rules.issuer) return deny(TokenFault::kIssuer);
  return ask_with_new_keys(std::string(token), *issuer, context);
}

net::Task<AuthResult> JwtPolicy::ask_with_new_keys(std::string token, const Issuer& issuer, AuthContext context) const {
  const KeysNow keys = co_await issuer.source->renewed(context.loop, context.waiter, context.calls);
  if (keys.keys == nullptr) {
    co_return AuthResult::fail("keys-unavailable", "The keys of the token issuer cannot be had.");
  }
  std::optional<AuthResult> auth_result = check_token(token, issuer, keys, context);
  if (!auth_result) co_return deny(TokenFault::kUnknownKey);
  co_return *std::move(auth_result);
}

std::optional<AuthResult> JwtPolicy::check_token(std::string_view token, const Issuer& issuer, const KeysNow& keys,
                                                 AuthContext context) const {
  TokenCache& cache = context.stores.tokens;
  const Digest digest = cache.key.of({issuer.identity, bytes_of(keys.generation), token});
  if (const auto known = cache.tokens.find(digest)) {
    if (context.unix_now > (*known)->until) return deny(TokenFault::kExpired);
    AuthResult auth_result = AuthResult::pass();
    auth_result.request = (*known)->request;
    auth_result.claims = (*known)->claims;
    auth_result.matched = (*known)->matched;
    auth_result.subject = subject_of(issuer.rules.issuer, auth_result.claims.get());
    return auth_result;
  }
  const std::variant<Token, TokenFault> judged = verify_token(token, *keys.keys, issuer.rules, context.unix_now);
  if (const auto* fault = std::get_if<TokenFault>(&judged)) {
    if (*fault == TokenFault::kUnknownKey) return std::nullopt;
    return deny(*fault);
  }
  return pass(digest, issuer.rules.issuer, std::get<Token>(judged), context.stores);
}

AuthResult JwtPolicy::pass(const Digest& digest, std::string_view issuer, const Token& token, Stores& stores) const {
  AuthResult auth_result = AuthResult::pass();
  std::size_t kept = 0;
  for (const ClaimHeader& each : claim_headers_) {
    const Json* const claim = token.claims.find_path(each.claim);
    std::string text = claim == nullptr ? std::string{} : claim_text(*claim);
    if (text.size() > kMostClaimBytes) text.clear();
    kept += text.size();
    // Without a value, too: whatever came under the name goes.
    auth_result.request.set(each.header, text);
  }
  auth_result.claims = counted(token, kept);
  auth_result.matched = matched(token, kept);
  auth_result.subject = subject_of(issuer, auth_result.claims.get());
  if (kept <= TokenCache::kMostKept) {
    stores.tokens.tokens.put(digest, std::make_shared<const PassedToken>(auth_result.request, token.until,
                                                                         auth_result.claims, auth_result.matched));
  }
  return auth_result;
}

// What is no text counts as missing: all such tokens share a bucket.
std::shared_ptr<const VerifiedClaims> JwtPolicy::counted(const Token& token, std::size_t& kept) const {
  if (counted_claims_.empty()) return nullptr;
  auto claims = std::make_shared<VerifiedClaims>();
  for (const std::string& name : counted_claims_) {
    const Json* const claim = token.claims.find_path(name);
    std::string text = claim == nullptr ? std::string{} : claim_text(*claim);
    if (text.empty()) continue;
    kept += name.size() + text.size();
    claims->emplace_back(name, std::move(text));
  }
  return claims;
}

// A claim that is there without a text, an object for one, is present with an empty one; `null` is not there.
std::shared_ptr<const MatchedClaims> JwtPolicy::matched(const Token& token, std::size_t& kept) const {
  if (matched_claims_.empty()) return nullptr;
  auto claims = std::make_shared<MatchedClaims>();
  claims->fields = matched_fields_;
  for (std::uint32_t i = 0; i < matched_claims_.size(); ++i) {
    const MatchedClaim& wanted = matched_claims_[i];
    const Json* const claim = token.claims.find_path(wanted.claim);
    if (claim == nullptr || claim->kind() == Json::Kind::kNull) continue;
    if (wanted.item && !claim_contains(wanted.claim, *claim, *wanted.item)) continue;
    std::string text = wanted.item ? std::string{} : claim_text(*claim);
    if (text.size() > kMostClaimBytes) text.clear();
    kept += sizeof(MatchedClaims::Held::field) + text.size();
    claims->held.push_back({i, std::move(text)});
  }
  return claims;
}

}  // namespace edge::runtime::auth
