#include "controller/remote/remote_service.h"

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include "controller/distribute/caller.h"
#include "controller/distribute/protocol.h"
#include "controller/remote/frame_reactor.h"
#include "program/cluster_traffic.h"
#include "schemas/remote.grpc.pb.h"

namespace edge::controller::remote {
namespace {

namespace v1 = edge::remote::v1;
using LinkReactor = grpc::ServerBidiReactor<v1::Message, v1::Message>;
using TunnelReactor = grpc::ServerBidiReactor<v1::Frame, v1::Frame>;
using QuestionReactor = grpc::ServerBidiReactor<v1::Answer, v1::Question>;

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

/// A call in both directions: messages wait in a queue for the write that is under way, and the end of the call for it.
template <typename Up, typename Down>
class QueueReactor : public grpc::ServerBidiReactor<Up, Down> {
 public:
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (finished_) return this->Finish(status_);
    if (!ok) return finish({ErrorCode::kUnavailable, "the connection is broken"});
    waiting_.pop_front();
    advance();
  }

  void OnCancel() override { stop({ErrorCode::kUnavailable, "the connection is broken"}); }

 protected:
  explicit QueueReactor(grpc::CallbackServerContext& context) : context_(context) {}

  void stop(const Error& why) {
    const std::lock_guard lock(mutex_);
    finish(why);
  }
  void read() {
    const std::lock_guard lock(mutex_);
    if (!finished_) this->StartRead(&up_);
  }

  // Under the lock.
  void advance() {
    if (writing_ || finished_ || waiting_.empty()) return;
    writing_ = true;
    this->StartWrite(&waiting_.front());
  }
  void finish(const Error& why) {
    if (finished_) return;
    finished_ = true;
    status_ = to_grpc(why);
    // OnWriteDone finishes.
    if (writing_) {
      limit_.begin(context_);
    } else {
      this->Finish(status_);
    }
  }

  grpc::CallbackServerContext& context_;
  Up up_;             ///< of the reads
  WriteLimit limit_;  ///< to be dropped when the call is done
  std::mutex mutex_;  ///< guards what follows
  std::deque<Down> waiting_;
  bool writing_ = false;
  bool finished_ = false;
  grpc::Status status_;
};

/// One stream of one cluster, from its first word to the end of the call. Lives until the call is done.
class LinkStream final : public Connection, public QueueReactor<v1::Message, v1::Message> {
 public:
  LinkStream(RemoteClusters& clusters, Tunnels& tunnels, SpokeQuestions& questions,
             grpc::CallbackServerContext& context, CertificateFacts certificate)
      : QueueReactor(context),
        clusters_(clusters),
        tunnels_(tunnels),
        questions_(questions),
        certificate_(std::move(certificate)) {}

  void start(std::shared_ptr<LinkStream> self) {
    self_ = self;
    if (Status status = clusters_.welcome(std::move(self)); !status) return end(status.error());
    read();
  }

  void say(std::vector<Word> words) override {
    const std::lock_guard lock(mutex_);
    for (const Word& word : words) {
      if (waiting_.size() >= kMostWaiting) {
        return finish({ErrorCode::kResourceExhausted, "the cluster reads nothing"});
      }
      write_word(word, waiting_.emplace_back());
    }
    advance();
  }

  void end(const Error& why) override { stop(why); }

  /// Without the lock: what is heard may make this stream say something.
  void OnReadDone(bool ok) override {
    if (!ok) return end({ErrorCode::kUnavailable, "the cluster has closed the connection"});
    if (Status status = hear(); !status) return end(status.error());
    read();
  }

  void OnDone() override {
    limit_.drop();
    clusters_.left(*this, status_.error_message());
    if (!cluster_uid_.empty()) {
      tunnels_.end(cluster_uid_, {ErrorCode::kUnavailable, "the link of the cluster is over"});
      // One that has connected anew is not meant.
      if (!clusters_.connected_uid(certificate_.subject.name)) questions_.end(certificate_.subject.name);
    }
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

  RemoteClusters& clusters_;
  Tunnels& tunnels_;
  SpokeQuestions& questions_;
  const CertificateFacts certificate_;
  std::shared_ptr<LinkStream> self_;
  bool entered_ = false;     ///< of the reads
  std::string cluster_uid_;  ///< of the reads, then of the end
};

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

/// Sends questions to a spoke as they come, and gathers its answers. Lives until the call is done.
class QuestionStream final : public QueueReactor<v1::Answer, v1::Question>, public AskedStream {
 public:
  QuestionStream(SpokeQuestions& questions, std::string name, grpc::CallbackServerContext& context)
      : QueueReactor(context), questions_(questions), name_(std::move(name)) {}

  void start(const std::shared_ptr<QuestionStream>& self) {
    alive_ = self;
    questions_.enter(name_, self);
    read();
  }

  void ask(const AgentQuestion& question, TakeAnswer take) override {
    std::vector<TakeAnswer> late = expired();
    for (const TakeAnswer& one : late) one(Error{ErrorCode::kDeadlineExceeded, "the cluster does not answer"});
    {
      const std::lock_guard lock(mutex_);
      if (!finished_ && open_.size() < SpokeQuestions::kMostOpen) {
        const std::uint64_t number = ++last_;
        open_[number] = {.take = std::move(take), .until = net::Clock().now() + SpokeQuestions::kPatience};
        v1::Question& out = waiting_.emplace_back();
        out.set_number(number);
        out.set_method(question.method);
        out.set_target(question.target);
        return advance();
      }
    }
    take(Error{ErrorCode::kResourceExhausted, "the cluster is asked too much at once"});
  }

