#include "agent/wan/node/gateway_turns.h"

#include "agent/wan/tunnel/marks.h"

namespace edge::agent::wan {

std::vector<GatewayTurn> GatewayTurns::take(const WantedNode& wanted, const NodeChoices& choices) {
  for (const NodeChoice& choice : choices.choices) {
    if (choice.policy >= wanted.policies.size()) continue;
    const auto [entry, made] = chosen_.try_emplace({wanted.policies[choice.policy].id, choice.peer}, choice);
    if (made || (entry->second.paths == choice.paths && entry->second.dropped == choice.dropped)) continue;
    entry->second = choice;
    for (const WantedRule& rule : wanted.rules) {
      if (rule.policy != choice.policy) continue;
      for (const std::string& gateway : rule.gateways) ++turns_[gateway];
    }
  }
  std::vector<GatewayTurn> all;
  for (const std::string& gateway : named_gateways(wanted)) {
    const auto number = static_cast<std::uint32_t>(all.size());
    all.push_back({gateway, link_mark(kFirstGateway + number), turns_[gateway]});
  }
  return all;
}

}  // namespace edge::agent::wan
