// What a certificate says of itself, without its key: for people who look at it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::net::tls {

struct CertificateFacts {
  std::vector<std::string> names;  ///< host names, lower case
  std::string subject;             ///< common name, else the whole name
  std::string issuer;
  std::int64_t not_before = 0;  ///< seconds since 1970
  std::int64_t not_after = 0;
  std::string key_type;           ///< `RSA 2048`, `EC 256`
  std::size_t intermediates = 0;  ///< certificates after it
  bool self_signed = false;       ///< subject and issuer are the same
};

/// Reads the first certificate of a chain in PEM.
Result<CertificateFacts> certificate_facts(std::string_view chain);

}  // namespace edge::net::tls
