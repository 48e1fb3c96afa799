// An agent's identity for its controller: a key that never leaves this machine, and its certificate.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::agent {

/// Generates a P-256 key, PKCS#8 PEM.
Result<std::string> make_private_key();
/// Returns a request (PKCS#10, PEM) signed with the key. The controller determines the name from the token or
/// certificate.
Result<std::string> certificate_request(std::string_view private_key);

struct CertificateTimes {
  std::string name;  ///< CN
  std::chrono::system_clock::time_point from{};
  std::chrono::system_clock::time_point until{};
};
/// Parses the first certificate in `pem`, which must be for `private_key`.
Result<CertificateTimes> certificate_times(std::string_view pem, std::string_view private_key);

/// Returns whether `pem` contains only valid certificates, at least one.
bool are_certificates(std::string_view pem);

}  // namespace edge::agent
