// Who a certificate says that its holder is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/ip.h"

struct x509_st;

namespace edge::net::tls {

/// A certificate that verifies says no more than this; of one with more, nothing is believed.
inline constexpr std::size_t kMostPeerNames = 128;
inline constexpr std::size_t kMostPeerNameBytes = 8192;

struct PeerIdentity {
  /// It verifies, is valid now, and its names are text: without control bytes, URIs without dot segments, and within
  /// the bounds above. Otherwise nothing else is set.
  bool sound = false;
  /// It does not verify. Where neither is set, it verifies and its names are unusable.
  bool unverified = false;
  // Subject alternative names (RFC 5280 §4.2.1.6), in the order of the certificate.
  std::vector<std::string> dns_names{};  ///< lower case
  std::vector<std::string> uris{};       ///< as they are
  std::vector<std::string> emails{};     ///< domain in lower case
  std::vector<IpAddress> addresses{};
  bool has_alternative_names = false;       ///< of any kind
  std::vector<std::string> common_names{};  ///< all of the subject, in its order
  std::string subject{};                    ///< RFC 2253
  std::string fingerprint{};                ///< SHA-256 of the DER form, 64 hexadecimal digits in lower case
};

/// Never fails: what cannot be read is not sound. `verified`: the handshake's result; a session that is resumed has the
/// one of its first handshake, so that the time is looked at again.
PeerIdentity identity_of(const x509_st& certificate, bool verified);

}  // namespace edge::net::tls
