// Ed25519 signatures of versions by the keys that clusters sign their programs with (program/sign.h).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/federation/version.h"
#include "program/sign.h"

namespace edge::federation {

/// The own key, and public keys by the UID of their cluster. Not thread-safe.
class ClusterKeys {
 public:
  explicit ClusterKeys(program::SigningKey own) : own_(std::move(own)) {}

  /// kInvalidArgument: it is no Ed25519 key in PEM form.
  Status add(const std::string& cluster, std::string_view public_pem);
  /// Its functions use this object, which outlives them.
  Signatures signatures() const;

 private:
  program::SigningKey own_;
  std::map<std::string, program::VerifyKey> others_;
};

}  // namespace edge::federation
