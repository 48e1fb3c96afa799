#include "compiler/link/gateways/link_acme.h"

#include <algorithm>
#include <utility>

#include "compiler/link/defaults.h"
#include "compiler/link/gateways/listener_claims.h"

namespace edge::compiler::link {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

std::string text_of(const model::Maybe<std::string>& field) { return field ? field->value : std::string(); }

ChallengeKind challenge_of(std::string_view name) {
  if (name == "HTTP01") return ChallengeKind::kHttp01;
  return name == "DNS01" ? ChallengeKind::kDns01 : ChallengeKind::kTlsAlpn01;
}

CertificateKeyType key_type_of(std::string_view name) {
  if (name == "EC384") return CertificateKeyType::kEc384;
  if (name == "RSA2048") return CertificateKeyType::kRsa2048;
  if (name == "RSA3072") return CertificateKeyType::kRsa3072;
  return name == "RSA4096" ? CertificateKeyType::kRsa4096 : CertificateKeyType::kEc256;
}

bool has(const AcmeSettings& settings, ChallengeKind kind) {
  return std::ranges::find(settings.challenges, kind) != settings.challenges.end();
}

}  // namespace

AcmeSettings acme_settings(const model::IssuerSpec& spec) {
  constexpr std::chrono::seconds kPropagation{5};
  AcmeSettings settings{.email = text_of(spec.email), .key_type = key_type_of(text_of(spec.key_type))};
  for (const auto& challenge : spec.challenges) {
    const ChallengeKind kind = challenge_of(challenge.value);
    if (!has(settings, kind)) settings.challenges.push_back(kind);
  }
  if (settings.challenges.empty()) settings.challenges = {ChallengeKind::kTlsAlpn01, ChallengeKind::kHttp01};
  for (const model::CertificateAuthority& authority : spec.authorities) {
    AcmeAuthority& linked = settings.authorities.emplace_back();
    linked.directory = authority.directory ? authority.directory->value : std::string(kLetsEncrypt);
    linked.ca_secret = text_of(authority.ca_secret);
    linked.key_id = text_of(authority.account_key_id);
    linked.key_secret = text_of(authority.account_key_secret);
    linked.preferred_chain = text_of(authority.preferred_chain);
    if (linked.directory == kLetsEncrypt) linked.staging = kLetsEncryptStaging;
  }
  if (spec.staging) settings.authorities.front().staging = spec.staging->value;
  if (spec.dns) {
    const model::DnsChallenge& dns = *spec.dns;
    settings.dns = DnsUpdates{.hook = text_of(dns.provider) == "Hook",
                              .server = text_of(dns.server),
                              .zone = text_of(dns.zone),
                              .key_name = text_of(dns.key_name),
                              .key_algorithm = dns.key_algorithm ? dns.key_algorithm->value : "hmac-sha256",
                              .key_secret = text_of(dns.key_secret),
                              .propagation_delay = dns.propagation_delay ? dns.propagation_delay->value
                                                                         : std::chrono::nanoseconds(kPropagation)};
  }
  return settings;
}

OnDemandSettings on_demand_settings(const model::OnDemandNames& written) {
  OnDemandSettings settings{.ask_url = text_of(written.ask_url),
                            .max_names = kDefaults.on_demand_names,
                            .keep_unused = kDefaults.on_demand_keep_unused};
  for (const auto& pattern : written.allow) settings.allow.push_back(pattern->text());
  std::ranges::sort(settings.allow);
  if (written.max_names) settings.max_names = static_cast<std::uint32_t>(written.max_names->value);
  if (written.keep_unused) {
    settings.keep_unused = std::chrono::duration_cast<std::chrono::seconds>(written.keep_unused->value);
  }
  return settings;
}

std::optional<AcmeSettings> link_acme(const model::Metadata& owner, const model::ListenerAcme& written,
                                      const std::string& field, const GatewayTargets& targets, Findings& findings) {
  if (!written.issuer) return acme_settings(written.spec);
  const model::Reference reference{.name = *written.issuer, .name_space = {}};
  const Resolved found =
      targets.issuer_names.resolve(owner, "CertificateIssuer", reference, [&] { return field + ".issuer"; }, findings);
  if (!found) return std::nullopt;
  AcmeSettings settings = acme_settings(targets.issuers[found.position].spec);
  settings.issuer = written.issuer->value;
  return settings;
}

void check_challenges(const model::Metadata& owner, const model::Listener& listener, const AcmeSettings& settings,
                      const std::vector<model::ProxyGateway>& gateways, Diagnostics& diagnostics) {
  const bool by_dns = has(settings, ChallengeKind::kDns01);
  const auto warn_of = [&](Span span, std::string_view field, std::string message, std::string fix) {
    warn(owner,
         {.code = DiagnosticCode::kNoCertificate,
          .field = listener_field(listener, field),
          .span = span,
          .message = std::move(message),
          .fix = std::move(fix)},
         diagnostics);
  };
  for (const Located<HostPattern>& host : listener.hostnames) {
    // Of a name below it each has a certificate of its own, once a client asks for it.
    if (!host->wildcard() || by_dns || listener.tls->acme->on_demand) continue;
    warn_of(host.span, "hostnames",
            "no certificate is ordered for `" + host->text() + "`: a name with a wildcard is validated by DNS01 alone",
            "name a CertificateIssuer with DNS01 among its challenges, or list the names");
  }
  if (by_dns) return;
  const bool plain = std::ranges::any_of(gateways, [](const model::ProxyGateway& gateway) {
    return std::ranges::any_of(gateway.listeners, [](const model::Listener& other) {
      return other.port.value == kHttpPort && other.protocol.value == "HTTP";
    });
  });
  const bool possible = (has(settings, ChallengeKind::kHttp01) && plain) ||
                        (has(settings, ChallengeKind::kTlsAlpn01) && listener.port.value == kHttpsPort);
  if (possible) return;
  warn_of(listener.tls->acme->span, "tls.acme",
          "a CA finds no listener to validate names at: HTTP01 asks port 80 in plain text, TLSALPN01 port 443",
          "add a listener of protocol HTTP at port 80, unless these ports are forwarded to those that listen here");
}

}  // namespace edge::compiler::link
