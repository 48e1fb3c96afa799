#include "controller/remote/hub_stream.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "controller/remote/frame_reactor.h"
#include "controller/remote/hub_channel.h"
#include "schemas/remote.grpc.pb.h"

namespace edge::controller::remote {
namespace {

namespace v1 = edge::remote::v1;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMaxMessage = 2 << 20;
constexpr auto kConnectPatience = seconds(5);
constexpr auto kCallPatience = seconds(10);
constexpr auto kFarewell = milliseconds(300);
/// Words that wait for a hub that reads nothing.
constexpr std::size_t kMostUnsent = 256;

class ClientStream final : public grpc::ClientBidiReactor<v1::Message, v1::Message> {
 public:
  ClientStream(v1::Remote::Stub& stub, HubStreamEvents events) : events_(std::move(events)) {
    stub.async()->Link(&context_, this);
    // What is said comes from other threads: until nothing may be said any more the call must not be done.
    AddHold();
    StartRead(&down_);
    StartCall();
  }

  void say(const std::vector<Word>& words) {
    const std::lock_guard lock(mutex_);
    for (const Word& word : words) {
      if (waiting_.size() >= kMostUnsent) return context_.TryCancel();
      write_word(word, waiting_.emplace_back());
    }
    advance();
  }

  void close() {
    std::unique_lock lock(mutex_);
    closing_ = true;
    advance();
    if (!changed_.wait_for(lock, kFarewell, [this] { return done_; })) context_.TryCancel();
    changed_.wait(lock, [this] { return done_; });
  }

  void OnReadDone(bool ok) override {
    // The end comes with its reason.
    if (!ok) return let_go();
    if (down_.ByteSizeLong() > kMaxWordBytes)
      return fail({ErrorCode::kResourceExhausted, "a word of the hub is too long"});
    const auto word = read_word(down_);
    if (!word) return fail(word.error());
    events_.heard(*word);
    StartRead(&down_);
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok) return;
    waiting_.pop_front();
    advance();
  }

  void OnDone(const grpc::Status& status) override {
    events_.ended(fault_ ? *fault_ : hub_error(status));
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

 private:
  void fail(const Error& why) {
    fault_ = why;
    context_.TryCancel();
    let_go();
  }
  void let_go() {
    {
      const std::lock_guard lock(mutex_);
      finished_ = true;
    }
    RemoveHold();
  }
  void advance() {
    if (writing_ || finished_) return;
    if (!waiting_.empty()) {
      writing_ = true;
      return StartWrite(&waiting_.front());
    }
    if (!closing_ || half_closed_) return;
    half_closed_ = true;
    StartWritesDone();
  }

  const HubStreamEvents events_;
  grpc::ClientContext context_;
  v1::Message down_;
  std::optional<Error> fault_;  ///< of the reads, then of the end
  std::mutex mutex_;            ///< guards what follows
  std::condition_variable changed_;
  std::deque<v1::Message> waiting_;
  bool writing_ = false;
  bool closing_ = false;
  bool half_closed_ = false;
  bool finished_ = false;  ///< nothing may be said any more
  bool done_ = false;
};

/// The spoke's end of a tunnel.
class ClientTunnel final : public FrameReactor<grpc::ClientBidiReactor<v1::Frame, v1::Frame>, v1::Frame> {
 public:
  using FrameReactor::FrameReactor;

  void start(v1::Remote::Stub& stub, const std::shared_ptr<ClientTunnel>& self) {
    keep(self);
    stub.async()->Tunnel(&context_, this);
    // Frames come from other threads: until none may be sent any more the call must not be done.
    AddHold();
    read();
    StartCall();
    if (Status status = tunnels_.enter(peer_, self); !status) end(status.error());
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    written(ok);
  }
  void OnDone(const grpc::Status&) override {
    tunnels_.left(peer_.cluster_uid, *this);
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }
  bool is_done() {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  void await_done() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }

 private:
  void end_call(const Error&) override {
    context_.TryCancel();
    RemoveHold();
  }

  grpc::ClientContext context_;
  std::condition_variable changed_;
  bool done_ = false;
};

/// Answers the hub's questions, on a thread: an answer takes the time that the cluster's API does.
class AskedByHub {
 public:
  AskedByHub(v1::Remote::Stub& stub, std::function<AgentAnswer(const AgentQuestion&)> answer)
      : stub_(stub), answer_(std::move(answer)), thread_([this] { run(); }) {}
  ~AskedByHub() {
    context_.TryCancel();
    thread_.join();
  }
  AskedByHub(const AskedByHub&) = delete;
  AskedByHub& operator=(const AskedByHub&) = delete;

  bool is_done() const { return done_; }
  /// The hub is older, and asks nothing.
  bool is_unwanted() const { return unwanted_; }

 private:
  using Stream = grpc::ClientReaderWriter<v1::Answer, v1::Question>;

