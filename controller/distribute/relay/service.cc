// The calls of relays: who may call, and which groups its agents may be in.
#include <algorithm>

#include <grpcpp/grpcpp.h>

#include "controller/distribute/caller.h"
#include "controller/distribute/relay/streams.h"
#include "controller/distribute/streams/conversation.h"
#include "schemas/relay.grpc.pb.h"

namespace edge::controller {
namespace {

/// A reactor for a refused stream, which gRPC needs too.
template <typename Reactor>
class RelayRefusal final : public Reactor {
 public:
  explicit RelayRefusal(const Error& why) { this->Finish(to_grpc(why)); }
  void OnDone() override { delete this; }
};

class RelayService final : public edge::relay::v1::Relays::CallbackService {
 public:
  RelayService(Hub& hub, RelayedGroups groups) : hub_(hub), groups_(std::move(groups)) {}

  RelayProgramReactor* Programs(grpc::CallbackServerContext* context) override {
    auto call = enter(*context);
    return call ? new_relay_programs(std::move(*call)) : new RelayRefusal<RelayProgramReactor>(call.error());
  }
  RelayValueReactor* Values(grpc::CallbackServerContext* context) override {
    auto call = enter(*context);
    return call ? new_relay_values(std::move(*call)) : new RelayRefusal<RelayValueReactor>(call.error());
  }
  RelayAgentReactor* Agents(grpc::CallbackServerContext* context) override {
    auto call = enter(*context);
    return call ? new_relay_agents(std::move(*call)) : new RelayRefusal<RelayAgentReactor>(call.error());
  }

 private:
  Result<RelayCall> enter(grpc::CallbackServerContext& context) {
    auto who = caller(context, hub_.authority(), Role::kRemote);
    auto granted = who ? groups_(who->subject.name) : Result<std::vector<std::string>>(who.error());
    if (!granted) {
      hub_.log_refusal(peer_address(context), granted.error().text);
      return granted.error();
    }
    return RelayCall{hub_, context, std::move(*who), groups_, std::move(*granted)};
  }

  Hub& hub_;
  const RelayedGroups groups_;
};

}  // namespace

Status may_relay(const RelayedGroups& groups, const std::string& cluster, const std::vector<std::string>& granted) {
  const auto now = groups(cluster);
  if (!now) return now.error();
  if (*now != granted) return Error{ErrorCode::kAborted, "the groups of the cluster's agents are others"};
  return {};
}

std::shared_ptr<grpc::Service> make_relay_service(Hub& hub, RelayedGroups groups) {
  return std::make_shared<RelayService>(hub, std::move(groups));
}

}  // namespace edge::controller
