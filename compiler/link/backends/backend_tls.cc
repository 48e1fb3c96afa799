#include <string>
#include <vector>

#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

/// A secret that cannot be used is told by a condition too.
bool usable(const model::ProxyBackend& backend, const model::Reference& reference, const std::vector<SecretNeed>& needs,
            const std::string& field, const SecretTable& secrets, Findings& findings) {
  const SecretFault fault = check_secret(backend.metadata, reference, needs, field, secrets, findings);
  if (fault == SecretFault::kNone) return true;
  fail(findings.status.conditions, condition::kResolvedRefs,
       fault == SecretFault::kNotPermitted ? reason::kRefNotPermitted : reason::kInvalidCertificateRef,
       "the Secret `" + reference.name.value + "` cannot be used");
  return false;
}

}  // namespace

std::optional<BackendTlsSettings> link_backend_tls(const model::ProxyBackend& backend, const SecretTable& secrets,
                                                   Findings& findings) {
  const model::BackendTls& written = *backend.tls;
  if (written.refused) return std::nullopt;
  BackendTlsSettings tls{.server_name = written.server_name.value, .system_authorities = written.system_roots};
  // Those of a translated backend may be ConfigMaps too, and were looked at then.
  const bool own = backend.metadata.kind == "ProxyBackend";
  for (std::size_t i = 0; i < written.authorities.size(); ++i) {
    const std::string field = "spec.tls.caCertificateRefs[" + std::to_string(i) + "]";
    if (own && !usable(backend, written.authorities[i], {kAuthorityNeed}, field, secrets, findings)) {
      return std::nullopt;
    }
    tls.authorities.push_back(secret_key(backend.metadata, written.authorities[i], kAuthorityKey));
  }
  for (const model::SubjectName& name : written.alternative_names) {
    tls.alternative_names.push_back({.uri = name.uri, .name = name.name.value});
  }
  if (const auto& certificate = written.client_certificate) {
    const std::vector<SecretNeed> needs = {kCertificateNeed, kPrivateKeyNeed};
    if (!usable(backend, *certificate, needs, "spec.tls.clientCertificateRef", secrets, findings)) return std::nullopt;
    SecretKey name = secret_key(backend.metadata, *certificate, {});
    tls.client_certificate = CertificateName{std::move(name.name_space), std::move(name.name)};
  }
  return tls;
}

}  // namespace edge::compiler::link
