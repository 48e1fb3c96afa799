// The gRPC calls of administrators.
#include <algorithm>

#include <grpcpp/grpcpp.h>

#include "controller/authority/remote_identity.h"
#include "controller/distribute/caller.h"
#include "controller/distribute/protocol.h"
#include "controller/distribute/streams/conversation.h"
#include "controller/distribute/streams/streams.h"
#include "schemas/agent.grpc.pb.h"

namespace edge::controller {
namespace {

using namespace agent::v1;

constexpr std::size_t kPiece = 256 << 10;

/// Streams the bytes of a program in pieces.
class ProgramAnswer final : public grpc::ServerWriteReactor<Bytes> {
 public:
  ProgramAnswer(std::shared_ptr<const std::vector<std::byte>> bytes, const Status& status) : bytes_(std::move(bytes)) {
    if (!status) {
      Finish(to_grpc(status));
    } else {
      send();
    }
  }
  void OnWriteDone(bool ok) override {
    if (ok) return send();
    Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override { delete this; }

 private:
  void send() {
    if (at_ == bytes_->size()) return Finish(grpc::Status::OK);
    const std::size_t size = std::min(kPiece, bytes_->size() - at_);
    piece_.set_bytes(bytes_->data() + at_, size);
    at_ += size;
    StartWrite(&piece_);
  }

  std::shared_ptr<const std::vector<std::byte>> bytes_;
  std::size_t at_ = 0;
  Bytes piece_;
};

/// Waits for the response of an agent. The caller may cancel first: whichever happens first ends the call.
class AskAnswer final : public grpc::ServerUnaryReactor {
 public:
  explicit AskAnswer(AskReply& reply) : reply_(&reply) {}

  static TakeAnswer taker(std::shared_ptr<AskAnswer> self) {
    return [self = std::move(self)](Result<AgentAnswer> answer) { self->take(std::move(answer)); };
  }
  /// Lives until the call is done, and until nobody has an answer for it.
  void keep(std::shared_ptr<AskAnswer> self) { self_ = std::move(self); }

  void OnCancel() override { finish(grpc::Status::CANCELLED); }
  void OnDone() override { const std::shared_ptr<AskAnswer> last = std::move(self_); }

 private:
  void take(Result<AgentAnswer> answer) {
    const std::lock_guard lock(mutex_);
    if (reply_ == nullptr) return;
    if (answer) {
      reply_->set_status(static_cast<std::uint32_t>(answer->status));
      reply_->set_content_type(answer->content_type);
      reply_->set_body(std::move(answer->body));
    }
    reply_ = nullptr;
    Finish(answer ? grpc::Status::OK : to_grpc(answer.error()));
  }
  void finish(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (reply_ == nullptr) return;
    reply_ = nullptr;
    Finish(status);
  }

  std::mutex mutex_;
  AskReply* reply_;  ///< null: the call has ended, or is about to
  std::shared_ptr<AskAnswer> self_;
};

class InspectService final : public Inspect::CallbackService {
 public:
  explicit InspectService(Hub& hub) : hub_(hub) {}

  grpc::ServerUnaryReactor* ListAgents(grpc::CallbackServerContext* context, const ListAgentsRequest*,
                                       ListAgentsReply* reply) override {
    return answer(context, [&]() -> Status {
      reply->set_published(published(kDefaultGroup));
      reply->set_version(EDGE_VERSION);
      for (const AgentState& state : hub_.registry().agents()) write_agent(state, *reply->add_agents());
      return {};
    });
  }

  grpc::ServerUnaryReactor* GetAgent(grpc::CallbackServerContext* context, const GetAgentRequest* request,
                                     Agent* reply) override {
    return answer(context, [&]() -> Status {
      const auto state = find(request->name());
      if (!state) return state.error();
      write_agent(*state, *reply);
      return {};
    });
  }

  grpc::ServerWriteReactor<Bytes>* GetProgram(grpc::CallbackServerContext* context,
                                              const GetAgentRequest* request) override {
    auto bytes = program_of(*context, request->name());
    if (!bytes) return new ProgramAnswer(nullptr, bytes.error());
    return new ProgramAnswer(std::move(*bytes), {});
  }

