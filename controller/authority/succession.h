// The CAs of an authority, one after the other: that which signs now, the next one while agents learn of it, and the
// one before until its certificates are over. Part of the authority, which provides locking and clock.
//
//   age of the CA    4/5 of kAuthorityLifetime: the next one is made, and trusted beside this one
//   age of the next  kAgentLifetime: it signs; the one before stays trusted
//                    2 * kAgentLifetime: it is the only one
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/authority/certificates.h"

namespace edge::controller {

class Succession {
 public:
  /// `directory` has ca.pem, ca-next.pem, ca-previous.pem, and roots.pem.
  explicit Succession(std::string directory) : directory_(std::move(directory)) {}

  /// Reads the files, and makes the first CA. `replace_early`: see AuthorityOptions. To be called once, before anything
  /// else.
  Status load(WallTime now, bool replace_early);
  /// Writes roots.pem where it has another text.
  Status write_roots();

  enum class Step {
    kNone,
    kTrust,  ///< other CAs are trusted
    kIssuer  ///< and another one signs
  };
  /// Does what is due. Steps are taken from files and clock alone, so that a controller which ends between two goes on
  /// where it was. roots.pem is written.
  Result<Step> follow(WallTime now);
  /// Makes the next CA; nothing when there is one.
  Status begin_next(WallTime now);

  const Issuer& current() const { return *current_; }
  /// Certificates of all that are trusted, PEM.
  const std::string& roots() const { return roots_; }
  /// Whether a certificate is of one of them.
  bool has_issued(std::string_view certificate) const;

 private:
  std::string path(std::string_view file) const { return directory_ + "/" + std::string(file); }
  Status make_current(WallTime now);

  const std::string directory_;
  std::optional<Issuer> current_;  ///< set by `load`
  std::optional<Issuer> next_;
  std::string previous_;  ///< certificate; empty: none
  std::string roots_;
};

}  // namespace edge::controller
