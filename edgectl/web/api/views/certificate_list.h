// The certificates that gateways serve with: what they say of themselves, and which listeners name them. Never a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "controller/kube/object.h"
#include "edgectl/web/access/store_view.h"

namespace edge::edgectl::web {

/// Limit of a reply; further ones are counted.
inline constexpr std::size_t kMostCertificates = 5'000;

/// A listener, or an Ingress, that names a Secret or a file.
struct CertificateUse {
  std::string kind, plural, name_space, name, listener;
};
struct CertificateUses {
  std::map<std::string, std::vector<CertificateUse>> secrets;  ///< by `namespace/name`
  std::map<std::string, std::vector<CertificateUse>> files;    ///< by path of the certificate
};
CertificateUses certificate_uses(const StoreView& view);

/// \param secrets  objects of kind Secret; of these `tls.crt` alone is read.
/// \param fault  why they cannot be read; empty: they could.
/// Those that end first come first; what cannot be read, or does not exist, before them, files of agents behind.
nlohmann::ordered_json certificates_json(const CertificateUses& uses, const std::vector<kube::Object>& secrets,
                                         const std::string& fault);

}  // namespace edge::edgectl::web
