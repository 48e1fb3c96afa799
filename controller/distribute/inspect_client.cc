#include "controller/distribute/inspect_client.h"

#include <algorithm>
#include <cstdlib>

#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>

#include "base/os/file.h"
#include "controller/distribute/protocol.h"
#include "program/format/file.h"
#include "schemas/agent.grpc.pb.h"

namespace edge::controller {
namespace {

using agent::v1::Done;
using agent::v1::GetAgentRequest;

constexpr std::size_t kMaxFileBytes = 64 << 10;
/// What an agent with many backends takes.
constexpr int kMaxMessage = 256 << 20;
constexpr std::size_t kMostType = 128;
constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxReason = 2048;
constexpr std::string_view kControllerLine = "controller: ";
constexpr std::string_view kCertificate = "-----BEGIN CERTIFICATE";
constexpr std::string_view kKey = "-----BEGIN PRIVATE KEY";

/// Certificate, key, authorities, in the order in which Authority writes them.
struct Credentials {
  std::string controller;
  std::string certificate;
  std::string key;
  std::string authorities;
};

Result<Credentials> read_credentials(const std::string& path) {
  const auto text = read_file(path, kMaxFileBytes);
  if (!text) return text.error();
  const std::size_t certificate = text->find(kCertificate);
  const std::size_t key = text->find(kKey);
  const std::size_t authorities = key == std::string::npos ? key : text->find(kCertificate, key);
  if (certificate >= key || authorities == std::string::npos) {
    return Error{ErrorCode::kInvalidArgument, path + ": is no administrator's file"};
  }
  Credentials read{{},
                   text->substr(certificate, key - certificate),
                   text->substr(key, authorities - key),
                   text->substr(authorities)};
  if (const std::size_t line = text->find(kControllerLine); line < certificate) {
    const std::size_t begin = line + kControllerLine.size();
    read.controller = text->substr(begin, text->find('\n', begin) - begin);
  }
  return read;
}

Status status_of(const grpc::Status& status) {
  if (status.ok()) return {};
  const int code = status.error_code();
  const bool known = code <= static_cast<int>(ErrorCode::kUnauthenticated);
  return Error{known ? static_cast<ErrorCode>(code) : ErrorCode::kUnknown, printable(status.error_message(), 1024)};
}

/// What gRPC says of a connection that it could not make begins with it.
constexpr std::string_view kNoConnection = "failed to connect to all addresses";

/// Of that the cause alone.
std::string_view cause_in(std::string_view text) {
  for (const std::string_view before : {"Failed to connect to remote host: ", "last error: "}) {
    if (const std::size_t at = text.find(before); at != std::string_view::npos) return text.substr(at + before.size());
  }
  return text;
}

ObjectProgress::State state_of(agent::v1::ObjectProgress::State state) {
  using From = agent::v1::ObjectProgress;
  using State = ObjectProgress::State;
  return state == From::TAKEN      ? State::kTaken
         : state == From::REJECTED ? State::kRejected
         : state == From::APART    ? State::kApart
                                   : State::kWaiting;
}

}  // namespace

/// gRPC writes a line to stderr with every handshake that fails, in a form of its own. What there is to say comes back
/// as a status.
void quieten_grpc() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) ::gpr_set_log_function([](gpr_log_func_args*) {});
}

struct InspectClient::Impl {
  std::string controller;
  std::chrono::milliseconds timeout{};
  std::unique_ptr<agent::v1::Inspect::Stub> stub;

  /// One unary call with the deadline.
  template <typename Call>
  Status call(Call call) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    const Status status = status_of(call(context));
    if (status || !status.error().text.starts_with(kNoConnection)) return status;
    return Error{status.error().code,
                 "cannot reach the controller " + controller + ": " + std::string(cause_in(status.error().text))};
  }
};

InspectClient::InspectClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InspectClient::~InspectClient() = default;

