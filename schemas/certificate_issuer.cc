#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kDnsProviders[] = {"RFC2136", "Hook"};
constexpr std::string_view kDnsAlgorithms[] = {"hmac-sha256", "hmac-sha384", "hmac-sha512"};

constexpr Field kAccountFields[] = {
    string("keyID", "Key identifier that the CA has given out.").needed(),
    string("keySecret", "Secret in the same namespace with the key `hmac`: the MAC key in base64url.")
        .as(Format::kName)
        .needed(),
};
constexpr Object kAccount{kAccountFields};

constexpr Field kDirectory = string("directoryURL", "Directory of the CA (RFC 8555).").as(Format::kUrl);
constexpr Field kCaSecret =
    string("caSecret",
           "Secret in the same namespace with the key ca.crt: who signs the certificate of the directory's server. "
           "Without it the system's authorities.")
        .as(Format::kName);
constexpr Field kExternalAccount =
    object("externalAccount", kAccount, "External account that the account is bound to (RFC 8555 section 7.3.4).");
constexpr Field kPreferredChain =
    string("preferredChain", "Common name of the topmost issuer, where the CA offers several chains.");

constexpr Field kAlternativeFields[] = {kDirectory.needed(), kCaSecret, kExternalAccount, kPreferredChain};
constexpr Object kAlternative{kAlternativeFields};

constexpr Field kDnsFields[] = {
    string("provider", "How TXT records are written: by dynamic updates, or by the program that --acme-dns-hook names.")
        .one_of(kDnsProviders)
        .needed(),
    string("server", "Name server that takes updates, `HOST:PORT`.").as(Format::kHostPort),
    string("zone", "Zone that is updated; without it the name server is asked.").as(Format::kHostname),
    string("keyName", "Name of the TSIG key.").as(Format::kHostname),
    string("keyAlgorithm", "Algorithm of the TSIG key.").one_of(kDnsAlgorithms).defaults_to("hmac-sha256"),
    string("keySecret", "Secret in the same namespace with the key `secret`: the TSIG key in base64.")
        .as(Format::kName),
    string("propagationDelay", "Time between an update and the CA's look.").as(Format::kDuration).defaults_to("5s"),
};
constexpr Object kDns{kDnsFields};

constexpr Field kSpecFields[] = {
    kIssuerEmail,
    kIssuerDirectory,
    string("stagingURL",
           "Directory for trials after two failures in a row, so that they do not count for the limits of the CA. "
           "Let's Encrypt's is known.")
        .as(Format::kUrl),
    kCaSecret,
    kExternalAccount,
    kPreferredChain,
    kIssuerKeyType,
    kIssuerChallenges,
    objects("alternatives", kAlternative, "Further CAs, tried in order when those before have failed.").at_most(3),
    object("dns", kDns, "How DNS01 writes its records."),
};
constexpr Object kSpec{kSpecFields};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr std::string_view kAliases[] = {"certificateissuer", "issuers", "issuer", "ci"};
constexpr Column kColumns[] = {
    {"EMAIL", ".spec.email"},
    {"DIRECTORY", ".spec.directoryURL"},
    kAgeColumn,
};

constexpr std::string_view kExample = "apiVersion: " EDGE_API_GROUP R"(/v1alpha1
kind: CertificateIssuer
metadata:
  name: letsencrypt
  namespace: shop
spec:
  email: ops@example.com
  directoryURL: https://acme-v02.api.letsencrypt.org/directory
  challenges: [TLSALPN01, HTTP01]
)";

}  // namespace

const Object kCertificateIssuer{kFields};
const Manifest kCertificateIssuerManifest{
    .text =
        "A CA that certificates are ordered from (ACME), with the account and the ways in which it may validate "
        "names. Listeners name it in `tls.acme.issuer`.",
    .aliases = kAliases,
    .columns = kColumns,
    .status = &kConditionsStatus,
    .example = kExample};

}  // namespace edge::schemas
