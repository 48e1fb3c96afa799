// Certificates that the controller orders from a CA (ACME, RFC 8555), as agents get them: all of one listener are one
// secret with a name that no resource has, so that a name that comes or goes recompiles nothing. Beside them the
// answers to challenges in progress, by which a CA validates a name at any agent.
#pragma once

#include <string>
#include <string_view>

namespace edge::program {

/// The name of a listener's secret, in its gateway's namespace. Its values have the keys of ordered_value_key().
std::string ordered_secret_name(std::string_view gateway, std::string_view listener);
bool is_ordered_secret(std::string_view name);
/// `host` is a name or `*.name`; `key` one of kCertificateKey, kPrivateKeyKey, kStapleKey.
std::string ordered_value_key(std::string_view host, std::string_view key);
/// Returns the host of a key, empty unless the key is for `key`.
std::string_view host_of_ordered_value(std::string_view value_key, std::string_view key);
/// The name of the Secret of type kubernetes.io/tls in which the certificate for a host is kept.
std::string certificate_secret_of(std::string_view host);

/// Of a listener's secret: patterns of the names that it gets certificates for when clients ask for them, one a line;
/// `*`: every name. Not there: none.
inline constexpr std::string_view kOnDemandKey = "on-demand";
/// The name of the Secret in which a listener's names are kept that clients have asked for, and its key: a JSON object
/// with the time when each was last used, in seconds since 1970.
std::string on_demand_secret_of(std::string_view secret);
inline constexpr std::string_view kOnDemandNamesKey = "names.json";

/// The secret with the answers to challenges; not there without any.
inline constexpr std::string_view kChallengeSpace = "edge-system";
inline constexpr std::string_view kChallengeName = "acme:challenges";
/// http-01 (RFC 8555 §8.3): the value is the key authorization, which is served in plain text under kChallengePath.
std::string http_challenge_key(std::string_view host, std::string_view token);
/// tls-alpn-01 (RFC 8737): the value is a certificate and its key, PEM.
std::string alpn_challenge_key(std::string_view host);
inline constexpr std::string_view kHttpChallenge = "http-01 ";
inline constexpr std::string_view kAlpnChallenge = "tls-alpn-01 ";
inline constexpr std::string_view kChallengePath = "/.well-known/acme-challenge/";

}  // namespace edge::program
