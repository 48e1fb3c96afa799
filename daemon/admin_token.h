// The token that changes by an admin port must show. The port is open to every user of the machine, and to what a proxy
// there can be led to ask; the file is its owner's alone. Decision 0096.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "daemon/admin.h"

namespace edge::daemon {

/// Immutable.
class AdminToken {
 public:
  /// The token in `path` (mode 0600), made where there is none, so that a process that takes over has the same. Empty:
  /// a directory of this process, which goes with it; the one of $RUNTIME_DIRECTORY where systemd gives one.
  static Result<AdminToken> open(std::string path);
  /// Nobody has it.
  AdminToken() = default;
  ~AdminToken();
  AdminToken(AdminToken&& other) noexcept;
  AdminToken& operator=(AdminToken&& other) noexcept;

  const std::string& path() const { return path_; }
  /// The refusal (401, which names the file) of what may change something and does not show the token. nullopt: it
  /// does, or only reads. In a time that tells nothing of the token.
  std::optional<AdminReply> refuse(const AdminRequest& request) const;

 private:
  std::string path_;
  std::string token_;
  std::string own_directory_;  ///< goes with this
};

}  // namespace edge::daemon
