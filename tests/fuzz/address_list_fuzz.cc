// Any bytes as a list of addresses: a list that is read has every network that it names, and the table of it finds the
// first address of each.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "program/values/address_list.h"
#include "runtime/policy/address_set.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto networks = edge::program::read_address_list({reinterpret_cast<const char*>(data), size});
  if (!networks) {
    require(!networks.error().text.empty());
    return 0;
  }
  const edge::runtime::AddressSet set(*networks);
  require(set.size() <= networks->size() * 2);
  for (const edge::Cidr& network : *networks) require(set.contains(network.address));
  return 0;
}
