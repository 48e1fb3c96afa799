// Any bytes as an answer of a name server: how long it holds is read in bounds.
#include <chrono>
#include <cstdint>
#include <limits>

#include "net/client/answer_lifetime.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // What a server can send (RFC 1035 §4.2.2).
  if (size > std::numeric_limits<std::uint16_t>::max()) return 0;
  const std::chrono::seconds lifetime = edge::net::client::least_lifetime({data, size});
  require(lifetime >= std::chrono::seconds(0));
  require(lifetime <= std::chrono::seconds(std::numeric_limits<std::int32_t>::max()));
  require(size >= 12 || lifetime == std::chrono::seconds(0));
  // Less of it never holds longer.
  if (size > 0) require(edge::net::client::least_lifetime({data, size - 1}) <= lifetime);
  return 0;
}
