// What is read from an agent's words before anything is believed, and the words that inspect calls answer with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/distribute/agent_state.h"
#include "program/format/file.h"

namespace edge::agent::v1 {
class Agent;
class BackendReport;
class Hello;
class UnboundListener;
class Vip;
}  // namespace edge::agent::v1

namespace edge::controller {

/// Of schemas/agent.proto. What a later version can do without is added to a number, and does not need a new one.
inline constexpr std::uint32_t kNewestProtocol = 1;
inline constexpr std::uint32_t kOldestProtocol = 1;

struct Greeting {
  std::uint32_t protocol = 0;  ///< that both speak
  std::string instance;
  program::Target cpu = program::Target::kTablesOnly;
  AgentState state;  ///< node, version, cpu and labels
};
/// kFailedPrecondition: no protocol in common; kInvalidArgument.
Result<Greeting> read_greeting(const agent::v1::Hello& hello);

/// Without control characters, and cut off at `limit`: it goes into logs and on terminals.
std::string printable(std::string_view text, std::size_t limit);
std::string hex_of(std::string_view bytes);

BackendHealth read_backend(const agent::v1::BackendReport& report);
VipState read_vip(const agent::v1::Vip& vip);
UnboundListener read_unbound(const agent::v1::UnboundListener& from);
void write_unbound(const UnboundListener& from, agent::v1::UnboundListener& into);
/// Of a message's list as many as are taken of one agent.
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
