#include "program/session_secret.h"

#include <memory>
#include <string>
#include <utility>

namespace edge::program {

std::optional<NamedSecret> session_secret(const SigningKey& key) {
  std::string secret = key.derived_secret("session persistence 1");
  if (secret.empty()) return std::nullopt;
  NamedSecret named{std::string(kSessionSecretSpace), std::string(kSessionSecretName), {}};
  named.values.push_back({std::string(kSessionSecretKey), std::make_shared<const std::string>(std::move(secret))});
  return named;
}

}  // namespace edge::program
