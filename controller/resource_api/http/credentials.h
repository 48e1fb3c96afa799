// The resource API's server credentials, and its users: a CA of its own, tokens, and the administrator's kubeconfig.
// Decision 0054.
//
// Its directory (mode 0700, files 0600) contains
//
//   ca.pem        certificate and key of the CA; ca.crt its certificate alone, for clients
//   server.pem    the API's server certificate and key
//   admin.pem     of the administrator `edge-admin`, of group system:masters
//   token         the administrator's token
//   issued-until    likewise; no certificate of the administrator was issued later
//   revoked-before  time in milliseconds; the administrator's certificates from before are rejected
//   tokens        further ones, by the operator: `token user group,group` a line. A change takes effect at once
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "controller/authority/certificates.h"
#include "controller/resource_api/api.h"
#include "net/server/message.h"
#include "net/tls/server.h"

namespace edge::resource_api::http {

struct CredentialsOptions {
  std::string directory;
  /// Names and addresses by which clients reach the API, in addition to localhost, 127.0.0.1, ::1 and the host's own
  /// name.
  std::vector<std::string> hosts{};
  /// Null: the system clock.
  std::function<controller::WallTime()> clock{};
};

/// The group of all authenticated users.
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
/// Members may do everything.
inline constexpr std::string_view kMastersGroup = "system:masters";

/// Not thread-safe.
class Credentials {
 public:
  /// Creates missing files.
  static Result<std::unique_ptr<Credentials>> open(CredentialsOptions options);
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  /// Returns a token's user; in constant time.
  std::optional<User> user_of_token(std::string_view token);
  /// Returns the user of a certificate that TLS has verified to be from this CA. nullopt: it names no user, or is
  /// rejected.
  std::optional<User> user_of(const net::server::ClientName& name) const;
  /// Returns a token for parts of this process, which need no file: the administrator's, valid until the process ends.
  const std::string& own_token() const;
  /// Replaces the administrator's certificate and token where the file of base/os/operator_files.h requests it; earlier
  /// ones are rejected from then on. Cheap when it does not. \returns whether it did.
  Result<bool> replace_if_asked();
  /// Returns how often that happened: earlier authentications must then be checked again.
  std::uint64_t replacements() const;

  /// Returns the settings for new connections.
  std::shared_ptr<const net::tls::Sites> tls() const;
  /// Renews certificates after two thirds of their lifetime. To be called about once a minute. \returns whether `tls`
  /// changed.
  Result<bool> tend();
  /// Writes the administrator's kubeconfig, unless it is the same already. `server`: `https://127.0.0.1:6443`.
  Status write_kubeconfig(const std::string& path, const std::string& server) const;

  const std::string& authority() const;

 private:
  struct Impl;
  explicit Credentials(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::resource_api::http
