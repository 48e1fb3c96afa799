// CertificateIssuer, and the same settings in a listener, as written: without defaults.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hostname.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::model {

struct CertificateAuthority {
  Maybe<std::string> directory{};
  Maybe<std::string> ca_secret{};
  Maybe<std::string> account_key_id{};
  Maybe<std::string> account_key_secret{};
  Maybe<std::string> preferred_chain{};
};

struct DnsChallenge {
  Span span{};
  Maybe<std::string> provider{};
  Maybe<std::string> server{};
  Maybe<std::string> zone{};
  Maybe<std::string> key_name{};
  Maybe<std::string> key_algorithm{};
  Maybe<std::string> key_secret{};
  Maybe<std::chrono::nanoseconds> propagation_delay{};
};

struct IssuerSpec {
  Maybe<std::string> email{};
  Maybe<std::string> key_type{};
  Maybe<std::string> staging{};
  std::vector<Located<std::string>> challenges{};
  /// The first is the issuer's own; in order of preference.
  std::vector<CertificateAuthority> authorities{};
  std::optional<DnsChallenge> dns{};
};

struct CertificateIssuer {
  Metadata metadata;
  IssuerSpec spec{};
};

struct OnDemandNames {
  Span span{};
  std::vector<Located<HostPattern>> allow{};
  Maybe<std::string> ask_url{};
  Maybe<std::int64_t> max_names{};
  Maybe<std::chrono::nanoseconds> keep_unused{};
};

/// `tls.acme` of a listener: one of the two.
struct ListenerAcme {
  Span span{};
  Maybe<std::string> issuer{};  ///< of the gateway's namespace
  IssuerSpec spec{};
  std::optional<OnDemandNames> on_demand{};
};

}  // namespace edge::compiler::model