  void run() {
    const std::unique_ptr<Stream> stream = stub_.Questions(&context_);
    v1::Question question;
    bool good = true;
    while (good && stream->Read(&question)) good = give(*stream, question);
    context_.TryCancel();
    unwanted_ = stream->Finish().error_code() == grpc::StatusCode::UNIMPLEMENTED;
    done_ = true;
  }

  bool give(Stream& stream, const v1::Question& question) {
    AgentAnswer answer{414, "text/plain", "the target is too long\n"};
    if (question.target().size() <= kMostTarget) answer = answer_({question.method(), question.target()});
    v1::Answer part;
    part.set_number(question.number());
    part.set_status(static_cast<std::uint32_t>(answer.status));
    part.set_content_type(answer.content_type);
    std::size_t at = 0;
    do {
      const std::size_t size = std::min(kPiece, answer.body.size() - at);
      part.set_bytes(answer.body.data() + at, size);
      at += size;
      part.set_last(at == answer.body.size());
      if (!stream.Write(part)) return false;
      part.clear_status();
      part.clear_content_type();
    } while (at < answer.body.size());
    return true;
  }

  static constexpr std::size_t kPiece = 256 << 10;
  static constexpr std::size_t kMostTarget = 2048;

  v1::Remote::Stub& stub_;
  const std::function<AgentAnswer(const AgentQuestion&)> answer_;
  grpc::ClientContext context_;
  std::atomic<bool> done_ = false;
  std::atomic<bool> unwanted_ = false;
  std::thread thread_;
};

}  // namespace

struct HubChannel::Impl {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Remote::Stub> stub;
  std::unique_ptr<ClientStream> stream;
  std::shared_ptr<ClientTunnel> tunnel;
  std::unique_ptr<AskedByHub> asked;
};

HubChannel::HubChannel(const RemoteIdentity& identity) : impl_(std::make_unique<Impl>()) {
  impl_->channel = open_hub_channel(identity, kMaxMessage);
  impl_->stub = v1::Remote::NewStub(impl_->channel);
}

HubChannel::~HubChannel() = default;

Status HubChannel::await(const std::function<bool()>& stopped) {
  const auto until = std::chrono::steady_clock::now() + kConnectPatience;
  while (!impl_->channel->WaitForConnected(std::chrono::system_clock::now() + milliseconds(100))) {
    if (stopped()) return Error{ErrorCode::kCancelled, "stopped"};
    // A call says why.
    if (impl_->channel->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE) return {};
    if (std::chrono::steady_clock::now() > until) return Error{ErrorCode::kUnavailable, "the hub does not answer"};
  }
  return {};
}

namespace {

/// `call` writes the reply.
template <typename Call>
Result<HubChannel::Renewed> renewed(const std::string& request, const Call& call) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallPatience);
  v1::RenewRequest asked;
  asked.set_request(request);
  v1::Credentials reply;
  const grpc::Status status = call(context, asked, reply);
  if (!status.ok()) return hub_error(status);
  return HubChannel::Renewed{reply.certificate(), reply.authorities()};
}

}  // namespace

Result<HubChannel::Renewed> HubChannel::renew(const std::string& request) {
  return renewed(request, [this](grpc::ClientContext& context, const v1::RenewRequest& asked, v1::Credentials& reply) {
    return impl_->stub->Renew(&context, asked, &reply);
  });
}

Result<HubChannel::Renewed> HubChannel::renew_traffic(const std::string& request) {
  return renewed(request, [this](grpc::ClientContext& context, const v1::RenewRequest& asked, v1::Credentials& reply) {
    return impl_->stub->RenewTraffic(&context, asked, &reply);
  });
}

void HubChannel::open(HubStreamEvents events) {
  impl_->stream = std::make_unique<ClientStream>(*impl_->stub, std::move(events));
}
void HubChannel::say(const std::vector<Word>& words) { impl_->stream->say(words); }
void HubChannel::keep_tunnel(Tunnels& tunnels, const TunnelPeer& hub) {
  if (impl_->tunnel && !impl_->tunnel->is_done()) return;
  impl_->tunnel = std::make_shared<ClientTunnel>(tunnels, hub);
  impl_->tunnel->start(*impl_->stub, impl_->tunnel);
}
void HubChannel::keep_questions(const std::function<AgentAnswer(const AgentQuestion&)>& answer) {
  if (impl_->asked && (!impl_->asked->is_done() || impl_->asked->is_unwanted())) return;
  impl_->asked = std::make_unique<AskedByHub>(*impl_->stub, answer);
}
void HubChannel::close() {
  impl_->asked.reset();
  if (impl_->tunnel) {
    impl_->tunnel->end({ErrorCode::kCancelled, "the connection ends"});
    impl_->tunnel->await_done();
    impl_->tunnel.reset();
  }
  if (!impl_->stream) return;
  impl_->stream->close();
  impl_->stream.reset();
}

}  // namespace edge::controller::remote
