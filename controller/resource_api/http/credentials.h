// What the resource API is known by, and whom it knows: an authority of its own, tokens, and the kubeconfig that holds
// what an administrator needs. Decision 0054.
//
// Its directory (mode 0700, files 0600) holds
//
//   ca.pem        certificate and key of the authority; ca.crt the certificate alone, for who is to believe it
//   server.pem    certificate and key that the API shows
//   admin.pem     of the administrator `edge-admin`, of group system:masters
//   token         the administrator's token
//   revoked-before  since when the administrator's certificates hold, in milliseconds; those before are refused
//   tokens        further ones, by whoever runs the API: `token user group,group` a line. A change counts at once
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
  /// Names and addresses by which clients reach the API, beside localhost, 127.0.0.1, ::1 and the host's own name.
  std::vector<std::string> hosts{};
  /// Null: the system's.
  std::function<controller::WallTime()> clock{};
};

/// Everybody who was recognised is in it.
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
/// May do everything.
inline constexpr std::string_view kMastersGroup = "system:masters";

/// On one thread.
class Credentials {
 public:
  /// Makes what is not there yet.
  static Result<std::unique_ptr<Credentials>> open(CredentialsOptions options);
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  /// In a time that tells nothing of the tokens there are.
  std::optional<User> user_of_token(std::string_view token);
  /// Of a certificate that TLS has found to be of our authority. nullopt: it names nobody, or is refused.
  std::optional<User> user_of(const net::server::ClientName& name) const;
  /// Of parts of this process, which need no file: the administrator, until the process ends.
  const std::string& own_token() const;
  /// Replaces the administrator's certificate and token where the file base/os/operator_files.h asks for it; what was
  /// issued before is refused from then on. Cheap when it does not. \returns whether it did.
  Result<bool> replace_if_asked();
  /// How often that was done: who was let in before is to be looked at again.
  std::uint64_t replacements() const;

  /// For connections from now on.
  std::shared_ptr<const net::tls::Sites> tls() const;
  /// Renews certificates at two thirds of their time. Call it every minute or so.
  /// \returns whether `tls` changed.
  Result<bool> tend();
  /// Writes the administrator's kubeconfig, unless the same stands there. `server`: `https://127.0.0.1:6443`.
  Status write_kubeconfig(const std::string& path, const std::string& server) const;

  const std::string& authority() const;

 private:
  struct Impl;
  explicit Credentials(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::resource_api::http
