// Program format (format.h): settings of gateways and listeners. Part of the listeners section.
#pragma once

#include <cstdint>

#include "program/format/file.h"

namespace edge::program {

enum class ContentCoding : std::uint32_t { kGzip = 1, kBrotli = 2 };

/// Which requests with credentials get compressed responses: if another site can cause such requests, it can guess a
/// secret in the response from its compressed size (BREACH).
enum class CompressedFor : std::uint32_t { kAll = 0, kSameOrigin = 1, kWithoutCredentials = 2 };

/// Rule D6.
struct CompressionRecord {
  std::uint64_t min_size;              ///< bytes
  ArrayRef<ContentCoding> algorithms;  ///< in order of preference
  ArrayRef<StringRef> exclude_types;   ///< lower case; a final `*` matches anything
  ArrayRef<StringRef> include_types;   ///< compressed although an excluded pattern matches them
  std::uint32_t level;                 ///< gzip 1 to 9, brotli 0 to 11
  CompressedFor compressed_for;
};
static_assert(sizeof(CompressionRecord) == 40);

struct CacheRecord {
  std::uint64_t max_size;        ///< bytes
  std::uint64_t max_entry_size;  ///< bytes
  std::uint64_t default_ttl_ns;  ///< 0: responses without a lifetime are not stored
  std::uint64_t max_ttl_ns;
};
static_assert(sizeof(CacheRecord) == 32);

/// Whose sampling decision takes precedence over the percentage.
enum class TraceSenders : std::uint8_t { kTrustedProxies = 0, kAlways = 1, kNever = 2 };

struct TracingRecord {
  std::uint16_t sampling_percent;  ///< of requests, 0 to 100
  TraceSenders believed;
  std::uint8_t reserved;
};
static_assert(sizeof(TracingRecord) == 4);

struct AccessLogRecord {
  StringRef format;  ///< `json`, `common`, `combined`, or a template with %{...}
  ArrayRef<StringRef> exclude_paths;
};
static_assert(sizeof(AccessLogRecord) == 16);

/// Limits on clients; 0: unlimited.
struct ClientLimitsRecord {
  std::uint64_t min_body_rate;  ///< of a request's body, bytes per second
  std::uint64_t body_grace_ns;  ///< before the rate applies, and for the first byte
  std::uint32_t max_connections_per_source;
  std::uint32_t max_streams_per_source;  ///< HTTP/2, over all connections
};
static_assert(sizeof(ClientLimitsRecord) == 24);
/// The limits of a gateway without its own.
inline constexpr ClientLimitsRecord kUsualClientLimits{500, 10'000'000'000, 10'000, 10'000};

/// Rule D9.
struct SchemeRedirectRecord {
  StringRef scheme;
  std::uint32_t status;            ///< 300 to 399
  std::uint32_t port;              ///< 1 to 65535; in the location unless it is the scheme's default
  ArrayRef<StringRef> exclusions;  ///< one that ends in `/` is a prefix, any other is exact
};
static_assert(sizeof(SchemeRedirectRecord) == 24);

enum class TlsMode : std::uint32_t { kTerminate = 1, kPassthrough = 2 };
enum class TlsVersion : std::uint32_t { k12 = 12, k13 = 13 };

/// Whether client certificates are required. Required without CAs, no client can connect.
enum ClientCertificateNeed : std::uint32_t {
  kNoClientCertificate = 0,
  kNeedsClientCertificate = 1,
  kOptionalClientCertificate = 2,    ///< one that is presented must be valid
  kUnverifiedClientCertificate = 3,  ///< requested; clients are served whatever they present
};

struct ListenerTlsRecord {
  TlsMode mode;
  TlsVersion min_version;
  ArrayRef<SecretRecord> certificates;        ///< none: every handshake fails
  ArrayRef<SecretRecord> client_authorities;  ///< the CAs of client certificates
  ClientCertificateNeed client_certificate;
  std::uint32_t needs_crl;  ///< 1: each CA of clients must have a valid revocation list
};
static_assert(sizeof(ListenerTlsRecord) == 32);

}  // namespace edge::program
