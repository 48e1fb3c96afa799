// The gRPC calls of agents: their authorization, and joining.
#include <grpcpp/grpcpp.h>

#include "controller/distribute/caller.h"
#include "controller/distribute/protocol.h"
#include "controller/distribute/streams/conversation.h"
#include "controller/distribute/streams/streams.h"
#include "schemas/agent.grpc.pb.h"

namespace edge::controller {
namespace {

using namespace agent::v1;

/// Signing costs a tenth of a millisecond: who has the token may join many agents at once, and not keep a core busy.
constexpr double kJoinsASecond = 50;
constexpr double kMostJoinsAtOnce = 300;

/// A reactor for a refused stream, which gRPC needs too.
template <typename Reactor>
class Refusing final : public Reactor {
 public:
  explicit Refusing(const Error& why) { this->Finish(to_grpc(why)); }
  void OnDone() override { delete this; }
};

class AgentService final : public Agents::CallbackService {
 public:
  explicit AgentService(Hub& hub) : hub_(hub) {}

  grpc::ServerUnaryReactor* Join(grpc::CallbackServerContext* context, const JoinRequest* request,
                                 Credentials* reply) override {
    return answer(context, join(*context, *request, *reply));
  }

  grpc::ServerUnaryReactor* Renew(grpc::CallbackServerContext* context, const RenewRequest* request,
                                  Credentials* reply) override {
    const auto who = caller(*context, hub_.authority(), Role::kAgent);
    if (!who) return answer(context, refuse(*context, who.error()));
    if (!hub_.knows_revoked()) {
      return answer(context, Error{ErrorCode::kUnavailable,
                                   "the controller does not know yet which agents are revoked; it renews later"});
    }
    return answer(context, give(hub_.authority().sign(who->subject.name, request->request()), *reply));
  }

  ProgramReactor* Programs(grpc::CallbackServerContext* context) override {
    auto who = caller(*context, hub_.authority(), Role::kAgent);
    if (!who) return new Refusing<ProgramReactor>(refuse(*context, who.error()));
    return new_program_stream(hub_, *context, std::move(*who));
  }

  ValueReactor* Values(grpc::CallbackServerContext* context) override {
    auto who = caller(*context, hub_.authority(), Role::kAgent);
    if (!who) return new Refusing<ValueReactor>(refuse(*context, who.error()));
    return new_value_stream(hub_, *context, std::move(*who));
  }

  AddressReactor* Addresses(grpc::CallbackServerContext* context) override {
    auto who = caller(*context, hub_.authority(), Role::kAgent);
    if (!who) return new Refusing<AddressReactor>(refuse(*context, who.error()));
    return new_address_stream(hub_, *context, std::move(*who));
  }

  LinkReactor* Links(grpc::CallbackServerContext* context) override {
    auto who = caller(*context, hub_.authority(), Role::kAgent);
    if (!who) return new Refusing<LinkReactor>(refuse(*context, who.error()));
    return new_link_stream(hub_, *context, std::move(*who));
  }

  LimitReactor* Limits(grpc::CallbackServerContext* context) override {
    auto who = caller(*context, hub_.authority(), Role::kAgent);
    if (!who) return new Refusing<LimitReactor>(refuse(*context, who.error()));
    return new_limit_stream(hub_, *context, std::move(*who));
  }

  ReportReactor* Reports(grpc::CallbackServerContext* context, ReportsEnd*) override {
    auto who = caller(*context, hub_.authority(), Role::kAgent);
    if (!who) return new Refusing<ReportReactor>(refuse(*context, who.error()));
    return new_report_stream(hub_, *context, std::move(*who));
  }

  QuestionReactor* Questions(grpc::CallbackServerContext* context) override {
    auto who = caller(*context, hub_.authority(), Role::kAgent);
    if (!who) return new Refusing<QuestionReactor>(refuse(*context, who.error()));
    return new_question_stream(hub_, *context, std::move(*who));
  }

 private:
  static grpc::ServerUnaryReactor* answer(grpc::CallbackServerContext* context, const Status& status) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(to_grpc(status));
    return reactor;
  }

  Error refuse(const grpc::CallbackServerContext& context, const Error& why) {
    hub_.log_refusal(peer_address(context), why.text);
    return why;
  }

  Status join(const grpc::CallbackServerContext& context, const JoinRequest& request, Credentials& reply) {
    // Whoever has not the token learns nothing else.
    if (!hub_.authority().is_token(request.token())) {
      return refuse(context, {ErrorCode::kUnauthenticated, "the token is wrong"});
    }
    if (!may_join()) return Error{ErrorCode::kResourceExhausted, "many agents join at once; try again"};
    Status status = give(hub_.authority().join(request.token(), request.name(), request.request()), reply);
    if (!status) return refuse(context, status.error());
    // By a token for one name it may have taken that from another key, whose certificates are revoked.
    hub_.share_revoked();
    hub_.log().info("an agent has joined", {{"agent", request.name()}, {"from", peer_address(context)}});
    return {};
  }

  Status give(Result<std::string> certificate, Credentials& reply) {
    if (!certificate) return certificate.error();
    reply.set_certificate(std::move(*certificate));
    reply.set_authorities(hub_.authority().roots());
    reply.set_program_key(hub_.program_key());
    return {};
  }

  bool may_join() {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    joins_ = std::min(kMostJoinsAtOnce, joins_ + std::chrono::duration<double>(now - filled_).count() * kJoinsASecond);
    filled_ = now;
    if (joins_ < 1) return false;
    joins_ -= 1;
    return true;
  }

  Hub& hub_;
  std::mutex mutex_;
  double joins_ = kMostJoinsAtOnce;
  std::chrono::steady_clock::time_point filled_ = std::chrono::steady_clock::now();
};

}  // namespace

std::unique_ptr<grpc::Service> make_agent_service(Hub& hub) { return std::make_unique<AgentService>(hub); }

}  // namespace edge::controller
