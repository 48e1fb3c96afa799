// What both ends of a tunnel's stream have in common: one read and one write under way, and a bounded queue.
//
// Included only by the files of the streams, after gRPC's header.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "controller/remote/tunnel.h"
#include "controller/remote/words.h"

namespace edge::controller::remote {

/// `Base`: a reactor of gRPC for both directions, of messages `Frame`.
template <typename Base, typename Frame>
class FrameReactor : public Base, public FrameStream {
 public:
  static constexpr std::size_t kMostWaitingBytes = 4 << 20;

  FrameReactor(Tunnels& tunnels, TunnelPeer peer) : tunnels_(tunnels), peer_(std::move(peer)) {}

  bool send(std::string frame) override {
    const std::lock_guard lock(mutex_);
    if (closed_ || frame.size() > kMaxFrameBytes || waiting_bytes_ + frame.size() > kMostWaitingBytes) return false;
    waiting_bytes_ += frame.size();
    waiting_.emplace_back().set_bytes(std::move(frame));
    advance();
    return true;
  }

  void end(const Error& why) override {
    const std::lock_guard lock(mutex_);
    close(why);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return end({ErrorCode::kUnavailable, "the other side has ended the tunnel"});
    std::string frame = std::move(*in_.mutable_bytes());
    if (frame.size() > kMaxFrameBytes) return end({ErrorCode::kResourceExhausted, "a frame is too large"});
    tunnels_.take(*this, peer_.cluster_uid, std::move(frame), [self = self_](const Status& status) {
      if (const auto stream = self.lock()) stream->taken(status);
    });
  }

 protected:
  /// Under the lock, once: ends the call.
  virtual void end_call(const Error& why) = 0;

  /// `self`: as long as it lives, what was taken may still be answered.
  void keep(const std::shared_ptr<FrameReactor>& self) { self_ = self; }
  void read() { this->StartRead(&in_); }
  /// Under the lock. \returns whether a write was under way whose end came after the call's.
  bool written(bool ok) {
    writing_ = false;
    if (closed_) return true;
    if (!ok) {
      close({ErrorCode::kUnavailable, "the connection is broken"});
      return false;
    }
    waiting_bytes_ -= waiting_.front().bytes().size();
    waiting_.pop_front();
    advance();
    return false;
  }
  void close(const Error& why) {
    if (std::exchange(closed_, true)) return;
    end_call(why);
  }

  Tunnels& tunnels_;
  const TunnelPeer peer_;
  std::mutex mutex_;  ///< guards what follows
  bool writing_ = false;
  bool closed_ = false;

 private:
  void taken(const Status& status) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (!status) return close(status.error());
    this->StartRead(&in_);
  }
  void advance() {
    if (writing_ || closed_ || waiting_.empty()) return;
    writing_ = true;
    this->StartWrite(&waiting_.front());
  }

  Frame in_;
  std::weak_ptr<FrameReactor> self_;
  std::deque<Frame> waiting_;
  std::size_t waiting_bytes_ = 0;
};

}  // namespace edge::controller::remote
