#include "agent/denied_calls.h"

#include <string>

#include "base/text/ascii.h"

namespace edge::agent {

std::vector<Cidr> local_addresses() {
  std::vector<Cidr> blocks;
  for (const std::string_view text : {"0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "::/128", "::1/128", "fe80::/10",
                                      "64:ff9b::/104", "64:ff9b::7f00:0/104", "64:ff9b::a9fe:0/112"}) {
    blocks.push_back(parse_cidr(text).value());
  }
  return blocks;
}

Result<std::vector<Cidr>> read_denied_calls(std::string_view text) {
  std::vector<Cidr> blocks;
  if (text == "none") return blocks;
  do {
    const std::string_view part = next_part(text, ',');
    if (part == "local") {
      for (const Cidr& block : local_addresses()) blocks.push_back(block);
    } else if (const auto block = parse_cidr(part)) {
      blocks.push_back(*block);
    } else {
      return Error{ErrorCode::kInvalidArgument,
                   "--deny-calls-to takes blocks such as 10.0.0.0/8, local or none, not `" + std::string(part) + "`"};
    }
  } while (!text.empty());
  return blocks;
}

}  // namespace edge::agent
