// An agent in the process of its controller. It takes part in the hub as any other, by one stream in place of six:
// what it is given goes by pointer, and what it says is the messages of schemas/agent.proto as a connection would carry
// them. Decision 0152.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "controller/distribute/agent_answer.h"
#include "program/format/file.h"
#include "program/values/value_set.h"

namespace edge::controller {

class Hub;

/// What the agent is given. Called on threads of the hub, one at a time, from before LocalAgent::start returns until
/// its destructor has: pass on, do not work.
struct LocalAgentEvents {
  std::function<void(std::shared_ptr<const std::vector<std::byte>> bytes, const program::Hash& program,
                     std::uint64_t values)>
      program;
  /// `program`: that the values have everything for.
  std::function<void(const program::ValueSet& values, std::uint64_t version, const program::Hash& program)> values;
  std::function<void(std::string message)> addresses;  ///< an AddressesDown
  std::function<void(std::string message)> links;      ///< a LinksDown
  /// The agent is to connect anew. Once; nothing is given after it.
  std::function<void(const Error& why)> ended;
  /// Called on the threads of those who ask, several at once.
  std::function<AgentAnswer(const AgentQuestion& question)> answer;
};

/// From any thread.
class LocalAgent {
 public:
  /// `hello`: a Hello. kResourceExhausted: there are too many agents, or groups; kInvalidArgument: it is no Hello.
  static Result<std::unique_ptr<LocalAgent>> start(Hub& hub, std::string name, const std::string& hello,
                                                   LocalAgentEvents events);
  /// The agent leaves.
  ~LocalAgent();
  LocalAgent(const LocalAgent&) = delete;
  LocalAgent& operator=(const LocalAgent&) = delete;

  /// `message`: an Applied.
  void applied(const std::string& message);
  void refused(const program::Hash& program, const std::string& reason);
  void values_applied(std::uint64_t version);
  /// `message`: a Report.
  void report(const std::string& message);
  /// `message`: a LinksReport.
  void report_links(const std::string& message);

 private:
  class Membership;
  explicit LocalAgent(std::shared_ptr<Membership> membership);
  std::shared_ptr<Membership> membership_;
};

}  // namespace edge::controller
