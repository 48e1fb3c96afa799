#include "controller/distribute/questions.h"

namespace edge::controller {

void Questions::come(const std::string& agent, std::shared_ptr<Respondent> respondent) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Respondent>& position = agents_[agent];
  if (position == nullptr || position->since() < respondent->since()) position.swap(respondent);
}

void Questions::gone(const std::string& agent, const Respondent& respondent) {
  std::shared_ptr<Respondent> last;  // goes without the lock
  const std::lock_guard lock(mutex_);
  const auto found = agents_.find(agent);
  if (found == agents_.end() || found->second.get() != &respondent) return;
  last = std::move(found->second);
  agents_.erase(found);
}

void Questions::ask(const std::string& agent, const AgentQuestion& question, const TakeAnswer& take) const {
  std::shared_ptr<Respondent> respondent;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = agents_.find(agent); found != agents_.end()) respondent = found->second;
  }
  if (respondent == nullptr) {
    return take(Error{ErrorCode::kUnavailable, "the agent is not connected, or is too old to be asked"});
  }
  respondent->ask(question, take);
}

}  // namespace edge::controller
