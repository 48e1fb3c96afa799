// Answers to challenges of CAs (ACME): what is served and shown while the controller orders a certificate. Immutable,
// shared by all threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/tls/server.h"
#include "program/values/secrets.h"

namespace edge::runtime {

class Challenges {
 public:
  /// Null: there is none. `faults`: gets a line for each certificate that cannot be used.
  static std::shared_ptr<const Challenges> make(const program::SecretSet& secrets, std::vector<std::string>& faults);

  /// Returns the key authorization for a path of plain HTTP (RFC 8555 §8.3); null: this is no challenge's path.
  /// `host` is canonical, `path` normalised.
  const std::string* find(std::string_view host, std::string_view path) const;
  /// Returns what is shown to a CA that validates by tls-alpn-01; null: nothing.
  const std::shared_ptr<const net::tls::ChallengeSites>& sites() const { return sites_; }

 private:
  std::unordered_map<std::string, std::string> by_name_;  ///< by `host/token`
  std::shared_ptr<const net::tls::ChallengeSites> sites_;
};

}  // namespace edge::runtime