Result<std::unique_ptr<InspectClient>> InspectClient::open(const InspectOptions& options) {
  auto credentials = read_credentials(options.credentials_file);
  if (!credentials) return credentials.error();
  const std::string controller = options.controller.empty() ? credentials->controller : options.controller;
  if (controller.empty()) {
    return Error{ErrorCode::kInvalidArgument, options.credentials_file + ": says no controller, and none is given"};
  }
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = credentials->authorities;
  tls.pem_private_key = credentials->key;
  tls.pem_cert_chain = credentials->certificate;
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride("edge-controller");
  arguments.SetMaxReceiveMessageSize(kMaxMessage);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  quieten_grpc();
  auto impl = std::make_unique<Impl>();
  impl->controller = controller;
  impl->timeout = options.timeout;
  impl->stub = agent::v1::Inspect::NewStub(grpc::CreateCustomChannel(controller, grpc::SslCredentials(tls), arguments));
  return std::unique_ptr<InspectClient>(new InspectClient(std::move(impl)));
}

Result<InspectClient::Agents> InspectClient::agents() {
  agent::v1::ListAgentsReply reply;
  const Status status =
      impl_->call([&](grpc::ClientContext& context) { return impl_->stub->ListAgents(&context, {}, &reply); });
  if (!status) return status.error();
  Agents agents{reply.published(), reply.version(), {}};
  for (const agent::v1::Agent& agent : reply.agents()) agents.agents.push_back(read_agent(agent));
  return agents;
}

Result<AgentState> InspectClient::agent(const std::string& name) {
  GetAgentRequest request;
  request.set_name(name);
  agent::v1::Agent reply;
  const Status status =
      impl_->call([&](grpc::ClientContext& context) { return impl_->stub->GetAgent(&context, request, &reply); });
  if (!status) return status.error();
  return read_agent(reply);
}

namespace {

/// Reads a program in pieces.
template <typename Reader>
grpc::Status read_bytes(grpc::ClientContext& context, Reader& reader, std::vector<std::byte>& bytes) {
  agent::v1::Bytes piece;
  while (reader.Read(&piece)) {
    if (bytes.size() + piece.bytes().size() > program::kMaxProgramBytes) context.TryCancel();
    const auto* begin = reinterpret_cast<const std::byte*>(piece.bytes().data());
    bytes.insert(bytes.end(), begin, begin + piece.bytes().size());
  }
  return reader.Finish();
}

}  // namespace

Result<std::vector<std::byte>> InspectClient::program(const std::string& agent) {
  GetAgentRequest request;
  request.set_name(agent);
  std::vector<std::byte> bytes;
  const Status status = impl_->call([&](grpc::ClientContext& context) {
    const auto reader = impl_->stub->GetProgram(&context, request);
    return read_bytes(context, *reader, bytes);
  });
  if (!status) return status.error();
  return bytes;
}

Result<std::vector<std::byte>> InspectClient::kept_program(const std::string& hash) {
  agent::v1::KeptProgramRequest request;
  request.set_program(hash);
  std::vector<std::byte> bytes;
  const Status status = impl_->call([&](grpc::ClientContext& context) {
    const auto reader = impl_->stub->GetKeptProgram(&context, request);
    return read_bytes(context, *reader, bytes);
  });
  if (!status) return status.error();
  return bytes;
}

Result<Progress> InspectClient::progress(const std::vector<ObjectVersion>& objects) {
  agent::v1::ProgrammedRequest request;
  for (const ObjectVersion& object : objects) {
    auto& asked = *request.add_objects();
    asked.set_kind(object.kind);
    asked.set_namespace_(object.name_space);
    asked.set_name(object.name);
    asked.set_uid(object.uid);
    asked.set_resource_version(object.resource_version);
    asked.set_gone(object.gone);
  }
  agent::v1::ProgrammedReply reply;
  const Status status =
      impl_->call([&](grpc::ClientContext& context) { return impl_->stub->Programmed(&context, request, &reply); });
  if (!status) return status.error();
  Progress progress{reply.run(), reply.values(), reply.pinned(), {}, {}};
  for (const auto& object : reply.objects()) {
    progress.objects.push_back({state_of(object.state()), object.program(), printable(object.reason(), kMaxReason)});
  }
  progress.objects.resize(objects.size());
  for (const auto& agent : reply.agents()) {
    progress.agents.push_back({printable(agent.name(), kMaxName), agent.program(), agent.values(), agent.refused(),
                               printable(agent.reason(), kMaxReason), printable(agent.group(), kMaxName),
                               printable(agent.held_to(), kMaxName)});
  }
  return progress;
}

