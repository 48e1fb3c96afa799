// What peers and secrets bring to TLS: any bytes as the body of a server_name extension, and as PEM and DER.
#include <cstdint>
#include <string_view>

#include "net/tls/certificate.h"
#include "net/tls/server.h"
#include "program/values/secrets.h"
#include "tests/fuzz/require.h"

using namespace edge;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto name = net::tls::server_name_in(bytes);
  require(!name || name->empty() || name->size() + 5 == size);
  net::tls::Authorities authorities;
  if (authorities.add(bytes).ok()) require(!authorities.certificates().empty());
  static_cast<void>(authorities.add_revoked(bytes));
  const auto certificate = net::tls::Certificate::read(bytes, bytes);
  if (certificate.ok()) require((*certificate)->leaf() != nullptr);
  const auto secrets = program::read_secrets(bytes);
  if (secrets.ok()) require(*program::read_secrets(program::write_secrets(*secrets)) == *secrets);
  return 0;
}
