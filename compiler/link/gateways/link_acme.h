// From whom the certificates of a listener are ordered: `tls.acme`, or the CertificateIssuer that it names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/link/linked_settings.h"
#include "compiler/link/stages.h"

namespace edge::compiler::link {

/// The directory of those who name none.
inline constexpr std::string_view kLetsEncrypt = "https://acme-v02.api.letsencrypt.org/directory";
inline constexpr std::string_view kLetsEncryptStaging = "https://acme-staging-v02.api.letsencrypt.org/directory";

OnDemandSettings on_demand_settings(const model::OnDemandNames& written);
AcmeSettings acme_settings(const model::IssuerSpec& spec);
/// nullopt: the CertificateIssuer is not there, which is reported. `owner`: the gateway or ListenerSet.
std::optional<AcmeSettings> link_acme(const model::Metadata& owner, const model::ListenerAcme& written,
                                      const std::string& field, const GatewayTargets& targets, Findings& findings);
/// Warns of host names of the listener that no challenge of `settings` can validate.
void check_challenges(const model::Metadata& owner, const model::Listener& listener, const AcmeSettings& settings,
                      const std::vector<model::ProxyGateway>& gateways, Diagnostics& diagnostics);

}  // namespace edge::compiler::link