  grpc::ServerWriteReactor<Bytes>* GetKeptProgram(grpc::CallbackServerContext* context,
                                                  const KeptProgramRequest* request) override {
    auto bytes = kept_program(*context, request->program());
    if (!bytes) return new ProgramAnswer(nullptr, bytes.error());
    return new ProgramAnswer(std::move(*bytes), {});
  }

  grpc::ServerUnaryReactor* Ask(grpc::CallbackServerContext* context, const AskRequest* request,
                                AskReply* reply) override {
    const auto reactor = std::make_shared<AskAnswer>(*reply);
    reactor->keep(reactor);
    const TakeAnswer take = AskAnswer::taker(reactor);
    const auto who = administrator(*context);
    if (!who) {
      take(who.error());
    } else if (request->target().size() > Questions::kMostTarget || !request->target().starts_with('/')) {
      take(Error{ErrorCode::kInvalidArgument, "the target is no path, or too long"});
    } else if (!request->agent().empty()) {
      hub_.questions().ask(request->agent(), {request->method(), request->target()}, take);
    } else if (hub_.own_pages()) {
      hub_.own_pages()(
          {request->method(), request->target(), "administrator " + *who + " at " + peer_address(*context)}, take);
    } else {
      take(Error{ErrorCode::kUnimplemented, "this controller has no pages of its own"});
    }
    return reactor.get();
  }

  grpc::ServerUnaryReactor* Revoke(grpc::CallbackServerContext* context, const GetAgentRequest* request,
                                   Done*) override {
    return answer(context, [&] { return hub_.revoke(request->name()); });
  }

  grpc::ServerUnaryReactor* MakeJoinFile(grpc::CallbackServerContext* context, const GetAgentRequest* request,
                                         JoinFile* reply) override {
    return answer(context, [&]() -> Status {
      auto text = hub_.authority().join_file_for(request->name());
      if (!text) return text.error();
      hub_.log().info("a join file was created", {{"agent", request->name()}, {"for", peer_address(*context)}});
      reply->set_text(std::move(*text));
      return {};
    });
  }

  grpc::ServerUnaryReactor* InviteRemote(grpc::CallbackServerContext* context, const InviteRemoteRequest* request,
                                         RemoteInvitation* reply) override {
    return answer(context, [&]() -> Status {
      auto pair = hub_.authority().invite_remote(request->name(), std::chrono::seconds(request->valid_seconds()));
      if (!pair) return pair.error();
      const std::string roots = hub_.authority().roots();
      reply->set_text(text_of(RemoteIdentity{.hub = printable(request->hub(), 260),
                                             .cluster = request->name(),
                                             .certificate = pair->certificate,
                                             .key = pair->key,
                                             .authorities = roots,
                                             .program_key = hub_.program_key()}));
      reply->set_certificate(std::move(pair->certificate));
      reply->set_key(std::move(pair->key));
      reply->set_authorities(roots);
      reply->set_revoked_ms(revoked_ms(request->name()));
      hub_.log().info("a join file was created", {{"cluster", request->name()}, {"for", peer_address(*context)}});
      return {};
    });
  }

  grpc::ServerUnaryReactor* RevokeRemote(grpc::CallbackServerContext* context, const GetAgentRequest* request,
                                         RemoteRevoked* reply) override {
    return answer(context, [&]() -> Status {
      Status status = hub_.authority().revoke_remote(request->name());
      if (!status) return status;
      hub_.log().info("a cluster is revoked", {{"cluster", request->name()}});
      reply->set_revoked_ms(revoked_ms(request->name()));
      return {};
    });
  }

  grpc::ServerUnaryReactor* History(grpc::CallbackServerContext* context, const HistoryRequest* request,
                                    HistoryReply* reply) override {
    return answer(context, [&]() -> Status {
      if (!hub_.history().list) return no_history();
      reply->set_group(group_of(request->group()));
      const auto entries = hub_.history().list(reply->group());
      if (!entries) return entries.error();
      for (const HistoryEntry& entry : *entries) {
        auto& item = *reply->add_items();
        item.set_program(entry.program);
        item.set_at_ms(to_milliseconds(entry.at));
        item.set_cause(entry.cause);
        for (const std::string& resource : entry.resources) item.add_resources(resource);
        item.set_user(entry.user);
        item.set_serving(entry.serving);
        item.set_pinned(entry.pinned);
      }
      return {};
    });
  }

