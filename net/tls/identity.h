// A key that never leaves its machine, and its certificate of an authority: for who connects to a controller.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::net::tls {

/// Generates a P-256 key, PKCS#8 PEM.
Result<std::string> make_private_key();
/// Returns a request (PKCS#10, PEM) signed with the key. Who issues the certificate determines the name.
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

}  // namespace edge::net::tls
