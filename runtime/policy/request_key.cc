#include "runtime/policy/request_key.h"

#include <algorithm>

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

const std::string* find_claim(const VerifiedClient* client, const std::string& wanted) {
  if (client == nullptr) return nullptr;
  for (const auto& [name, text] : client->claims) {
    if (name == wanted) return &text;
  }
  return nullptr;
}

}  // namespace

RequestKey::RequestKey(const program::SectionView& policies, std::uint64_t identity,
                       program::ArrayRef<program::RateKeyRecord> parts)
    : identity_(identity) {
  for (const program::RateKeyRecord& part : policies.array(parts)) {
    parts_.push_back({part.key, std::string(policies.string(part.name))});
    identity_ = hash_bytes(identity_ + static_cast<std::uint64_t>(part.key), parts_.back().name);
  }
}

bool RequestKey::counts_by(RateKey key) const { return std::ranges::find(parts_, key, &Part::key) != parts_.end(); }

std::uint64_t RequestKey::hash_part(const Part& part, const PolicyRequest& policy_request, const VerifiedClient* client,
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

std::uint64_t RequestKey::hash(const PolicyRequest& policy_request, const VerifiedClient* client,
                               std::uint64_t seed) const {
  std::uint64_t hash = hash_bytes(seed, {reinterpret_cast<const char*>(&identity_), sizeof(identity_)});
  for (const Part& part : parts_) hash = hash_part(part, policy_request, client, hash + 1);
  return hash;
}

}  // namespace edge::runtime
