// Any bytes as the start of a TLS connection: read in bounds, and tearing changes nothing.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/hostname.h"
#include "runtime/session/accept/client_hello.h"
#include "tests/fuzz/require.h"

namespace {

using edge::runtime::ClientHello;
using edge::runtime::HelloState;

/// A fault may be told early, and what is whole is so at one size alone.
HelloState of_prefix(std::string_view bytes) {
  // Of the exact size, so that a read past its end is found.
  const auto exact = std::make_unique<char[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), exact.get());
  ClientHello hello;
  return edge::runtime::parse_client_hello({exact.get(), bytes.size()}, hello);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ClientHello hello;
  const HelloState state = edge::runtime::parse_client_hello(bytes, hello);
  require(of_prefix(bytes) == state);
  if (state == HelloState::kComplete && !hello.server_name().empty()) {
    char buffer[256];
    require(edge::canonical_host(hello.server_name(), buffer) == hello.server_name());
  }
  for (std::size_t prefix = 0; prefix < size; prefix += 1 + size / 32) {
    const HelloState torn = of_prefix(bytes.substr(0, prefix));
    require(torn == HelloState::kIncomplete || torn == state);
  }
  return 0;
}
