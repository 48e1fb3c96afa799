#include "controller/remote/tunnel.h"

#include <utility>

namespace edge::controller::remote {

void Tunnels::set_events(TunnelEvents events) {
  const std::lock_guard lock(mutex_);
  events_ = events.received ? std::make_shared<const TunnelEvents>(std::move(events)) : nullptr;
}

bool Tunnels::is_wanted() const {
  const std::lock_guard lock(mutex_);
  return events_ != nullptr;
}

bool Tunnels::send(const std::string& cluster_uid, std::string frame) {
  std::shared_ptr<FrameStream> stream;
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(cluster_uid);
    if (found == streams_.end()) return false;
    stream = found->second;
  }
  return stream->send(std::move(frame));
}

Status Tunnels::enter(const TunnelPeer& peer, const std::shared_ptr<FrameStream>& stream) {
  std::shared_ptr<FrameStream> before;
  std::shared_ptr<const TunnelEvents> events;
  {
    const std::lock_guard lock(mutex_);
    if (events_ == nullptr) return Error{ErrorCode::kUnimplemented, "the cluster does not take part in federation"};
    events = events_;
    before = std::exchange(streams_[peer.cluster_uid], stream);
  }
  if (before) {
    before->end({ErrorCode::kAborted, "the cluster has connected anew"});
    events->closed(peer.cluster_uid);
  }
  events->opened(peer);
  return {};
}

void Tunnels::left(const std::string& cluster_uid, const FrameStream& stream) {
  std::shared_ptr<const TunnelEvents> events;
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(cluster_uid);
    if (found == streams_.end() || found->second.get() != &stream) return;
    streams_.erase(found);
    events = events_;
  }
  if (events) events->closed(cluster_uid);
}

void Tunnels::take(const FrameStream& stream, const std::string& cluster_uid, std::string frame,
                   std::function<void(Status)> done) {
  std::shared_ptr<const TunnelEvents> events;
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(cluster_uid);
    if (found != streams_.end() && found->second.get() == &stream) events = events_;
  }
  if (!events) return done(Error{ErrorCode::kAborted, "the connection is over"});
  events->received(cluster_uid, std::move(frame), std::move(done));
}

void Tunnels::end(const std::string& cluster_uid, const Error& why) {
  std::shared_ptr<FrameStream> stream;
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(cluster_uid);
    if (found == streams_.end()) return;
    stream = found->second;
  }
  stream->end(why);
}

}  // namespace edge::controller::remote
