// What administrators ask of agents by way of the controller: a question goes down the agent's stream, its answer comes
// up in pieces. An agent answers from the pages that its own admin port has (docs/agents.md).
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

/// Called once, on a thread of the server, perhaps before `ask` returns: pass on, do not work.
using TakeAnswer = std::function<void(Result<AgentAnswer>)>;

/// The end of one agent's stream of questions.
class Respondent {
 public:
  virtual ~Respondent() = default;
  virtual void ask(const AgentQuestion& question, TakeAnswer take) = 0;
  /// Of two the one that came later has the larger number.
  virtual std::uint64_t since() const = 0;
};

/// Where questions find their agent. Every function may be called from any thread.
class Questions {
 public:
  /// Of one agent, asked and not answered yet.
  static constexpr std::size_t kMostOpen = 16;
  /// An answer that is longer is none.
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;
  static constexpr std::size_t kMostTarget = 2048;

  /// A newer one takes the place of an older, never the other way.
  void come(const std::string& agent, std::shared_ptr<Respondent> respondent);
  void gone(const std::string& agent, const Respondent& respondent);
  /// kUnavailable: the agent is not connected, or is one that takes no questions; kResourceExhausted: too many at once.
  void ask(const std::string& agent, const AgentQuestion& question, const TakeAnswer& take) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Respondent>> agents_;
};

}  // namespace edge::controller
