// The token required for changes by an admin port. The port is open to every user of the machine, and to requests that
// a proxy there can be made to send; only the owner can read the token's file. Decision 0096.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "daemon/admin.h"

namespace edge::daemon {

/// Immutable.
class AdminToken {
 public:
  /// Reads the token in `path` (mode 0600), created when missing, so that a process that takes over has the same.
  /// Empty: a directory of this process, removed at its end; $RUNTIME_DIRECTORY if systemd sets it.
  static Result<AdminToken> open(std::string path);
  /// A token that no request can have.
  AdminToken() = default;
  ~AdminToken();
  AdminToken(AdminToken&& other) noexcept;
  AdminToken& operator=(AdminToken&& other) noexcept;

  const std::string& path() const { return path_; }
  /// Returns a 401, which names the file, for a request that may change something and does not have the token. nullopt:
  /// it has, or only reads. In constant time.
  std::optional<AdminReply> refuse(const AdminRequest& request) const;

 private:
  std::string path_;
  std::string token_;
  std::string own_directory_;  ///< removed by the destructor
};

}  // namespace edge::daemon
