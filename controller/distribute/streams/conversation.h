// The common part of the bidirectional streams: at most one read and one write in progress, and a single end.
//
// Included only by the files of the streams, after gRPC's header.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "controller/distribute/hub.h"
#include "controller/distribute/streams/streams.h"

namespace edge::controller {

inline grpc::Status to_grpc(const Status& status) {
  if (status) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.error().code), status.error().text};
}

template <typename Up, typename Down>
class Conversation : public Stream, public grpc::ServerBidiReactor<Up, Down> {
 public:
  Conversation(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer, std::string name = {})
      : Stream(std::move(peer), std::move(name)), hub_(hub), context_(context) {}

  /// Registers with the hub; the stream ends itself.
  void start(std::shared_ptr<Stream> self) {
    const std::lock_guard lock(mutex_);
    self_ = self;
    progress_ = std::chrono::steady_clock::now();
    if (!hub_.add(std::move(self))) {
      finish(Error{ErrorCode::kResourceExhausted, "too many agents, or streams of this one"});
    } else {
      this->StartRead(&up_);
    }
  }

  void wake() final {
    const std::lock_guard lock(mutex_);
    if (hub_.now() >= peer().validity.until) {
      return finish(Error{ErrorCode::kUnauthenticated, "the certificate of " + name() + " is over"});
    }
    // The agent was revoked while the stream was being registered.
    if (hub_.authority().is_revoked(peer())) {
      return finish(Error{ErrorCode::kUnauthenticated, "the certificate of " + name() + " is revoked"});
    }
    if ((writing_ || waits_for_answer()) && std::chrono::steady_clock::now() - progress_ > Hub::kPatience) {
      return finish(Error{ErrorCode::kDeadlineExceeded, "the agent takes no message"});
    }
    if (is_overtaken()) {
      return finish(Error{ErrorCode::kResourceExhausted, "the agent reads so slowly that what it is sent is too old"});
    }
    if (Status status = may_last(); !status) return finish(status);
    if (is_moved()) {
      return finish(Error{ErrorCode::kUnavailable, "the label of the agent's node is another: so is its group"});
    }
    advance();
  }

  void end(const Error& why) final {
    const std::lock_guard lock(mutex_);
    finish(why);
  }

  void OnReadDone(bool ok) final {
    const std::lock_guard lock(mutex_);
    if (!ok) return finish({});
    if (finished_) return;
    progress_ = std::chrono::steady_clock::now();
    if (Status status = heard(up_); !status) return finish(status);
    advance();
    if (!finished_) this->StartRead(&up_);
  }

  void OnWriteDone(bool ok) final {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    progress_ = std::chrono::steady_clock::now();
    if (finished_) return this->Finish(status_);
    if (!ok) return finish({});
    advance();
  }

  void OnCancel() final {
    const std::lock_guard lock(mutex_);
    finish({});
  }

  void OnDone() final {
    const std::shared_ptr<Stream> self = [this] {
      const std::lock_guard lock(mutex_);
      return std::move(self_);
    }();
    gone();
    hub_.remove(*this);
  }

 protected:
  /// All of these are called with the lock held, except `gone`.
  virtual Status heard(const Up& up) = 0;
  /// Sends the next message, if one is due and none is under way.
  virtual void advance() = 0;
  virtual bool waits_for_answer() const = 0;
  /// Whether the message being sent is outdated and must not be kept in memory.
  virtual bool is_overtaken() const { return false; }
  /// Whether the agent's group has changed, so that it must reconnect.
  virtual bool is_moved() const { return false; }
  /// What else ends it.
  virtual Status may_last() const { return {}; }
  virtual void gone() = 0;

  bool may_write() const { return !writing_ && !finished_; }
  /// Sends `down_`.
  void write() {
    writing_ = true;
    progress_ = std::chrono::steady_clock::now();
    this->StartWrite(&down_);
  }
  void finish(const Status& why) {
    if (finished_) return;
    finished_ = true;
    status_ = to_grpc(why);
    // A pending write would delay the end; the call is cancelled.
    if (writing_) {
      context_.TryCancel();
    } else {
      this->Finish(status_);
    }
  }

  Hub& hub_;
  grpc::CallbackServerContext& context_;
  std::mutex mutex_;
  Down down_;

 private:
  Up up_;
  std::shared_ptr<Stream> self_;
  std::chrono::steady_clock::time_point progress_;
  grpc::Status status_;
  bool writing_ = false;
  bool finished_ = false;
};

}  // namespace edge::controller
