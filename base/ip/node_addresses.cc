#include "base/ip/node_addresses.h"

#include <algorithm>
#include <string_view>

namespace edge {

std::vector<Cidr> node_addresses() {
  std::vector<Cidr> blocks;
  for (const std::string_view text : {"0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "::/128", "::1/128", "fe80::/10",
                                      "64:ff9b::/104", "64:ff9b::7f00:0/104", "64:ff9b::a9fe:0/112"}) {
    blocks.push_back(parse_cidr(text).value());
  }
  return blocks;
}

bool is_node_address(const IpAddress& address) {
  static const std::vector<Cidr> blocks = node_addresses();
  return std::ranges::any_of(blocks, [&](const Cidr& block) { return block.contains(address); });
}

}  // namespace edge
