// Any bytes as a PROXY header: read in bounds, tearing changes nothing, and what is accepted means the same when it is
// written again and read again.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/proxy_protocol.h"
#include "tests/fuzz/require.h"

using namespace edge::net;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Of the exact size, so that a read past its end is found.
  const auto exact = std::make_unique<char[]>(size);
  std::copy(data, data + size, exact.get());
  const std::string_view bytes(exact.get(), size);
  ProxyHeader header;
  const ProxyHeaderState state = parse_proxy_header(bytes, header);
  if (state == ProxyHeaderState::kComplete) require(header.size <= size && header.size <= kMaxProxyHeader);
  for (std::size_t prefix = 0; prefix < size; prefix += 1 + size / 32) {
    ProxyHeader torn;
    const ProxyHeaderState of_prefix = parse_proxy_header(bytes.substr(0, prefix), torn);
    require(of_prefix == ProxyHeaderState::kIncomplete || of_prefix == state);
  }
  if (state != ProxyHeaderState::kComplete || !header.ends) return 0;
  for (const ProxyVersion version : {ProxyVersion::kV1, ProxyVersion::kV2}) {
    const std::string written = write_proxy_header(version, header.ends->source, header.ends->destination);
    ProxyHeader again;
    require(parse_proxy_header(written, again) == ProxyHeaderState::kComplete && again.size == written.size());
    // Two families in one header are possible in version 2 alone.
    if (!again.ends) continue;
    require(again.ends->source == header.ends->source && again.ends->destination == header.ends->destination);
  }
  return 0;
}
