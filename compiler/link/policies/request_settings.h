// Settings of the policies ClientCertificate and RequestFilter. Part of LinkedPolicy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ip.h"

namespace edge::compiler {

/// What certificates are known by; each list ascends.
struct CertificateNames {
  std::vector<std::string> dns_names{};  ///< lower case; `*.` before one: all below it
  std::vector<std::string> uris{};
  std::vector<std::string> uri_prefixes{};
  std::vector<std::string> emails{};  ///< domain in lower case
  std::vector<Cidr> addresses{};      ///< as written
  std::vector<std::string> common_names{};
  std::vector<std::string> fingerprints{};  ///< 64 hexadecimal digits in lower case
};

struct ClientCertificateSettings {
  bool allows_all = true;  ///< that verify
  CertificateNames allow{};
  CertificateNames deny{};        ///< takes precedence
  std::string identity_header{};  ///< lower case; empty: not sent
  bool forwards = false;          ///< X-Forwarded-Client-Cert
};

struct HeaderPattern {
  std::string name{};  ///< lower case; empty: every header
  std::string pattern{};
};

/// Limits: 0 for none.
struct RequestFilterSettings {
  bool shadow = false;  ///< requests at fault are counted, and pass
  std::uint32_t status = 0;
  std::uint32_t max_headers = 0;
  std::uint32_t max_query_parameters = kNoLimit;
  std::uint64_t max_header_size = 0;
  std::uint64_t max_headers_size = 0;
  std::uint64_t max_body_size = 0;
  std::uint64_t inspected_body_size = 0;
  std::vector<std::string> methods{};        ///< empty: all
  std::vector<std::string> content_types{};  ///< lower case; `type/*`; empty: all
  std::vector<std::string> paths{};          ///< patterns
  std::vector<std::string> queries{};
  std::vector<HeaderPattern> headers{};
  std::vector<std::string> bodies{};

  static constexpr std::uint32_t kNoLimit = 0xffff'ffff;
};

}  // namespace edge::compiler
