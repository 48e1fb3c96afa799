// A provider's metadata (OpenID Connect Discovery 1.0 §3), as far as a login needs it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/client/url.h"

namespace edge::runtime::auth {

/// How the client authenticates when it exchanges a code (OpenID Connect Core §9).
enum class ClientAuthentication : bool { kBasic, kPost };

struct OidcProvider {
  std::string issuer;
  /// The URL for browsers, to which parameters are added.
  std::string authorization_endpoint;
  net::client::Url token_endpoint;
  net::client::Url jwks_uri;
  std::optional<net::client::Url> userinfo_endpoint;
  /// Empty: the provider has no logout for clients.
  std::string end_session_endpoint;
  ClientAuthentication authentication = ClientAuthentication::kBasic;
  /// For id tokens: those that the provider lists and a public key can verify; never empty.
  std::vector<std::string> algorithms;
  /// Whether responses name their issuer (RFC 9207), and must be rejected without it.
  bool issuer_in_answers = false;
};

/// Returns the URL of the metadata (§4). Fails for an issuer without https, unless it is on this machine.
Result<net::client::Url> discovery_url(std::string_view issuer);

/// Parses the metadata. Fails unless its issuer equals `issuer` exactly, and all required members are present. Every
/// endpoint must use https where the issuer does. The error quotes nothing.
Result<OidcProvider> read_discovery(std::string_view document, std::string_view issuer);

}  // namespace edge::runtime::auth
