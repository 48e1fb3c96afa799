#include "runtime/policy/rate_limit.h"

#include <array>

#include "base/hash.h"
#include "base/text/ascii.h"

namespace edge::runtime {
namespace {

using net::http1::HeadFields;
using net::http1::KnownField;
using program::RateKey;

constexpr std::size_t kIpv6Network = 8;

/// Where a request has no value: meets no value's bucket.
std::uint64_t hash_absent(std::uint64_t hash) { return hash_bytes(~hash, {}); }

/// A client has a /64 of IPv6 to choose addresses from, mostly (RFC 6177): all of it is one client.
std::uint64_t hash_source(std::uint64_t hash, const IpAddress& source) {
  const std::size_t size = source.is_v4() ? source.bytes.size() : kIpv6Network;
  return hash_bytes(hash, {reinterpret_cast<const char*>(source.bytes.data()), size});
}

/// All fields of the name, in their order.
std::uint64_t hash_header(std::uint64_t hash, const HeadFields& fields, std::string_view name) {
  bool found = false;
  for (const Field& field : fields.all()) {
    if (!equals_ignoring_case(field.name, name)) continue;
    hash = hash_bytes(hash, field.value);
    found = true;
  }
  return found ? hash : hash_absent(hash);
}

/// The first pair of the name (RFC 6265 §5.4).
std::uint64_t hash_cookie(std::uint64_t hash, const HeadFields& fields, std::string_view name) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.known(i) != KnownField::kCookie) continue;
    std::string_view rest = fields[i].value;
    while (!rest.empty()) {
      std::string_view value = next_part(rest, ';');
      if (next_part(value, '=') == name) return hash_bytes(hash, value);
    }
  }
  return hash_absent(hash);
}

/// The first pair of the key. Both are compared as they are written: another spelling of a value is another value to
/// whoever chooses it, and could be had by choosing another value as well.
std::uint64_t hash_query(std::uint64_t hash, std::string_view query, std::string_view name) {
  while (!query.empty()) {
    std::string_view value = next_part(query, '&');
    if (next_part(value, '=') == name) return hash_bytes(hash, value);
  }
  return hash_absent(hash);
}

std::string seconds(net::Duration duration) {
  const auto whole = std::chrono::ceil<std::chrono::seconds>(duration).count();
  return std::to_string(whole);
}

}  // namespace

RateLimit::RateLimit(const program::SectionView& policies, const program::PolicyRecord& policy,
                     const program::RateLimitRecord& settings)
    : rate_(settings.requests_per_second, settings.burst),
      key_(settings.key),
      name_(policies.string(settings.key_name)) {
  const std::array<std::uint64_t, 3> numbers = {settings.requests_per_second, settings.burst,
                                                static_cast<std::uint64_t>(key_)};
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), sizeof(numbers));
  identity_ = hash_bytes(hash_bytes(policy.id, bytes), name_);
}

std::uint64_t RateLimit::begin_hash(std::uint64_t seed) const {
  return hash_bytes(seed, {reinterpret_cast<const char*>(&identity_), sizeof(identity_)});
}

std::uint64_t RateLimit::bucket_of(const PolicyRequest& policy_request, std::uint64_t seed) const {
  const std::uint64_t hash = begin_hash(seed);
  switch (key_) {
    case RateKey::kSourceIp:
      return hash_source(hash, policy_request.source);
    case RateKey::kHeader:
      return hash_header(hash, policy_request.head.fields, name_);
    case RateKey::kCookie:
      return hash_cookie(hash, policy_request.head.fields, name_);
    case RateKey::kQuery:
      return hash_query(hash, policy_request.head.query, name_);
    case RateKey::kHost:
      return hash_bytes(hash, policy_request.host);
    case RateKey::kPath:
      return hash_bytes(hash, policy_request.path);
    case RateKey::kJwtClaim:
      break;
  }
  // Nobody verifies a token here, and what is not verified anybody may write: all share a bucket (fails closed).
  return hash_absent(hash);
}

std::optional<PolicyAnswer> RateLimit::pass(const PolicyRequest& policy_request, RateLimitTable& table) const {
  return take(bucket_of(policy_request, table.seed()), policy_request.now, table);
}

std::optional<PolicyAnswer> RateLimit::pass_claim(const std::string* value, net::Time now,
                                                  RateLimitTable& table) const {
  const std::uint64_t hash = begin_hash(table.seed());
  return take(value == nullptr ? hash_absent(hash) : hash_bytes(hash, *value), now, table);
}

std::optional<PolicyAnswer> RateLimit::take(std::uint64_t bucket, net::Time now, RateLimitTable& table) const {
  const RateLimitTable::TakeResult taken = table.take(rate_, bucket, now);
  if (tally_ != nullptr) tally_->count(bucket, taken.passes);
  if (taken.passes) return std::nullopt;
  PolicyAnswer answer{429, "rate-limited", "Too many requests.", {}};
  answer.fields = "Retry-After: " + seconds(taken.retry_after) +
                  "\r\nRateLimit-Limit: " + std::to_string(rate_.burst()) +
                  "\r\nRateLimit-Remaining: " + std::to_string(taken.remaining) +
                  "\r\nRateLimit-Reset: " + seconds(taken.full_after) + "\r\n";
  return answer;
}

}  // namespace edge::runtime
