#include "controller/remote/remote_service.h"

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include "controller/distribute/caller.h"
#include "controller/remote/frame_reactor.h"
#include "schemas/remote.grpc.pb.h"

namespace edge::controller::remote {
namespace {

namespace v1 = edge::remote::v1;
using LinkReactor = grpc::ServerBidiReactor<v1::Message, v1::Message>;

/// Words that wait for a cluster that reads nothing.
constexpr std::size_t kMostWaiting = 256;
/// For what is being written when a call ends: the reason comes after it.
constexpr auto kLastWrite = std::chrono::seconds(2);

/// Cancels a call whose last write does not come to an end.
class WriteLimit {
 public:
  void begin(grpc::CallbackServerContext& context) {
    {
      const std::lock_guard lock(call_->mutex);
      call_->context = &context;
    }
    alarm_.Set(std::chrono::system_clock::now() + kLastWrite, [call = call_](bool is_due) {
      const std::lock_guard lock(call->mutex);
      if (is_due && call->context != nullptr) call->context->TryCancel();
    });
  }
  /// The context goes.
  void drop() {
    {
      const std::lock_guard lock(call_->mutex);
      call_->context = nullptr;
    }
    alarm_.Cancel();
  }

 private:
  struct Call {
    std::mutex mutex;
    grpc::CallbackServerContext* context = nullptr;
  };
  const std::shared_ptr<Call> call_ = std::make_shared<Call>();
  grpc::Alarm alarm_;
};

grpc::Status to_grpc(const Status& status) {
  if (status) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.error().code), status.error().text};
}

/// One stream of one cluster, from its first word to the end of the call. Lives until the call is done.
class LinkStream final : public Connection, public LinkReactor {
 public:
  LinkStream(RemoteClusters& clusters, Tunnels& tunnels, grpc::CallbackServerContext& context,
             CertificateFacts certificate)
      : clusters_(clusters), tunnels_(tunnels), context_(context), certificate_(std::move(certificate)) {}

  void start(std::shared_ptr<LinkStream> self) {
    self_ = self;
    if (Status status = clusters_.welcome(std::move(self)); !status) return end(status.error());
    StartRead(&up_);
  }

  void say(std::vector<Word> words) override {
    const std::lock_guard lock(mutex_);
    for (const Word& word : words) {
      if (waiting_.size() >= kMostWaiting) {
        return finish(Error{ErrorCode::kResourceExhausted, "the cluster reads nothing"});
      }
      write_word(word, waiting_.emplace_back());
    }
    advance();
  }

  void end(const Error& why) override {
    const std::lock_guard lock(mutex_);
    finish(why);
  }

  /// Without the lock: what is heard may make this stream say something.
  void OnReadDone(bool ok) override {
    if (!ok) return end({ErrorCode::kUnavailable, "the cluster has closed the connection"});
    if (Status status = hear(); !status) return end(status.error());
    const std::lock_guard lock(mutex_);
    if (!finished_) StartRead(&up_);
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (finished_) return Finish(status_);
    if (!ok) return finish(Error{ErrorCode::kUnavailable, "the connection is broken"});
    waiting_.pop_front();
    advance();
  }

  void OnCancel() override { end({ErrorCode::kUnavailable, "the connection is broken"}); }

  void OnDone() override {
    limit_.drop();
    clusters_.left(*this, why_);
    if (!cluster_uid_.empty()) tunnels_.end(cluster_uid_, {ErrorCode::kUnavailable, "the link of the cluster is over"});
    const std::shared_ptr<LinkStream> last = std::move(self_);
  }

 private:
  Status hear() {
    if (up_.ByteSizeLong() > kMaxWordBytes) return Error{ErrorCode::kResourceExhausted, "a word is too long"};
    const auto word = read_word(up_);
    if (!word) return word.error();
    if (entered_) {
      if (std::holds_alternative<Leaving>(*word))
        return Error{ErrorCode::kUnavailable, "the cluster's controller has ended"};
      return clusters_.hear(*this, *word);
    }
    const auto* const hello = std::get_if<Hello>(&*word);
    if (hello == nullptr) return Error{ErrorCode::kInvalidArgument, "the first word is a hello"};
    auto own = clusters_.enter(self_, certificate_, *hello, peer_address(context_));
    if (!own) return own.error();
    entered_ = true;
    cluster_uid_ = hello->cluster_uid;
    say({std::move(*own)});
    return {};
  }

  void advance() {
    if (writing_ || finished_ || waiting_.empty()) return;
    writing_ = true;
    StartWrite(&waiting_.front());
  }

  void finish(const Status& why) {
    if (finished_) return;
    finished_ = true;
    status_ = to_grpc(why);
    why_ = why ? std::string() : why.error().text;
    // OnWriteDone finishes.
    if (writing_) {
      limit_.begin(context_);
    } else {
      Finish(status_);
    }
  }

