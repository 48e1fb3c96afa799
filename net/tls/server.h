// TLS for listeners: which site answers on one address, by the client's SNI.
//
// Everything here is immutable and shared by all threads. A handshake keeps the sites that it began with; later ones
// use replaced sites.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "net/tls/certificate.h"
#include "net/tls/tickets.h"

namespace edge::net::tls {

enum class Version : std::uint8_t { k12, k13 };

/// Whether client certificates are requested. kUnverified: clients are served with any certificate, and without one.
enum class ClientCertificate : std::uint8_t { kNone, kOptional, kRequired, kUnverified };

struct ServerSettings {
  Version min_version = Version::k12;
  ClientCertificate client_certificate = ClientCertificate::kNone;
  /// For all but kNone.
  std::shared_ptr<const Authorities> client_authorities{};
  /// Offers HTTP/2 before HTTP/1.1; without both the client's ALPN is ignored.
  bool offers_http2 = false;
  bool offers_http1 = true;
  /// For CAs that validate a name by tls-alpn-01: offers `acme-tls/1` and nothing else.
  bool answers_challenges = false;
};

/// The settings shared by listeners. Certificates are separate: thousands of them share one context.
class ServerContext {
 public:
  static Result<std::shared_ptr<const ServerContext>> make(ServerSettings settings);
  const ServerSettings& settings() const { return settings_; }
  ssl_ctx_st* handle() const { return handle_.get(); }

 private:
  ServerContext() = default;
  ServerSettings settings_;
  Handle<ssl_ctx_st> handle_;
};

struct ServerCertificate {
  std::shared_ptr<const Certificate> certificate;
  std::shared_ptr<const Staple> staple;  ///< null: none
};

/// Names that a listener gets a certificate for when a client asks for it (docs/certificates.md).
struct OnDemand {
  std::string name_space;  ///< of the listener's secret
  std::string secret;
  /// Canonical: a name, `*.name` for all names below it, `*` for every one.
  std::vector<std::string> patterns;

  bool allows(std::string_view name) const;
};

/// Whether all certificates of a site are usable. The host names of an unusable one are unknown.
enum class CertificateSet : std::uint8_t { kWhole, kIncomplete };

class Site {
 public:
  /// One listener. Sessions are resumed only within the same `identity`: sites with different requirements for clients
  /// differ in it.
  Site(std::shared_ptr<const ServerContext> context, std::vector<ServerCertificate> certificates,
       const std::array<std::uint8_t, 16>& identity, CertificateSet set = CertificateSet::kWhole,
       std::shared_ptr<const OnDemand> on_demand = nullptr);

  const ServerContext& context() const { return *context_; }
  const std::array<std::uint8_t, 16>& identity() const { return identity_; }
  /// Null: it gets no certificates on demand.
  const OnDemand* on_demand() const { return on_demand_.get(); }
  /// Returns the certificates for a name, at most one per type of key: for the name itself, else for a wildcard, else
  /// the site's first. An incomplete site returns no certificate of another host for a host name. `name` is canonical.
  std::vector<const ServerCertificate*> find(std::string_view name) const;

 private:
  using Indices = std::vector<std::uint32_t>;
  std::vector<const ServerCertificate*> of(const Indices& indices) const;

  std::shared_ptr<const ServerContext> context_;
  std::vector<ServerCertificate> certificates_;
  std::unordered_map<std::string, Indices> by_name_;
  std::array<std::uint8_t, 16> identity_;
  CertificateSet set_;
  std::shared_ptr<const OnDemand> on_demand_;
};

/// What is shown to CAs that validate a name by tls-alpn-01 (RFC 8737), by canonical host name.
struct ChallengeSites {
  std::shared_ptr<const ServerContext> context;
  std::unordered_map<std::string, std::shared_ptr<const Site>> by_name;
};

/// The listeners of one address and port, by host name (rule D2: exact, then the longest wildcard, then the rest).
class Sites {
 public:
  explicit Sites(std::shared_ptr<TicketKeys> tickets) : tickets_(std::move(tickets)) {}
  /// `pattern`: a name, `*.name`, or empty for all other names and none.
  void add(const std::string& pattern, std::shared_ptr<const Site> site);
  /// Returns the site for a name; null when there is none. `name` is canonical, empty without SNI.
  const Site* find(std::string_view name) const;
  /// Returns some site, for what is needed before the name is known; null when there is none.
  const Site* any() const { return any_.get(); }
  TicketKeys& tickets() const { return *tickets_; }
  /// Sets what clients are shown that offer `acme-tls/1` and nothing else; null: they are served as all others.
  void answer_challenges(std::shared_ptr<const ChallengeSites> challenges) { challenges_ = std::move(challenges); }
  const ChallengeSites* challenges() const { return challenges_.get(); }

 private:
  std::shared_ptr<TicketKeys> tickets_;
  std::unordered_map<std::string, std::shared_ptr<const Site>> exact_;
  std::unordered_map<std::string, std::shared_ptr<const Site>> wildcard_;
  std::shared_ptr<const Site> fallback_;
  std::shared_ptr<const Site> any_;
  std::shared_ptr<const ChallengeSites> challenges_;
};

/// The protocol of connections that only validate a name (RFC 8737 §6.2); nothing is served on them.
inline constexpr std::string_view kChallengeProtocol = "acme-tls/1";

/// Parses the body of a ClientHello's server_name extension (RFC 6066 §3). Empty when it has no host name; nullopt when
/// it is malformed.
std::optional<std::string_view> server_name_in(std::string_view extension);

}  // namespace edge::net::tls
