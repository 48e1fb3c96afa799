// Settings of gateways, listeners and backends with defaults filled in. Part of LinkedConfig. A feature that is off is
// an absent optional, so that `enabled` need not be checked. Sizes are bytes, times nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "compiler/link/policies/linked_policy.h"
#include "program/format/format.h"

namespace edge::compiler {

// ---- Gateways -------------------------------------------------------------------------------------------------------

enum class ContentCoding : std::uint8_t { kGzip, kBrotli };

/// Rule D6.
struct CompressionSettings {
  std::uint64_t min_size = 0;
  std::uint8_t level = 0;                    ///< gzip 1 to 9, brotli 0 to 11; gzip takes 0 as 1 and 10, 11 as 9
  std::vector<ContentCoding> algorithms{};   ///< in order of preference, none twice
  std::vector<std::string> exclude_types{};  ///< lower case; a final `*` matches anything
  std::vector<std::string> include_types{};  ///< compressed although an excluded pattern matches them
  program::CompressedFor compressed_for = program::CompressedFor::kAll;
};

struct CacheSettings {
  std::uint64_t max_size = 0;
  std::uint64_t max_entry_size = 0;
  std::chrono::nanoseconds default_ttl{0};  ///< 0: responses without a lifetime are not stored
  std::chrono::nanoseconds max_ttl{0};
};

struct TracingSettings {
  std::uint8_t sampling_percent = 0;  ///< 0 to 100
  program::TraceSenders believed = program::TraceSenders::kTrustedProxies;
};

struct AccessLogSettings {
  std::string format{};  ///< `json`, `common`, `combined`, or a template with %{...}
  std::vector<std::string> exclude_paths{};
};

/// Limits on clients; 0: unlimited.
struct ClientLimits {
  std::uint64_t min_body_rate = 0;  ///< bytes per second
  std::chrono::nanoseconds body_grace{0};
  std::uint32_t max_connections_per_source = 0;
  std::uint32_t max_streams_per_source = 0;

