#include "runtime/policy/rate_limit.h"

#include <algorithm>
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

const std::string* find_claim(const VerifiedClient* client, const std::string& wanted) {
  if (client == nullptr) return nullptr;
  for (const auto& [name, text] : client->claims) {
    if (name == wanted) return &text;
  }
  return nullptr;
}

PolicyAnswer refusal(const Rate& rate, const RateLimitTable::TakeResult& taken) {
  PolicyAnswer answer{429, "rate-limited", "Too many requests.", {}};
  answer.fields = "Retry-After: " + seconds(taken.retry_after) +
                  "\r\nRateLimit-Limit: " + std::to_string(rate.burst()) +
                  "\r\nRateLimit-Remaining: " + std::to_string(taken.remaining) +
                  "\r\nRateLimit-Reset: " + seconds(taken.full_after) + "\r\n";
  return answer;
}

}  // namespace

RateLimit::RateLimit(const program::SectionView& policies, const program::PolicyRecord& policy,
                     const program::RateRecord& settings)
    : rate_(settings.requests, settings.burst, net::Duration(static_cast<std::int64_t>(settings.period_ns)),
            static_cast<std::uint16_t>(policy.id)) {
  const std::array<std::uint64_t, 3> numbers = {settings.requests, settings.period_ns, settings.burst};
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), sizeof(numbers));
  identity_ = hash_bytes(policy.id, bytes);
  for (const program::RateKeyRecord& part : policies.array(settings.keys)) {
    parts_.push_back({part.key, std::string(policies.string(part.name))});
    identity_ = hash_bytes(identity_ + static_cast<std::uint64_t>(part.key), parts_.back().name);
  }
}

bool RateLimit::counts_by(RateKey key) const { return std::ranges::find(parts_, key, &Part::key) != parts_.end(); }
bool RateLimit::by_claim() const { return counts_by(RateKey::kJwtClaim); }
bool RateLimit::by_identity() const { return counts_by(RateKey::kIdentity); }

std::uint64_t RateLimit::hash_part(const Part& part, const PolicyRequest& policy_request, const VerifiedClient* client,
                                   std::uint64_t hash) {
  switch (part.key) {
    case RateKey::kSourceIp:
      return hash_source(hash, policy_request.source);
    case RateKey::kHeader:
      return hash_header(hash, policy_request.head.fields, part.name);
    case RateKey::kCookie:
      return hash_cookie(hash, policy_request.head.fields, part.name);
    case RateKey::kQuery:
      return hash_query(hash, policy_request.head.query, part.name);
    case RateKey::kHost:
      return hash_bytes(hash, policy_request.host);
    case RateKey::kPath:
      return hash_bytes(hash, policy_request.path);
    case RateKey::kJwtClaim: {
      const std::string* const value = find_claim(client, part.name);
      return value == nullptr ? hash_absent(hash) : hash_bytes(hash, *value);
    }
    case RateKey::kIdentity:
      break;
  }
  return client == nullptr || client->subject.empty() ? hash_absent(hash) : hash_bytes(hash, client->subject);
}

std::uint64_t RateLimit::bucket(const PolicyRequest& policy_request, const VerifiedClient* client,
                                std::uint64_t seed) const {
  std::uint64_t hash = hash_bytes(seed, {reinterpret_cast<const char*>(&identity_), sizeof(identity_)});
  for (const Part& part : parts_) hash = hash_part(part, policy_request, client, hash);
  return hash;
}

std::optional<PolicyAnswer> RateLimitGroup::pass(const PolicyRequest& policy_request, const VerifiedClient* client,
                                                 RateLimitTable& table) const {
  std::array<std::uint64_t, kMost> buckets;
  const std::size_t count = std::min(limits.size(), kMost);
  for (std::size_t i = 0; i < count; ++i) buckets[i] = limits[i]->bucket(policy_request, client, table.seed());
  const net::Time now = policy_request.now;
  const Rate* refusing = nullptr;
  RateLimitTable::TakeResult strictest;
  const auto refuse = [&](const Rate& rate, const RateLimitTable::TakeResult& taken) {
    if (refusing != nullptr && taken.retry_after <= strictest.retry_after) return;
    refusing = &rate;
    strictest = taken;
  };
  // One limit needs no look before: it takes nothing where it refuses.
  for (std::size_t i = 0; count > 1 && i < count; ++i) {
    const auto found = table.look(limits[i]->rate(), buckets[i], now);
    if (!found.passes) refuse(limits[i]->rate(), found);
  }
  for (std::size_t i = 0; refusing == nullptr && i < count; ++i) {
    const auto taken = table.take(limits[i]->rate(), buckets[i], now);
    if (taken.passes) continue;
    // Another thread was faster.
    for (std::size_t before = 0; before < i; ++before) table.give_back(limits[before]->rate(), buckets[before]);
    refuse(limits[i]->rate(), taken);
  }
  if (tally != nullptr) tally->count(buckets[0], refusing == nullptr);
  if (refusing == nullptr) return std::nullopt;
  return refusal(*refusing, strictest);
}

}  // namespace edge::runtime