  RemoteClusters& clusters_;
  Tunnels& tunnels_;
  grpc::CallbackServerContext& context_;
  const CertificateFacts certificate_;
  std::shared_ptr<LinkStream> self_;
  v1::Message up_;
  bool entered_ = false;     ///< of the reads
  std::string cluster_uid_;  ///< of the reads, then of the end
  std::mutex mutex_;         ///< guards what follows
  std::deque<v1::Message> waiting_;
  bool writing_ = false;
  bool finished_ = false;
  grpc::Status status_;
  std::string why_;
  WriteLimit limit_;
};

using TunnelReactor = grpc::ServerBidiReactor<v1::Frame, v1::Frame>;

/// The hub's end of a tunnel.
class TunnelStream final : public FrameReactor<TunnelReactor, v1::Frame> {
 public:
  TunnelStream(Tunnels& tunnels, TunnelPeer peer, grpc::CallbackServerContext& context)
      : FrameReactor(tunnels, std::move(peer)), context_(context) {}

  void start(const std::shared_ptr<TunnelStream>& self) {
    alive_ = self;
    keep(self);
    if (Status status = tunnels_.enter(peer_, self); !status) return end(status.error());
    const std::lock_guard lock(mutex_);
    if (!closed_) read();
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    if (written(ok)) Finish(status_);
  }
  void OnCancel() override { end({ErrorCode::kUnavailable, "the connection is broken"}); }
  void OnDone() override {
    limit_.drop();
    tunnels_.left(peer_.cluster_uid, *this);
    const std::shared_ptr<TunnelStream> last = std::move(alive_);
  }

 private:
  void end_call(const Error& why) override {
    status_ = to_grpc(why);
    // OnWriteDone finishes.
    if (writing_) {
      limit_.begin(context_);
    } else {
      Finish(status_);
    }
  }

  grpc::CallbackServerContext& context_;
  std::shared_ptr<TunnelStream> alive_;
  grpc::Status status_;
  WriteLimit limit_;
};

/// A reactor for a refused stream, which gRPC needs too.
template <typename Reactor>
class Refusing final : public Reactor {
 public:
  explicit Refusing(const Error& why) { this->Finish(to_grpc(why)); }
  void OnDone() override { delete this; }
};

class RemoteService final : public v1::Remote::CallbackService {
 public:
  RemoteService(RemoteClusters& clusters, Tunnels& tunnels, Authority& authority)
      : clusters_(clusters), tunnels_(tunnels), authority_(authority) {}

  grpc::ServerUnaryReactor* Renew(grpc::CallbackServerContext* context, const v1::RenewRequest* request,
                                  v1::Credentials* reply) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(to_grpc(renew(*context, *request, *reply)));
    return reactor;
  }

  LinkReactor* Link(grpc::CallbackServerContext* context) override {
    auto who = identify(*context);
    if (!who) return new Refusing<LinkReactor>(who.error());
    const auto stream = std::make_shared<LinkStream>(clusters_, tunnels_, *context, std::move(*who));
    stream->start(stream);
    return stream.get();
  }

  TunnelReactor* Tunnel(grpc::CallbackServerContext* context) override {
    const auto who = identify(*context);
    if (!who) return new Refusing<TunnelReactor>(who.error());
    const auto uid = clusters_.connected_uid(who->subject.name);
    if (!uid) return new Refusing<TunnelReactor>({ErrorCode::kUnavailable, "there is no link of the cluster"});
    const auto stream = std::make_shared<TunnelStream>(tunnels_, TunnelPeer{who->subject.name, *uid}, *context);
    stream->start(stream);
    return stream.get();
  }

 private:
  Result<CertificateFacts> identify(const grpc::CallbackServerContext& context) {
    auto who = caller(context, authority_, Role::kRemote);
    if (!who) {
      // Whoever shows a certificate of ours that holds no longer is known by it.
      const auto shown = shown_certificate(context);
      const auto facts = shown ? read_certificate(*shown) : Result<CertificateFacts>(shown.error());
      if (facts && facts->subject.role == Role::kRemote) clusters_.refused(*facts, who.error());
      return who;
    }
    if (!clusters_.may_call(who->subject.name)) {
      return Error{ErrorCode::kResourceExhausted, "the cluster calls too often"};
    }
    return who;
  }

  Status renew(const grpc::CallbackServerContext& context, const v1::RenewRequest& request, v1::Credentials& reply) {
    const auto who = identify(context);
    if (!who) return who.error();
    auto certificate = authority_.sign_remote(who->subject.name, request.request());
    if (!certificate) return certificate.error();
    reply.set_certificate(std::move(*certificate));
    reply.set_authorities(authority_.roots());
    return {};
  }

  RemoteClusters& clusters_;
  Tunnels& tunnels_;
  Authority& authority_;
};

}  // namespace

std::shared_ptr<grpc::Service> make_remote_service(RemoteClusters& clusters, Tunnels& tunnels, Authority& authority) {
  return std::make_shared<RemoteService>(clusters, tunnels, authority);
}

}  // namespace edge::controller::remote
