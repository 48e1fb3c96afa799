// Administrators' requests to agents through the controller: sent down the agent's stream, answered in pieces. An agent
// serves the pages of its own admin port (docs/agents.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "controller/distribute/agent_answer.h"

namespace edge::controller {

/// Called once, on a server thread, perhaps before `ask` returns: must not block.
using TakeAnswer = std::function<void(Result<AgentAnswer>)>;

/// One agent's stream of requests.
class Respondent {
 public:
  virtual ~Respondent() = default;
  virtual void ask(const AgentQuestion& question, TakeAnswer take) = 0;
  /// The later one has the larger number.
  virtual std::uint64_t since() const = 0;
};

/// Routes requests to agents. Thread-safe.
class Questions {
 public:
  /// Limit of unanswered requests to one agent.
  static constexpr std::size_t kMostOpen = 16;
  /// A longer response is an error.
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;
  static constexpr std::size_t kMostTarget = 2048;

  /// Registers an agent's stream; a newer one replaces an older, never the reverse.
  void come(const std::string& agent, std::shared_ptr<Respondent> respondent);
  void gone(const std::string& agent, const Respondent& respondent);
  /// Sends a request. kUnavailable: the agent is not connected, or does not support requests; kResourceExhausted: too
  /// many at once.
  void ask(const std::string& agent, const AgentQuestion& question, const TakeAnswer& take) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Respondent>> agents_;
};

}  // namespace edge::controller
