// The expiry of a certificate used by listeners or for backends.
#pragma once

#include <cstdint>
#include <string>

namespace edge::runtime {

struct CertificateExpiry {
  std::string secret;          ///< `namespace/name`, or the path of a file
  std::int64_t not_after = 0;  ///< seconds since 1970
};

}  // namespace edge::runtime
