// When new connections of a gateway are to be made: once a policy that names it has chosen other tunnels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/wan/node/wanted_node.h"

namespace edge::agent::wan {

struct GatewayTurn {
  std::string gateway;     ///< `namespace/name`
  std::uint32_t mark = 0;  ///< of its connections
  std::uint32_t turn = 0;  ///< another one after each move
  friend bool operator==(const GatewayTurn&, const GatewayTurn&) = default;
};

class GatewayTurns {
 public:
  /// Takes what is chosen now. \returns all gateways that policies name.
  std::vector<GatewayTurn> take(const WantedNode& wanted, const NodeChoices& choices);

 private:
  std::map<std::string, std::uint32_t> turns_;
  std::map<std::pair<std::string, std::string>, NodeChoice> chosen_;  ///< by policy and peer
};

}  // namespace edge::agent::wan
