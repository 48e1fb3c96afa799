#include <deque>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "controller/distribute/protocol.h"
#include "controller/distribute/questions.h"
#include "controller/distribute/streams/conversation.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

using agent::v1::AnswersUp;
using agent::v1::QuestionsDown;

constexpr std::size_t kMostType = 128;

/// Sends queries to an agent as they come; the agent answers them one after the other.
class QuestionStream final : public Conversation<AnswersUp, QuestionsDown>,
                             public Respondent,
                             public std::enable_shared_from_this<QuestionStream> {
 public:
  using Conversation::Conversation;

  void ask(const AgentQuestion& question, TakeAnswer take) override {
    {
      const std::lock_guard lock(mutex_);
      if (!over_ && open_.size() < Questions::kMostOpen) {
        const std::uint64_t number = ++last_;
        open_[number].take = std::move(take);
        to_send_.emplace_back(number, question);
        return advance();
      }
    }
    take(Error{ErrorCode::kResourceExhausted, "the agent is asked too much at once"});
  }

  std::uint64_t since() const override { return order(); }

 private:
  struct Open {
    TakeAnswer take;
    AgentAnswer answer{};
    bool too_long = false;
  };

  Status heard(const AnswersUp& up) override {
    if (up.has_hello()) {
      if (greeted_) return Error{ErrorCode::kInvalidArgument, "one hello, and that first"};
      const auto greeting = read_greeting(up.hello());
      if (!greeting) return greeting.error();
      greeted_ = true;
      hub_.questions().come(name(), shared_from_this());
      return {};
    }
    const agent::v1::AnswerPart& part = up.part();
    const auto found = open_.find(part.question());
    if (!greeted_ || found == open_.end()) return Error{ErrorCode::kInvalidArgument, "an answer to no question"};
    take_part(part, found->second);
    if (!part.last()) return {};
    Open done = std::move(found->second);
    open_.erase(found);
    if (done.too_long) {
      done.take(Error{ErrorCode::kResourceExhausted, "the agent's answer is too long"});
    } else {
      done.take(std::move(done.answer));
    }
    return {};
  }

  static void take_part(const agent::v1::AnswerPart& part, Open& open) {
    if (part.status() != 0) open.answer.status = static_cast<int>(part.status() % 1000);
    if (!part.content_type().empty()) open.answer.content_type = printable(part.content_type(), kMostType);
    if (open.answer.body.size() + part.bytes().size() > Questions::kMostBytes) {
      open.too_long = true;
      open.answer.body = std::string();
    }
    if (!open.too_long) open.answer.body += part.bytes();
  }

  bool waits_for_answer() const override { return !open_.empty(); }

  void advance() override {
    if (!greeted_ || to_send_.empty() || !may_write()) return;
    const auto& [number, question] = to_send_.front();
    down_.set_question(number);
    down_.set_method(question.method);
    down_.set_target(question.target);
    to_send_.pop_front();
    write();
  }

  void gone() override {
    hub_.questions().gone(name(), *this);
    std::map<std::uint64_t, Open> left;
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
      left.swap(open_);
    }
    for (auto& [number, open] : left) open.take(Error{ErrorCode::kUnavailable, "the agent went away"});
  }

  bool greeted_ = false;
  bool over_ = false;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Open> open_;
  std::deque<std::pair<std::uint64_t, AgentQuestion>> to_send_;
};

}  // namespace

QuestionReactor* new_question_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer) {
  const auto stream = std::make_shared<QuestionStream>(hub, context, std::move(peer));
  stream->start(stream);
  return stream.get();
}

}  // namespace edge::controller
