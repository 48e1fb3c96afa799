// The server's side: how the listeners of one address answer, by the name that a client asks for.
//
// Everything here is immutable and shared by the threads. A handshake holds the names that it began with; once they are
// replaced the next one takes the new.
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

/// Of clients.
/// kUnverified: asked for, and served with any certificate or none; one that is not vouched for is nobody's.
enum class ClientCertificate : std::uint8_t { kNone, kOptional, kRequired, kUnverified };

struct ServerSettings {
  Version min_version = Version::k12;
  ClientCertificate client_certificate = ClientCertificate::kNone;
  /// With all but kNone.
  std::shared_ptr<const Authorities> client_authorities{};
  /// Offers HTTP/2 before HTTP/1.1; with neither the client's ALPN is passed over.
  bool offers_http2 = false;
  bool offers_http1 = true;
};

/// What listeners with the same settings share. Certificates are apart: thousands of them need no more of these.
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

/// One listener.
/// Whether all certificates that a site should have can be used. Where one cannot, nobody knows which names it is for.
enum class CertificateSet : std::uint8_t { kWhole, kIncomplete };

class Site {
 public:
  /// Sessions are resumed within one `identity` alone: two sites that ask different things of a client differ in it.
  Site(std::shared_ptr<const ServerContext> context, std::vector<ServerCertificate> certificates,
       const std::array<std::uint8_t, 16>& identity, CertificateSet set = CertificateSet::kWhole);

  const ServerContext& context() const { return *context_; }
  const std::array<std::uint8_t, 16>& identity() const { return identity_; }
  /// Those for a name, at most one a kind of key: of the name itself, else of a wildcard, else the site's first. An
  /// incomplete site shows a client that names a host no certificate of other hosts. `name` is canonical.
  std::vector<const ServerCertificate*> find(std::string_view name) const;

 private:
  using Indices = std::vector<std::uint32_t>;
  std::vector<const ServerCertificate*> of(const Indices& indices) const;

  std::shared_ptr<const ServerContext> context_;
  std::vector<ServerCertificate> certificates_;
  std::unordered_map<std::string, Indices> by_name_;
  std::array<std::uint8_t, 16> identity_;
  CertificateSet set_;
};

/// The listeners of one address and port, by host name (rule D2: exact, then the longest wildcard, then the rest).
class Sites {
 public:
  explicit Sites(std::shared_ptr<TicketKeys> tickets) : tickets_(std::move(tickets)) {}
  /// `pattern`: a name, `*.name`, or empty for every other name and none.
  void add(const std::string& pattern, std::shared_ptr<const Site> site);
  /// Null when nobody serves it. `name` is canonical, empty without SNI.
  const Site* find(std::string_view name) const;
  /// Some site, for what has to be made before the name is known; null when there is none.
  const Site* any() const { return any_.get(); }
  TicketKeys& tickets() const { return *tickets_; }

 private:
  std::shared_ptr<TicketKeys> tickets_;
  std::unordered_map<std::string, std::shared_ptr<const Site>> exact_;
  std::unordered_map<std::string, std::shared_ptr<const Site>> wildcard_;
  std::shared_ptr<const Site> fallback_;
  std::shared_ptr<const Site> any_;
};

/// The host name in the body of a ClientHello's server_name extension (RFC 6066 §3). Empty when the extension names
/// none; nullopt when it is malformed.
std::optional<std::string_view> server_name_in(std::string_view extension);

}  // namespace edge::net::tls
