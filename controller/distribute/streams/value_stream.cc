#include <grpcpp/grpcpp.h>

#include "controller/distribute/protocol.h"
#include "controller/distribute/streams/conversation.h"
#include "controller/distribute/streams/report_message.h"
#include "controller/distribute/values_feed.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

using agent::v1::ValuesDown;
using agent::v1::ValuesUp;

class ValueStream final : public Conversation<ValuesUp, ValuesDown> {
 public:
  using Conversation::Conversation;

 private:
  Status heard(const ValuesUp& up) override {
    if (up.has_hello() != instance_.empty()) return Error{ErrorCode::kInvalidArgument, "one hello, and that first"};
    if (up.has_hello()) {
      const auto greeting = read_greeting(up.hello());
      if (!greeting) return greeting.error();
      auto entered = hub_.enter_group(greeting->state);
      if (!entered) return entered.error();
      membership_ = *std::move(entered);
      instance_ = greeting->instance;
      runs_something_ = !up.hello().program().empty();
      return {};
    }
    if (up.applied() != 0 && hub_.registry().values_applied(name(), instance_, up.applied(), hub_.now())) {
      hub_.changed();
    }
    return {};
  }

  bool waits_for_answer() const override { return false; }

  bool is_moved() const override { return !instance_.empty() && hub_.is_moved(membership_); }

  // What it has is held as long as the difference to it is being sent.
  bool is_overtaken() const override {
    const std::uint64_t oldest = hub_.oldest_sent();
    return feed_ && (feed_->after()->version < oldest || (sent_ && sent_->version < oldest));
  }

  void advance() override {
    if (instance_.empty() || !may_write()) return;
    if (!feed_) {
      const Hub::Current current = hub_.current(membership_.group);
      if (current.values == nullptr || current.values == sent_ || is_moved()) return;
      if (!current.values->are_for(runs_something_)) return;
      feed_.emplace(sent_, current.values, current.program->outline().program);
    }
    down_.Clear();
    feed_->next(*down_.mutable_part());
    if (feed_->at_end()) {
      sent_ = feed_->after();
      feed_.reset();
    }
    write();
  }

  void gone() override {}

  std::string instance_;         ///< empty before the hello
  bool runs_something_ = false;  ///< since before this stream
  Hub::Membership membership_;
  std::shared_ptr<const Values> sent_;  ///< what the agent has; null: nothing
  std::optional<ValuesFeed> feed_;
};

/// A client stream: the agent reports, and receives a response only at the end.
class ReportStream final : public Stream, public ReportReactor {
 public:
  ReportStream(Hub& hub, CertificateFacts peer) : Stream(std::move(peer)), hub_(hub) {}

  void start(std::shared_ptr<Stream> self) {
    const std::lock_guard lock(mutex_);
    self_ = self;
    if (!hub_.add(std::move(self))) {
      finish(Error{ErrorCode::kResourceExhausted, "too many agents, or streams of this one"});
    } else {
      StartRead(&report_);
    }
  }

  void wake() override {
    const bool over = hub_.now() >= peer().validity.until;
    if (!over && !hub_.authority().is_revoked(peer())) return;
    end(Error{ErrorCode::kUnauthenticated, "the certificate of " + name() + (over ? " is over" : " is revoked")});
  }
  void end(const Error& why) override {
    const std::lock_guard lock(mutex_);
    finish(why);
  }
  void OnReadDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    if (!ok) return finish({});
    if (finished_) return;
    if (Status status = heard(); !status) return finish(status);
    StartRead(&report_);
  }
  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    finish({});
  }
  void OnDone() override {
    const std::shared_ptr<Stream> self = [this] {
      const std::lock_guard lock(mutex_);
      return std::move(self_);
    }();
    hub_.remove(*this);
  }

 private:
  Status heard() {
    if (report_.has_hello()) {
      const auto greeting = read_greeting(report_.hello());
      if (!greeting) return greeting.error();
      auto entered = hub_.enter_group(greeting->state);
      if (!entered) return entered.error();
      membership_ = *std::move(entered);
      instance_ = greeting->instance;
    }
    AgentRegistry::Report report = read_report(report_);
    wanted_.cut(report.wanted, std::chrono::steady_clock::now());
    // An agent whose group is another connects anew.
    if (!hub_.is_moved(membership_)) hub_.want(std::move(report.wanted), {&membership_.group, 1});
    if (hub_.registry().reported(name(), instance_, std::move(report), hub_.now())) hub_.changed();
    return {};
  }

  void finish(const Status& why) {
    if (finished_) return;
    finished_ = true;
    Finish(to_grpc(why));
  }

  Hub& hub_;
  std::mutex mutex_;
  agent::v1::Report report_;
  std::string instance_;
  Hub::Membership membership_;
  WantedRate wanted_{WantedRate::kOfAgent};
  std::shared_ptr<Stream> self_;
  bool finished_ = false;
};

}  // namespace

ValueReactor* new_value_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer) {
  const auto stream = std::make_shared<ValueStream>(hub, context, std::move(peer));
  stream->start(stream);
  return stream.get();
}

ReportReactor* new_report_stream(Hub& hub, grpc::CallbackServerContext&, CertificateFacts peer) {
  const auto stream = std::make_shared<ReportStream>(hub, std::move(peer));
  stream->start(stream);
  return stream.get();
}

}  // namespace edge::controller