  grpc::ServerUnaryReactor* Rollback(grpc::CallbackServerContext* context, const RollbackRequest* request,
                                     Done*) override {
    return answer(context, [&] {
      if (!hub_.history().rollback) return Status(no_history());
      return hub_.history().rollback(group_of(request->group()), request->program());
    });
  }

  grpc::ServerUnaryReactor* Release(grpc::CallbackServerContext* context, const ReleaseRequest* request,
                                    Done*) override {
    return answer(context, [&] {
      return hub_.history().release ? hub_.history().release(group_of(request->group())) : Status(no_history());
    });
  }

  grpc::ServerUnaryReactor* Programmed(grpc::CallbackServerContext* context, const ProgrammedRequest* request,
                                       ProgrammedReply* reply) override {
    return answer(context, [&]() -> Status { return answer_progress(hub_, *request, *reply); });
  }

 private:
  /// For other controllers of this cluster, which learn of it by the EdgeRemoteCluster.
  std::uint64_t revoked_ms(const std::string& name) {
    return static_cast<std::uint64_t>(to_milliseconds(hub_.authority().remote_revoked_until(name)));
  }
  static std::string group_of(const std::string& asked) {
    return asked.empty() ? std::string(kDefaultGroup) : printable(asked, 253);
  }
  static Error no_history() { return {ErrorCode::kUnimplemented, "this controller keeps no history"}; }

  /// The name in the certificate. Refuses who is no administrator, before anything else.
  Result<std::string> administrator(const grpc::CallbackServerContext& context) {
    auto who = caller(context, hub_.authority(), Role::kAdministrator);
    if (who) return std::move(who->subject.name);
    hub_.log_refusal(peer_address(context), who.error().text);
    return who.error();
  }
  Status check(const grpc::CallbackServerContext& context) {
    const auto who = administrator(context);
    return who ? Status() : Status(who.error());
  }

  template <typename Work>
  grpc::ServerUnaryReactor* answer(grpc::CallbackServerContext* context, Work work) {
    Status status = check(*context);
    if (status) status = work();
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(to_grpc(status));
    return reactor;
  }

  std::string published(std::string_view group) const {
    const auto current = hub_.current(group).program;
    return current ? program::to_hex(current->outline().program) : std::string();
  }

  Result<AgentState> find(const std::string& name) {
    auto state = hub_.registry().agent(name);
    if (!state) return Error{ErrorCode::kNotFound, "no agent `" + printable(name, 253) + "` has connected"};
    return std::move(*state);
  }

  Result<std::shared_ptr<const std::vector<std::byte>>> program_of(const grpc::CallbackServerContext& context,
                                                                   const std::string& name) {
    if (Status status = check(context); !status) return status.error();
    const auto state = find(name);
    if (!state) return state.error();
    if (state->program.empty()) return Error{ErrorCode::kFailedPrecondition, "the agent runs no program yet"};
    if (const auto current = hub_.current(state->group).program;
        current && state->program == program::to_hex(current->outline().program)) {
      return current->bytes();
    }
    if (hub_.history().bytes) {
      if (auto kept = hub_.history().bytes(state->program)) return kept;
    }
    return Error{ErrorCode::kFailedPrecondition,
                 "the agent runs program " + state->program + ", which this controller does not have any longer"};
  }

  Result<std::shared_ptr<const std::vector<std::byte>>> kept_program(const grpc::CallbackServerContext& context,
                                                                     const std::string& program) {
    if (Status status = check(context); !status) return status.error();
    if (hub_.history().bytes) {
      if (auto kept = hub_.history().bytes(program)) return kept;
    }
    return Error{ErrorCode::kNotFound, "this controller does not keep a program `" + printable(program, 64) + "`"};
  }

  Hub& hub_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_inspect_service(Hub& hub) { return std::make_unique<InspectService>(hub); }

}  // namespace edge::controller