  void end(const Error& why) override { stop(why); }

  void OnReadDone(bool ok) override {
    if (!ok) return end({ErrorCode::kUnavailable, "the cluster has closed the connection"});
    Open done;
    {
      const std::lock_guard lock(mutex_);
      // To one that was given up there may be an answer yet.
      if (const auto found = open_.find(up_.number()); found != open_.end()) {
        take_part(found->second);
        if (up_.last()) {
          done = std::move(found->second);
          open_.erase(found);
        }
      }
    }
    if (done.take && done.too_long) done.take(Error{ErrorCode::kResourceExhausted, "the cluster's answer is too long"});
    if (done.take && !done.too_long) done.take(std::move(done.answer));
    read();
  }

  void OnDone() override {
    limit_.drop();
    questions_.left(name_, *this);
    std::map<std::uint64_t, Open> left;
    {
      const std::lock_guard lock(mutex_);
      left.swap(open_);
    }
    for (auto& [number, open] : left) {
      open.take(Error{ErrorCode::kUnavailable, "cluster `" + name_ + "` went away before it had answered"});
    }
    const std::shared_ptr<QuestionStream> last = std::move(alive_);
  }

 private:
  static constexpr std::size_t kMostType = 128;

  struct Open {
    TakeAnswer take{};
    net::Time until{};
    AgentAnswer answer{};
    bool too_long = false;
  };

  std::vector<TakeAnswer> expired() {
    std::vector<TakeAnswer> late;
    const std::lock_guard lock(mutex_);
    std::erase_if(open_, [&](auto& one) {
      if (net::Clock().now() < one.second.until) return false;
      late.push_back(std::move(one.second.take));
      return true;
    });
    return late;
  }

  void take_part(Open& open) {
    if (up_.status() != 0) open.answer.status = static_cast<int>(up_.status() % 1000);
    if (!up_.content_type().empty()) open.answer.content_type = printable(up_.content_type(), kMostType);
    if (open.answer.body.size() + up_.bytes().size() > SpokeQuestions::kMostBytes) {
      open.too_long = true;
      open.answer.body = std::string();
    }
    if (!open.too_long) open.answer.body += up_.bytes();
  }

  SpokeQuestions& questions_;
  const std::string name_;
  std::shared_ptr<QuestionStream> alive_;
  std::map<std::uint64_t, Open> open_;  ///< guarded as the queue is
  std::uint64_t last_ = 0;              ///< likewise
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
  RemoteService(RemoteClusters& clusters, Tunnels& tunnels, SpokeQuestions& questions, Authority& authority)
      : clusters_(clusters), tunnels_(tunnels), questions_(questions), authority_(authority) {}

  grpc::ServerUnaryReactor* Renew(grpc::CallbackServerContext* context, const v1::RenewRequest* request,
                                  v1::Credentials* reply) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(to_grpc(renew(*context, *request, *reply)));
    return reactor;
  }

  grpc::ServerUnaryReactor* RenewTraffic(grpc::CallbackServerContext* context, const v1::RenewRequest* request,
                                         v1::Credentials* reply) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(to_grpc(renew_traffic(*context, *request, *reply)));
    return reactor;
  }

  LinkReactor* Link(grpc::CallbackServerContext* context) override {
    auto who = identify(*context);
    if (!who) return new Refusing<LinkReactor>(who.error());
    const auto stream = std::make_shared<LinkStream>(clusters_, tunnels_, questions_, *context, std::move(*who));
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

  QuestionReactor* Questions(grpc::CallbackServerContext* context) override {
    const auto who = identify(*context);
    if (!who) return new Refusing<QuestionReactor>(who.error());
    const std::string& name = who->subject.name;
    if (!clusters_.connected_uid(name)) {
      return new Refusing<QuestionReactor>({ErrorCode::kUnavailable, "there is no link of the cluster"});
    }
    const auto stream = std::make_shared<QuestionStream>(questions_, name, *context);
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
    // Of several controllers the one that leads knows best which certificate was shown last.
    if (Status status = clusters_.may_speak(); !status) return status;
    const auto who = identify(context);
    if (!who) return who.error();
    auto certificate = authority_.sign_remote(who->subject.name, request.request());
    if (!certificate) return certificate.error();
    reply.set_certificate(std::move(*certificate));
    reply.set_authorities(authority_.roots());
    return {};
  }

  Status renew_traffic(const grpc::CallbackServerContext& context, const v1::RenewRequest& request,
                       v1::Credentials& reply) {
    const auto who = identify(context);
    if (!who) return who.error();
    const std::string& name = who->subject.name;
    // Nobody is mistaken for the hub.
    if (name == program::kHubCluster) {
      return Error{ErrorCode::kPermissionDenied, "no cluster but the hub is called `hub` in traffic between clusters"};
    }
    if (!clusters_.connected_uid(name)) return Error{ErrorCode::kUnavailable, "there is no link of the cluster"};
    auto certificate = authority_.sign_cluster(name, request.request());
    if (!certificate) return certificate.error();
    reply.set_certificate(std::move(*certificate));
    reply.set_authorities(authority_.roots());
    return {};
  }

  RemoteClusters& clusters_;
  Tunnels& tunnels_;
  SpokeQuestions& questions_;
  Authority& authority_;
};

}  // namespace

std::shared_ptr<grpc::Service> make_remote_service(RemoteClusters& clusters, Tunnels& tunnels,
                                                   SpokeQuestions& questions, Authority& authority) {
  return std::make_shared<RemoteService>(clusters, tunnels, questions, authority);
}

}  // namespace edge::controller::remote
