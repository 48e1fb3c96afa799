#include "controller/relay/answers.h"

#include <algorithm>
#include <utility>

#include "controller/distribute/distributor.h"
#include "schemas/relay.pb.h"

namespace edge::controller::relay {
namespace {

constexpr std::size_t kPieceBytes = 256 << 10;

}  // namespace

void AnswerQueue::ask(const Distributor& agents, const edge::relay::v1::AgentsDown& question) {
  const std::uint64_t number = question.question().question();
  agents.ask(
      question.agent(), {question.question().method(), question.question().target()},
      [self = shared_from_this(), number](Result<AgentAnswer> answer) { self->take(number, std::move(answer)); });
}

void AnswerQueue::take(std::uint64_t question, Result<AgentAnswer> answer) {
  const std::lock_guard lock(mutex_);
  if (!came_) return;
  const std::size_t size = answer ? answer->body.size() : 0;
  if (bytes_ + size > kMostBytes) {
    answer = Error{ErrorCode::kResourceExhausted, "the relay has too many answers to pass on"};
  } else {
    bytes_ += size;
  }
  waiting_.push_back({question, std::move(answer)});
  came_();
}

bool AnswerQueue::tell(const std::function<bool(const edge::relay::v1::AgentsUp&)>& say) {
  for (;;) {
    std::optional<Answered> next;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) return true;
      next = std::move(waiting_.front());
      waiting_.pop_front();
      bytes_ -= next->answer ? next->answer->body.size() : 0;
    }
    const AgentAnswer answer = next->answer ? std::move(*next->answer) : AgentAnswer();
    std::size_t at = 0;
    bool last = false;
    while (!last) {
      edge::relay::v1::AgentsUp up;
      auto& part = *up.mutable_answer()->mutable_part();
      part.set_question(next->question);
      if (!next->answer) up.mutable_answer()->set_error(next->answer.error().text);
      if (at == 0) {
        part.set_status(static_cast<std::uint32_t>(answer.status));
        part.set_content_type(answer.content_type);
      }
      const std::size_t size = std::min(kPieceBytes, answer.body.size() - at);
      part.set_bytes(answer.body.data() + at, size);
      at += size;
      last = at == answer.body.size();
      part.set_last(last);
      if (!say(up)) return false;
    }
  }
}

void AnswerQueue::stop() {
  const std::lock_guard lock(mutex_);
  came_ = nullptr;
  waiting_.clear();
  bytes_ = 0;
}

}  // namespace edge::controller::relay
