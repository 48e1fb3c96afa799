// Format of a program (format.h): settings of gateways and listeners. Part of the listeners section.
#pragma once

#include <cstdint>

#include "program/format/file.h"

namespace edge::program {

enum class ContentCoding : std::uint32_t { kGzip = 1, kBrotli = 2 };

/// Of requests with credentials, whose responses are compressed: where another site can have them sent, it can guess a
/// secret in the response by its compressed size (BREACH).
enum class CompressedFor : std::uint32_t { kAll = 0, kSameOrigin = 1, kWithoutCredentials = 2 };

/// Rule D6.
struct CompressionRecord {
  std::uint64_t min_size;              ///< bytes
  ArrayRef<ContentCoding> algorithms;  ///< in order of preference
  ArrayRef<StringRef> exclude_types;   ///< lower case; `*` at the end stands for anything
  ArrayRef<StringRef> include_types;   ///< compressed although an excluded pattern covers them
  std::uint32_t level;                 ///< gzip 1 to 9, brotli 0 to 11
  CompressedFor compressed_for;
};
static_assert(sizeof(CompressionRecord) == 40);

struct CacheRecord {
  std::uint64_t max_size;        ///< bytes
  std::uint64_t max_entry_size;  ///< bytes
  std::uint64_t default_ttl_ns;  ///< 0: only what states its lifetime is stored
  std::uint64_t max_ttl_ns;
};
static_assert(sizeof(CacheRecord) == 32);

/// Whose word on whether a request is sampled goes before the percentage.
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

/// What clients may cost before they are of use; 0: no bound.
struct ClientLimitsRecord {
  std::uint64_t min_body_rate;  ///< of a request's body, bytes a second
  std::uint64_t body_grace_ns;  ///< before the rate counts, and for the first byte
  std::uint32_t max_connections_per_source;
  std::uint32_t max_streams_per_source;  ///< of HTTP/2, over all connections
};
static_assert(sizeof(ClientLimitsRecord) == 24);
/// Of a gateway that has none.
inline constexpr ClientLimitsRecord kUsualClientLimits{500, 10'000'000'000, 10'000, 10'000};

/// Rule D9.
struct SchemeRedirectRecord {
  StringRef scheme;
  std::uint32_t status;            ///< 300 to 399
  std::uint32_t port;              ///< 1 to 65535; shown in the location unless it is the scheme's own
  ArrayRef<StringRef> exclusions;  ///< one that ends in `/` is a prefix, any other is exact
};
static_assert(sizeof(SchemeRedirectRecord) == 24);

enum class TlsMode : std::uint32_t { kTerminate = 1, kPassthrough = 2 };
enum class TlsVersion : std::uint32_t { k12 = 12, k13 = 13 };

/// Of clients. Asked for without an authority nobody has one that does.
enum ClientCertificateNeed : std::uint32_t {
  kNoClientCertificate = 0,
  kNeedsClientCertificate = 1,
  kOptionalClientCertificate = 2,    ///< one that is shown must do
  kUnverifiedClientCertificate = 3,  ///< asked for, and served whatever is shown
};

struct ListenerTlsRecord {
  TlsMode mode;
  TlsVersion min_version;
  ArrayRef<SecretRecord> certificates;        ///< none: no handshake succeeds
  ArrayRef<SecretRecord> client_authorities;  ///< of which a client's certificate must be
  ClientCertificateNeed client_certificate;
  std::uint32_t needs_crl;  ///< 1: each authority of clients must have a list of what it has revoked, and in time
};
static_assert(sizeof(ListenerTlsRecord) == 32);

}  // namespace edge::program
