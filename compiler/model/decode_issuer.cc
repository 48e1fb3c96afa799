#include <utility>

#include "compiler/model/decode_kinds.h"

namespace edge::compiler::model {
namespace {

CertificateAuthority decode_authority(const Fields& fields) {
  const Fields account = fields.object("externalAccount");
  return {.directory = fields.text("directoryURL"),
          .ca_secret = fields.text("caSecret"),
          .account_key_id = account.text("keyID"),
          .account_key_secret = account.text("keySecret"),
          .preferred_chain = fields.text("preferredChain")};
}

}  // namespace

IssuerSpec decode_issuer_spec(const Fields& spec) {
  IssuerSpec out{.email = spec.text("email"),
                 .key_type = spec.text("keyType"),
                 .staging = spec.text("stagingURL"),
                 .challenges = spec.strings("challenges")};
  out.authorities.push_back(decode_authority(spec));
  spec.entries("alternatives", [&](const Fields& entry) { out.authorities.push_back(decode_authority(entry)); });
  if (const Fields dns = spec.object("dns")) {
    out.dns = DnsChallenge{.span = dns.span(),
                           .provider = dns.text("provider"),
                           .server = dns.text("server"),
                           .zone = dns.text("zone"),
                           .key_name = dns.text("keyName"),
                           .key_algorithm = dns.text("keyAlgorithm"),
                           .key_secret = dns.text("keySecret"),
                           .propagation_delay = dns.duration("propagationDelay")};
  }
  return out;
}

CertificateIssuer decode_certificate_issuer(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  CertificateIssuer issuer{.metadata = std::move(metadata), .spec = decode_issuer_spec(spec)};
  for (const auto& challenge : issuer.spec.challenges) {
    if (challenge.value != "DNS01" || issuer.spec.dns) continue;
    report.fault(DiagnosticCode::kMissingField, challenge.span, "spec.challenges",
                 "DNS01 needs `dns`, which says how TXT records are written", "add `spec.dns`");
  }
  return issuer;
}

}  // namespace edge::compiler::model
