// Parses and validates agents' messages, and encodes the responses of inspect calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/distribute/agents/agent_state.h"
#include "program/format/file.h"

namespace edge::agent::v1 {
class Agent;
class BackendReport;
class Hello;
class UnboundListener;
class Vip;
}  // namespace edge::agent::v1

namespace edge::controller {

/// Versions of schemas/agent.proto. Optional additions do not need a new number.
inline constexpr std::uint32_t kNewestProtocol = 1;
inline constexpr std::uint32_t kOldestProtocol = 1;

struct Greeting {
  std::uint32_t protocol = 0;  ///< highest version that both support
  std::string instance;
  program::Target cpu = program::Target::kTablesOnly;
  AgentState state;  ///< node, version, cpu and labels
};
/// kFailedPrecondition: no protocol in common; kInvalidArgument.
Result<Greeting> read_greeting(const agent::v1::Hello& hello);

/// Returns the text without control characters, cut at `limit`: for logs and terminals.
std::string printable(std::string_view text, std::size_t limit);
std::string hex_of(std::string_view bytes);

BackendHealth read_backend(const agent::v1::BackendReport& report);
VipState read_vip(const agent::v1::Vip& vip);
UnboundListener read_unbound(const agent::v1::UnboundListener& from);
void write_unbound(const UnboundListener& from, agent::v1::UnboundListener& into);
/// Parses as many entries of a message's list as are accepted from one agent.
template <typename List>
std::vector<UnboundListener> read_unbound_list(const List& list) {
  constexpr std::size_t kMaxUnbound = 1000;
  std::vector<UnboundListener> all;
  for (const auto& one : list) {
    if (all.size() == kMaxUnbound) break;
    all.push_back(read_unbound(one));
  }
  return all;
}
void write_agent(const AgentState& state, agent::v1::Agent& into);
AgentState read_agent(const agent::v1::Agent& from);

std::int64_t to_milliseconds(WallTime time);
WallTime from_milliseconds(std::int64_t milliseconds);

}  // namespace edge::controller
