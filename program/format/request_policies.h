// Program format (format.h): records of policies about who sends a request by certificate, what it consists of, and of
// claims that rules match.
// Part of the policies section (policies.h).
#pragma once

#include <cstdint>

#include "program/format/answers.h"
#include "program/format/file.h"

namespace edge::program {

/// What certificates of clients are known by; texts ascend in each list.
struct CertificateNamesRecord {
  ArrayRef<StringRef> dns_names;  ///< lower case; `*.` before one: all below it
  ArrayRef<StringRef> uris;
  ArrayRef<StringRef> uri_prefixes;
  ArrayRef<StringRef> emails;  ///< domain in lower case
  ArrayRef<CidrRecord> networks;
  ArrayRef<StringRef> common_names;
  ArrayRef<StringRef> fingerprints;  ///< SHA-256, 64 hexadecimal digits in lower case
};
static_assert(sizeof(CertificateNamesRecord) == 56);

struct ClientCertificateRecord {
  CertificateNamesRecord allow;
  CertificateNamesRecord deny;  ///< takes precedence over `allow`
  StringRef identity_header;    ///< a field name in lower case; empty: not sent
  std::uint32_t allows_all;     ///< 1: every certificate that verifies, and `allow` is empty
  std::uint32_t forwards;       ///< 1: X-Forwarded-Client-Cert is sent
};
static_assert(sizeof(ClientCertificateRecord) == 128);
/// Of a list of names; of fingerprints kMostFingerprints.
inline constexpr std::uint32_t kMostCertificateNames = 256;
inline constexpr std::uint32_t kMostFingerprints = 1024;
/// Bytes of a name.
inline constexpr std::uint32_t kLongestCertificateName = 2048;

/// What rules ask of a verified token: the text of a claim, or an element that it has.
struct ClaimFieldRecord {
  StringRef claim;         ///< a name, or names separated by dots: a path into nested claims; not empty
  StringRef item;          ///< the element
  std::uint32_t has_item;  ///< 1: matched as claim_item_field(claim, item), 0: as claim_field(claim) (claim_field.h)
};
static_assert(sizeof(ClaimFieldRecord) == 20);

/// Of a listener with rules that match claims: a token is verified by this policy before a rule is looked for.
struct ListenerClaimsRecord {
  std::uint64_t policy;    ///< id of a PolicyRecord of kJwt with settings
  std::uint32_t listener;  ///< index of its ListenerRecord; entries ascend by it
  std::uint32_t reserved;
  ArrayRef<ClaimFieldRecord> fields;  ///< at least one
};
static_assert(sizeof(ListenerClaimsRecord) == 24);

/// What requests may consist of. Limits of 0: none.
struct RequestFilterRecord {
  std::uint64_t max_header_size;   ///< bytes of a name and its value
  std::uint64_t max_headers_size;  ///< of all of them
  std::uint64_t max_body_size;
  std::uint32_t max_headers;
  std::uint32_t max_query_parameters;  ///< kNone: no limit
  std::uint32_t inspected_body_size;   ///< 0 without `bodies`, else 1 to kMostInspectedBody
  std::uint32_t shadow;                ///< 1: requests at fault pass, and are counted
  std::uint32_t status;                ///< of those with a pattern
  std::uint32_t reserved;
  ArrayRef<StringRef> methods;        ///< tokens, ascending; empty: all
  ArrayRef<StringRef> content_types;  ///< ascending, lower case, `type/*` too; empty: all
  ArrayRef<StringRef> paths;          ///< patterns (evaluate/pattern.h)
  ArrayRef<StringRef> queries;
  ArrayRef<FieldRecord> headers;  ///< patterns by name, which is empty for every header
  ArrayRef<StringRef> bodies;
};
static_assert(sizeof(RequestFilterRecord) == 96);
inline constexpr std::uint32_t kMostInspectedBody = 128 << 10;
inline constexpr std::uint32_t kMostFilterMethods = 32;
inline constexpr std::uint32_t kMostFilterTypes = 64;
inline constexpr std::uint32_t kMostFilterPatterns = 64;  ///< of a kind
/// Bytes of a method, a media type, or a pattern.
inline constexpr std::uint32_t kLongestFilterText = 1024;

}  // namespace edge::program
