#include <chrono>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "controller/distribute/limit_exchange.h"
#include "controller/distribute/protocol.h"
#include "controller/distribute/streams/conversation.h"
#include "controller/distribute/streams/streams.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

using agent::v1::LimitsDown;
using agent::v1::LimitsUp;

/// Words a second, and at once: an agent says ten a second.
constexpr double kWordsASecond = 20;
constexpr double kMostWordsAtOnce = 100;

class LimitStream final : public Conversation<LimitsUp, LimitsDown> {
 public:
  using Conversation::Conversation;

 private:
  Status heard(const LimitsUp& up) override {
    if (up.has_hello() == (member_ != 0)) return Error{ErrorCode::kInvalidArgument, "one hello, as the first word"};
    if (up.has_hello()) {
      if (const auto greeting = read_greeting(up.hello()); !greeting) return greeting.error();
      member_ = hub_.limits().join(name(), up.seed());
    }
    if (static_cast<std::size_t>(up.uses_size()) > LimitExchange::kMostReported) {
      return Error{ErrorCode::kInvalidArgument, "too many uses of limits in one word"};
    }
    if (!may_speak()) return Error{ErrorCode::kResourceExhausted, "too many words about limits"};
    uses_.clear();
    for (const auto& use : up.uses()) uses_.push_back({use.limit(), use.key(), use.requests()});
    hub_.limits().report(member_, uses_);
    answer_due_ = true;
    return {};
  }

  bool waits_for_answer() const override { return false; }

  void advance() override {
    if (!answer_due_ || !may_write()) return;
    answer_due_ = false;
    const LimitExchange::News news = hub_.limits().take(member_);
    down_.Clear();
    down_.set_seed(news.seed);
    down_.set_members(news.members);
    for (const LimitUse& use : news.uses) {
      auto& into = *down_.add_uses();
      into.set_limit(use.limit);
      into.set_key(use.key);
      into.set_requests(use.requests);
    }
    write();
  }

  void gone() override {
    if (member_ != 0) hub_.limits().leave(member_);
  }

  bool may_speak() {
    const auto now = std::chrono::steady_clock::now();
    const double passed = std::chrono::duration<double>(now - spoke_).count();
    words_ = std::min(kMostWordsAtOnce, words_ + passed * kWordsASecond);
    spoke_ = now;
    if (words_ < 1) return false;
    words_ -= 1;
    return true;
  }

  LimitExchange::Member member_ = 0;  ///< 0: no hello yet
  std::vector<LimitUse> uses_;
  bool answer_due_ = false;
  double words_ = kMostWordsAtOnce;
  std::chrono::steady_clock::time_point spoke_ = std::chrono::steady_clock::now();
};

}  // namespace

LimitReactor* new_limit_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer) {
  const auto stream = std::make_shared<LimitStream>(hub, context, std::move(peer));
  stream->start(stream);
  return stream.get();
}

}  // namespace edge::controller
