#include "agent/denied_calls.h"

#include <string>

#include "base/ip/node_addresses.h"
#include "base/text/ascii.h"

namespace edge::agent {

Result<std::vector<Cidr>> read_denied_calls(std::string_view text) {
  std::vector<Cidr> blocks;
  if (text == "none") return blocks;
  do {
    const std::string_view part = next_part(text, ',');
    if (part == "local") {
      for (const Cidr& block : node_addresses()) blocks.push_back(block);
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