  bool operator==(const ClientLimits&) const = default;
};

// ---- Listeners ------------------------------------------------------------------------------------------------------

/// Rule D9.
struct SchemeRedirectSettings {
  std::string scheme{};
  std::uint16_t port = 0;  ///< in the location unless it is 443
  std::uint16_t status = 0;
  std::vector<std::string> exclusions{};  ///< one that ends in `/` is a prefix, any other is exact
};

enum class TlsMode : std::uint8_t { kTerminate, kPassthrough };
enum class TlsVersion : std::uint8_t { k12, k13 };

struct CertificateName {
  std::string name_space{};
  std::string name{};  ///< of a secret of type kubernetes.io/tls: tls.crt and tls.key
};

enum class ChallengeKind : std::uint8_t { kHttp01, kTlsAlpn01, kDns01 };
enum class CertificateKeyType : std::uint8_t { kEc256, kEc384, kRsa2048, kRsa3072, kRsa4096 };

struct AcmeAuthority {
  std::string directory{};
  std::string staging{};     ///< for trials after failures; empty: none
  std::string ca_secret{};   ///< `ca.crt`; empty: the system's authorities. Secrets are of the listener's namespace
  std::string key_id{};      ///< of an external account; empty: none
  std::string key_secret{};  ///< `hmac`
  std::string preferred_chain{};
  friend bool operator==(const AcmeAuthority&, const AcmeAuthority&) = default;
};

struct DnsUpdates {
  bool hook = false;  ///< by the controller's program; the fields below are of RFC 2136
  std::string server{};
  std::string zone{};
  std::string key_name{};
  std::string key_algorithm{};
  std::string key_secret{};  ///< `secret`
  std::chrono::nanoseconds propagation_delay{0};
  friend bool operator==(const DnsUpdates&, const DnsUpdates&) = default;
};

/// From whom and how certificates are ordered.
struct AcmeSettings {
  std::string issuer{};  ///< name of the CertificateIssuer; empty: the listener's own settings
  std::string email{};
  CertificateKeyType key_type = CertificateKeyType::kEc256;
  std::vector<ChallengeKind> challenges{};
  std::vector<AcmeAuthority> authorities{};
  std::optional<DnsUpdates> dns{};
  friend bool operator==(const AcmeSettings&, const AcmeSettings&) = default;
};

/// Names that a listener gets certificates for when clients ask for them.
struct OnDemandSettings {
  std::vector<std::string> allow{};  ///< canonical names and `*.name`
  std::string ask_url{};             ///< for all others; empty: they are refused
  std::uint32_t max_names = 0;
  std::chrono::seconds keep_unused{0};
  friend bool operator==(const OnDemandSettings&, const OnDemandSettings&) = default;
};

struct ListenerTls {
  TlsMode mode = TlsMode::kTerminate;
  TlsVersion min_version = TlsVersion::k12;
  /// Resolved ones, in order; none: no handshake succeeds.
  std::vector<CertificateName> certificates{};
  /// Replaces them: certificates are ordered for the names of the listener, or of its routes where it has none.
  std::optional<AcmeSettings> acme{};
  std::optional<OnDemandSettings> on_demand{};  ///< of `acme`
  /// Whether clients must present a certificate of one of these CAs (`ca.crt`); without any no client can.
  bool needs_client_certificate = false;
  /// With the former: clients without a certificate are served too.
  bool client_certificate_optional = false;
  /// One that does not verify is accepted (AllowInsecureFallback).
  bool client_certificate_unverified = false;
  std::vector<SecretKey> client_authorities{};
  /// Each of them must have a valid revocation list (`ca.crl`).
  bool requires_crl = false;
};

// ---- Backends -------------------------------------------------------------------------------------------------------

enum class ProbeProtocol : std::uint8_t { kHttp, kTcp, kGrpc };

struct ProbeHeader {
  std::string name{};  ///< lower case
  std::string value{};
};

struct HealthCheckSettings {
  ProbeProtocol protocol = ProbeProtocol::kHttp;
  std::chrono::nanoseconds interval{0};
  std::chrono::nanoseconds timeout{0};
  std::chrono::nanoseconds initial_delay{0};
  std::uint32_t healthy_threshold = 0;
  std::uint32_t unhealthy_threshold = 0;
  std::string path{};                              ///< HTTP
  std::string host{};                              ///< HTTP; empty: the endpoint's address
  std::vector<std::uint16_t> expected_statuses{};  ///< HTTP; ascending
  std::vector<ProbeHeader> headers{};              ///< HTTP
  std::string grpc_service{};                      ///< empty: the whole server
};

/// Ejection of single endpoints by the results of requests (passiveHealthCheck).
struct PassiveCheckSettings {
  std::uint32_t consecutive_errors = 0;          ///< 0: not counted
  std::uint32_t consecutive_gateway_errors = 0;  ///< 5xx responses; 0: not counted
  std::chrono::nanoseconds interval{0};
  std::chrono::nanoseconds base_ejection_time{0};
  std::uint8_t max_ejection_percent = 0;
  /// The field with the percentage, or the check whose default it is.
  std::string_view percent_field{};
  Span percent_span{};
};

/// Its maxConnections and maxPendingRequests further limit those of LinkedBackend.
struct CircuitBreakerSettings {
  std::uint32_t consecutive_errors = 0;  ///< 0: never opens
  std::chrono::nanoseconds interval{0};
  std::chrono::nanoseconds open_time{0};
  std::uint8_t max_ejection_percent = 0;
  bool split_local_errors = false;  ///< local errors (connect failures) and responses are counted separately
};

struct SubjectName {
  bool uri = false;  ///< else a DNS name
  std::string name{};
};

/// TLS to the endpoints.
struct BackendTlsSettings {
  std::string server_name{};  ///< sent as SNI; the certificate must be for it
  bool system_authorities = false;
  std::vector<SecretKey> authorities{};  ///< `ca.crt`
  /// The certificate must have one of these; empty: it must be for `server_name`.
  std::vector<SubjectName> alternative_names{};
  std::optional<CertificateName> client_certificate{};
  /// No CA resolves: connections are refused instead of made without verification.
  bool refused = false;
};

}  // namespace edge::compiler
