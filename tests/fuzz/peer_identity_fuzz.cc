// Any bytes as a client's certificate: what is believed of it is text, and within its bounds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <openssl/x509.h>

#include "net/tls/peer_identity.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace edge::net::tls;
  const unsigned char* at = data;
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(d2i_X509(nullptr, &at, static_cast<long>(size)),
                                                                X509_free);
  if (certificate == nullptr) return 0;
  const PeerIdentity identity = identity_of(*certificate, true);
  require(!identity_of(*certificate, false).sound);
  if (!identity.sound) {
    require(identity.dns_names.empty() && identity.uris.empty() && identity.fingerprint.empty());
    return 0;
  }
  require(identity.fingerprint.size() == 64);
  require(identity.dns_names.size() + identity.uris.size() + identity.emails.size() <= kMostPeerNames);
  for (const auto* names : {&identity.dns_names, &identity.uris, &identity.emails}) {
    for (const std::string& name : *names) {
      require(!name.empty() && name.size() <= kMostPeerNameBytes);
      require(std::ranges::none_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
    }
  }
  return 0;
}
