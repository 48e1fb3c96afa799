// Who an agent is to its controller: a key that never leaves this machine, and the certificate for it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::agent {

/// A fresh key on P-256, PKCS#8 PEM.
Result<std::string> make_private_key();
/// PKCS#10, PEM, for the key; signed with it. The controller chooses the name by the token's or certificate's owner.
Result<std::string> certificate_request(std::string_view private_key);

struct CertificateTimes {
  std::string name;  ///< CN
  std::chrono::system_clock::time_point from{};
  std::chrono::system_clock::time_point until{};
};
/// Of the first certificate in `pem`, which must be for `private_key`.
Result<CertificateTimes> certificate_times(std::string_view pem, std::string_view private_key);

/// Whether `pem` holds certificates, and nothing but ones that can be read.
bool are_certificates(std::string_view pem);

}  // namespace edge::agent
