#include "controller/relay/hub_session.h"

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "controller/remote/hub_channel.h"
#include "schemas/relay.grpc.pb.h"

namespace edge::controller::relay {
namespace {

/// Parts are far smaller; a single value of a secret is not split.
constexpr int kMaxPart = 20 << 20;
constexpr auto kPatience = std::chrono::seconds(5);

/// One stream and the thread that reads it.
template <typename Up, typename Down>
struct Line {
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<Up, Down>> stream;
  std::thread thread;
  std::mutex writes;  ///< gRPC takes one at a time, and none after the end
  bool open = false;  ///< guarded by it

  template <typename Take>
  void run(const Take& take, const std::function<void(const Error&)>& ended) {
    open = true;
    thread = std::thread([this, &take, &ended] {
      Down down;
      while (stream->Read(&down)) {
        if (take && !take(down)) context.TryCancel();
      }
      {
        const std::lock_guard lock(writes);
        open = false;
      }
      ended(remote::hub_error(stream->Finish()));
    });
  }
  bool say(const Up& up) {
    const std::lock_guard lock(writes);
    return open && stream->Write(up);
  }
  ~Line() {
    context.TryCancel();
    if (thread.joinable()) thread.join();
  }
};

}  // namespace

struct HubSession::Impl {
  explicit Impl(HubSessionEvents given) : events(std::move(given)) {}

  const HubSessionEvents events;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Relays::Stub> stub;
  Line<v1::ProgramsUp, v1::ProgramsDown> programs;
  Line<v1::ValuesUp, v1::ValuesDown> values;
  Line<v1::AgentsUp, v1::AgentsDown> agents;
};

HubSession::HubSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HubSession::~HubSession() { cancel(); }

Result<std::unique_ptr<HubSession>> HubSession::open(const RemoteIdentity& identity, HubSessionEvents events) {
  auto impl = std::make_unique<Impl>(std::move(events));
  impl->channel = remote::open_hub_channel(identity, kMaxPart);
  if (!impl->channel->WaitForConnected(std::chrono::system_clock::now() + kPatience)) {
    return Error{ErrorCode::kUnavailable, "the hub does not answer"};
  }
  impl->stub = v1::Relays::NewStub(impl->channel);
  impl->programs.stream = impl->stub->Programs(&impl->programs.context);
  impl->programs.run(impl->events.programs, impl->events.ended);
  return std::unique_ptr<HubSession>(new HubSession(std::move(impl)));
}

void HubSession::open_others() {
  impl_->values.stream = impl_->stub->Values(&impl_->values.context);
  impl_->values.run(impl_->events.values, impl_->events.ended);
  impl_->agents.stream = impl_->stub->Agents(&impl_->agents.context);
  impl_->agents.run(impl_->events.agents, impl_->events.ended);
}

bool HubSession::say(const v1::ProgramsUp& up) { return impl_->programs.say(up); }
bool HubSession::say(const v1::ValuesUp& up) { return impl_->values.say(up); }
bool HubSession::say(const v1::AgentsUp& up) { return impl_->agents.say(up); }

void HubSession::cancel() {
  impl_->programs.context.TryCancel();
  impl_->values.context.TryCancel();
  impl_->agents.context.TryCancel();
}

}  // namespace edge::controller::relay
