// What a cluster connects to its hub with: certificate, key, and whom to believe. As a text it is the join file that
// `edgectl cluster add` writes, and what the cluster's controller keeps in its data directory.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/authority/certificates.h"

namespace edge::controller {

struct RemoteIdentity {
  std::string hub;          ///< `HOST:PORT`
  std::string cluster;      ///< its name at the hub
  std::string certificate;  ///< PEM
  std::string key;          ///< PEM
  std::string authorities;  ///< PEM
  /// PEM of the key that the hub signs programs with; empty: an older hub did not say it.
  std::string program_key{};
  Validity validity{};
  /// Fingerprint of the join file that it began with; empty: this is one.
  std::string joined_with{};
};

/// kInvalidArgument: the text is none.
Result<RemoteIdentity> read_remote_identity(std::string_view text);
std::string text_of(const RemoteIdentity& identity);
/// Tells one join file from another.
std::string fingerprint_of(std::string_view text);

}  // namespace edge::controller
