// Settings of ProxyPolicies of type ClientCertificate and RequestFilter, as written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::model {

/// What certificates are known by: any of them.
struct CertificateNames {
  Strings dns_names{};  ///< `*.` before one: all below it
  Strings uris{};
  Strings uri_prefixes{};
  Strings emails{};
  std::vector<Located<Cidr>> addresses{};
  Strings common_names{};
  Strings fingerprints{};
};

/// Access by the client's certificate.
struct ClientCertificate {
  std::optional<CertificateNames> allow{};
  CertificateNames deny{};
  Maybe<std::string> identity_header{};
  Maybe<bool> forwards{};
};

struct HeaderPattern {
  Maybe<std::string> name{};  ///< every header without it
  Located<std::string> pattern;
};

/// What requests may consist of.
struct RequestFilter {
  Maybe<std::string> action{};
  Maybe<std::int64_t> status{};
  Maybe<std::int64_t> max_headers{};
  Maybe<std::uint64_t> max_header_size{};
  Maybe<std::uint64_t> max_headers_size{};
  Maybe<std::uint64_t> max_body_size{};
  Maybe<std::int64_t> max_query_parameters{};
  Strings methods{};
  Strings content_types{};
  Strings paths{};
  Strings queries{};
  std::vector<HeaderPattern> headers{};
  Strings bodies{};
  Maybe<std::uint64_t> inspected_body_size{};
};

}  // namespace edge::compiler::model
