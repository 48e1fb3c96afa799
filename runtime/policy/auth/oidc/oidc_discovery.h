// The document in which a provider describes itself (OpenID Connect Discovery 1.0 §3), as far as a login needs it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/client/url.h"

namespace edge::runtime::auth {

/// How the client says who it is when it exchanges a code (OpenID Connect Core §9).
enum class ClientAuthentication : bool { kBasic, kPost };

struct OidcProvider {
  std::string issuer;
  /// A browser is sent there: text, to which parameters are added.
  std::string authorization_endpoint;
  net::client::Url token_endpoint;
  net::client::Url jwks_uri;
  std::optional<net::client::Url> userinfo_endpoint;
  /// Empty: the provider ends no session for us.
  std::string end_session_endpoint;
  ClientAuthentication authentication = ClientAuthentication::kBasic;
  /// Of id tokens: what the provider names and a public key can check; never empty.
  std::vector<std::string> algorithms;
  /// Answers say who they are from (RFC 9207), and one that does not is somebody else's.
  bool issuer_in_answers = false;
};

/// Where the document is (§4). Fails for an issuer that no document can be asked of: not https, but for a provider on
/// this very machine.
Result<net::client::Url> discovery_url(std::string_view issuer);

/// Fails unless the document is about `issuer`, letter by letter, and has what is needed. Every endpoint must be https
/// where the issuer is. The error quotes nothing.
Result<OidcProvider> read_discovery(std::string_view document, std::string_view issuer);

}  // namespace edge::runtime::auth
