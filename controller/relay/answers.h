// Answers of a site's agents on their way to the hub, in pieces.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "controller/distribute/agent_answer.h"

namespace edge::relay::v1 {
class AgentsUp;
class AgentsDown;
}  // namespace edge::relay::v1

namespace edge::controller {
class Distributor;
}

namespace edge::controller::relay {

/// Of one session. Thread-safe. Agents may answer after it.
class AnswerQueue : public std::enable_shared_from_this<AnswerQueue> {
 public:
  /// Bytes of answers that wait; one more is an error in place of it.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  /// `came` is called, without a lock held, when there is something; not after `stop`.
  explicit AnswerQueue(std::function<void()> came) : came_(std::move(came)) {}

  void ask(const Distributor& agents, const edge::relay::v1::AgentsDown& question);
  /// Passes what has come to `say`. False: `say` was false.
  bool tell(const std::function<bool(const edge::relay::v1::AgentsUp&)>& say);
  void stop();

 private:
  struct Answered {
    std::uint64_t question = 0;
    Result<AgentAnswer> answer;
  };
  void take(std::uint64_t question, Result<AgentAnswer> answer);

  mutable std::mutex mutex_;  ///< guards what follows; held while `came_` is called
  std::function<void()> came_;
  std::deque<Answered> waiting_;
  std::size_t bytes_ = 0;
};

}  // namespace edge::controller::relay