Result<AgentAnswer> InspectClient::ask(const std::string& agent, const AgentQuestion& question) {
  agent::v1::AskRequest request;
  request.set_agent(agent);
  request.set_method(question.method);
  request.set_target(question.target);
  agent::v1::AskReply reply;
  const Status status =
      impl_->call([&](grpc::ClientContext& context) { return impl_->stub->Ask(&context, request, &reply); });
  if (!status) return status.error();
  return AgentAnswer{static_cast<int>(reply.status() % 1000), printable(reply.content_type(), kMostType),
                     std::move(*reply.mutable_body())};
}

Status InspectClient::revoke(const std::string& agent) {
  GetAgentRequest request;
  request.set_name(agent);
  Done done;
  return impl_->call([&](grpc::ClientContext& context) { return impl_->stub->Revoke(&context, request, &done); });
}

Result<std::string> InspectClient::join_file(const std::string& agent) {
  GetAgentRequest request;
  request.set_name(agent);
  agent::v1::JoinFile reply;
  const Status status =
      impl_->call([&](grpc::ClientContext& context) { return impl_->stub->MakeJoinFile(&context, request, &reply); });
  if (!status) return status.error();
  return std::move(*reply.mutable_text());
}

Result<InspectClient::Invitation> InspectClient::invite_remote(const std::string& name, const std::string& hub,
                                                               std::chrono::seconds lifetime) {
  agent::v1::InviteRemoteRequest request;
  request.set_name(name);
  request.set_hub(hub);
  request.set_valid_seconds(static_cast<std::uint32_t>(lifetime.count()));
  agent::v1::RemoteInvitation reply;
  const Status status =
      impl_->call([&](grpc::ClientContext& context) { return impl_->stub->InviteRemote(&context, request, &reply); });
  if (!status) return status.error();
  return Invitation{reply.certificate(), reply.key(), reply.authorities(), reply.text(),
                    from_milliseconds(static_cast<std::int64_t>(reply.revoked_ms()))};
}

Result<std::chrono::system_clock::time_point> InspectClient::revoke_remote(const std::string& name) {
  GetAgentRequest request;
  request.set_name(name);
  agent::v1::RemoteRevoked reply;
  const Status status =
      impl_->call([&](grpc::ClientContext& context) { return impl_->stub->RevokeRemote(&context, request, &reply); });
  if (!status) return status.error();
  return from_milliseconds(static_cast<std::int64_t>(reply.revoked_ms()));
}

Result<std::vector<HistoryEntry>> InspectClient::history(const std::string& group) {
  agent::v1::HistoryRequest request;
  request.set_group(group);
  agent::v1::HistoryReply reply;
  const Status status =
      impl_->call([&](grpc::ClientContext& context) { return impl_->stub->History(&context, request, &reply); });
  if (!status) return status.error();
  // It has passed over what it does not know, and told of all agents.
  if (group != kDefaultGroup && reply.group() != group) {
    return Error{ErrorCode::kUnimplemented, "the controller is older, and has no groups of agents"};
  }
  std::vector<HistoryEntry> entries;
  for (const agent::v1::HistoryItem& item : reply.items()) {
    entries.push_back({.program = item.program(),
                       .at = from_milliseconds(item.at_ms()),
                       .cause = item.cause(),
                       .resources = {item.resources().begin(), item.resources().end()},
                       .user = item.user(),
                       .serving = item.serving(),
                       .pinned = item.pinned()});
  }
  return entries;
}

Status InspectClient::rollback(const std::string& group, const std::string& program) {
  // An older controller would roll back every agent.
  if (group != kDefaultGroup) {
    if (const auto known = history(group); !known) return known.error();
  }
  agent::v1::RollbackRequest request;
  request.set_program(program);
  request.set_group(group);
  Done done;
  return impl_->call([&](grpc::ClientContext& context) { return impl_->stub->Rollback(&context, request, &done); });
}

Status InspectClient::release(const std::string& group) {
  if (group != kDefaultGroup) {
    if (const auto known = history(group); !known) return known.error();
  }
  agent::v1::ReleaseRequest request;
  request.set_group(group);
  Done done;
  return impl_->call([&](grpc::ClientContext& context) { return impl_->stub->Release(&context, request, &done); });
}

}  // namespace edge::controller
