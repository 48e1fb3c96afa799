// Installs a program in the data plane: parses, verifies, loads, swaps.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/sign.h"
#include "program/values/endpoints.h"
#include "program/values/secrets.h"
#include "runtime/session/server.h"

namespace edge::agent {

/// For one thread, which is the only one that installs.
class Installer {
 public:
  /// Without a key any program is accepted: `--allow-unsigned` and tests.
  Installer(runtime::Server& server, std::optional<program::VerifyKey> key);

  /// Sets the key for the next programs.
  void trust(program::VerifyKey key) { key_ = std::move(key); }

  enum class InstallResult { kUnchanged, kFirst, kReplaced };
  /// Makes `bytes` the running program, with its `endpoints` and `secrets`. On failure the running program stays.
  /// Values of the old program are kept until the new one has taken over, so that no request finds a backend without
  /// endpoints in between, and no client a listener without its certificate.
  Result<InstallResult> apply(std::shared_ptr<const std::vector<std::byte>> bytes,
                              const program::EndpointSet& endpoints, const program::SecretSet& secrets);

 private:
  runtime::Server& server_;
  std::optional<program::VerifyKey> key_;
  program::EndpointSet endpoints_;
  program::SecretSet secrets_;
};

}  // namespace edge::agent
