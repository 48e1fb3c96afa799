#include "agent/sync/session.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include <grpcpp/grpcpp.h>

#include "agent/sync/questions.h"
#include "agent/sync/reporter.h"
#include "schemas/agent.grpc.pb.h"

namespace edge::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// In the controller's certificate, by whatever address it is reached.
constexpr const char* kControllerName = "edge-controller";
/// Parts are far smaller; a single value of a secret is not split.
constexpr int kMaxMessage = 20 << 20;
constexpr int kKeepaliveMilliseconds = 10'000;
constexpr auto kCallPatience = seconds(10);
constexpr auto kConnectPatience = seconds(5);
/// How often it is looked whether there is a report of links.
constexpr auto kLinkReports = milliseconds(200);
/// How often it is told what has passed limits that are shared, while there are such limits.
constexpr auto kLimitWords = milliseconds(100);
/// In one word.
constexpr std::size_t kMostLimitUses = 1024;
/// For the controller to take that the agent leaves.
constexpr auto kFarewell = milliseconds(500);
constexpr std::size_t kHashesAPart = 8192;
constexpr std::size_t kMaxReason = 1000;

Error error_of(const grpc::Status& status) {
  const int code = status.error_code();
  if (status.ok()) return {ErrorCode::kUnavailable, "the controller has ended the stream"};
  const bool known = code > 0 && code <= static_cast<int>(ErrorCode::kUnauthenticated);
  return {known ? static_cast<ErrorCode>(code) : ErrorCode::kUnknown, status.error_message()};
}

/// `key` empty: only the other side is authenticated.
std::shared_ptr<grpc::Channel> channel_to(const std::string& controller, const std::string& authorities,
                                          const std::string& key, const std::string& certificate) {
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = authorities;
  options.pem_private_key = key;
  options.pem_cert_chain = certificate;
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride(kControllerName);
  arguments.SetMaxReceiveMessageSize(kMaxMessage);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMilliseconds);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // A connection of its own, which goes when the session does.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A proxy for the controller's address is none of the environment's business.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(controller, grpc::SslCredentials(options), arguments);
}

Identity identity_of(const v1::Credentials& reply) {
  return {.certificate = reply.certificate(),
          .key = {},
          .authorities = reply.authorities(),
          .program_key = reply.program_key(),
          .key_is_fixed = false,
          .times = {}};
}

struct RemoteConnection {
  RemoteConnection(SyncInbox& to, AgentWords own, ReportSource source)
      : inbox(to), words(std::move(own)), reports(std::move(source)) {}

  SyncInbox& inbox;
  AgentWords words;  ///< `running` and `program` are guarded by mutex
  ReportSource reports;
  std::function<void(std::string, std::string)> trusted;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Agents::Stub> stub;
  grpc::ClientContext program_context;
  grpc::ClientContext value_context;
  grpc::ClientContext report_context;
  grpc::ClientContext question_context;
  grpc::ClientContext address_context;
  grpc::ClientContext link_context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ProgramsUp, v1::ProgramsDown>> programs;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ValuesUp, v1::ValuesDown>> values;
  std::mutex program_writes;  ///< gRPC takes one write at a time
  std::mutex value_writes;
  bool programs_open = true;  ///< guarded by program_writes
  bool values_open = true;    ///< guarded by value_writes
  std::mutex mutex;           ///< guards what follows, and `words.running`
  std::condition_variable changed;
  bool stopping = false;
  bool programs_ended = false;
  std::unique_ptr<grpc::ClientContext> limit_context;  ///< of the stream that is open, or was last
  std::thread program_thread;
  std::thread value_thread;
  std::thread report_thread;
  std::thread question_thread;
  std::thread address_thread;
  std::thread link_thread;
  std::thread limit_thread;

  v1::Hello hello();
  void say(const v1::ProgramsUp& up);
  void read_programs();
  void hear(const v1::ProgramsDown& down);
  void take_part(const v1::ProgramPart& part);
  void tell_holdings();
  void open_others();
  std::thread take_leave();
  void read_values();
  void write_reports();
  void hear_questions();
  void hear_addresses();
  void exchange_links();
  void exchange_limits();
  Status exchange_limits_once();
  ProgramBytes running() {
    const std::lock_guard lock(mutex);
    return words.running;
  }

  // Of the thread that reads programs.
  ProgramAssembly assembly;
  ProgramBytes base;                ///< what the program under way builds on
  std::optional<Error> part_fault;  ///< the rest of the program is passed over
  std::string part_program;
};

v1::Hello RemoteConnection::hello() {
  v1::Hello hello;
  const std::vector<runtime::UnboundListener> unbound = reports.unbound();
  const std::lock_guard lock(mutex);
  write_hello(words, unbound, hello);
  return hello;
}

void RemoteConnection::say(const v1::ProgramsUp& up) {
  const std::lock_guard lock(program_writes);
  if (programs_open) programs->Write(up);
}

void RemoteConnection::tell_holdings() {
  std::vector<program::Hash> hashes;
  if (const ProgramBytes bytes = running()) hashes = section_hashes(*bytes);
  std::size_t at = 0;
  do {
    v1::ProgramsUp up;
    auto& holdings = *up.mutable_holdings();
    for (std::size_t i = 0; i < kHashesAPart && at < hashes.size(); ++i) holdings.add_sections(bytes_of(hashes[at++]));
    holdings.set_last(at == hashes.size());
    say(up);
  } while (at < hashes.size());
}

void RemoteConnection::take_part(const v1::ProgramPart& part) {
  if (part.has_begin()) {
    base = running();
    part_fault.reset();
    part_program = part.begin().program();
  }
  if (!part_fault) {
    auto taken = assembly.take(part, base);
    if (!taken) {
      part_fault = taken.error();
    } else if (*taken) {
      base.reset();
      inbox.put(std::move(**taken));
    }
  }
  // The controller hears of it once it has sent everything.
  if (!part.last() || !part_fault) return;
  base.reset();
  v1::ProgramsUp up;
  up.mutable_refused()->set_program(part_program);
  up.mutable_refused()->set_reason(part_fault->text);
  say(up);
}

void RemoteConnection::hear(const v1::ProgramsDown& down) {
  if (down.has_welcome()) {
    if (down.welcome().tell_holdings()) tell_holdings();
    open_others();
  } else if (down.has_trust()) {
    trusted(down.trust().authorities(), down.trust().program_key());
  } else if (down.has_part()) {
    take_part(down.part());
  }
}

void RemoteConnection::read_programs() {
  v1::ProgramsDown down;
  while (programs->Read(&down)) hear(down);
  {
    const std::lock_guard lock(program_writes);
    programs_open = false;
  }
  {
    const std::lock_guard lock(mutex);
    programs_ended = true;
  }
  changed.notify_all();
  inbox.end(error_of(programs->Finish()));
}

/// A controller that hears nothing would take the agent for lost. On a thread of its own, since a write waits for a
/// peer that may be stuck; what cancels the stream ends it.
std::thread RemoteConnection::take_leave() {
  std::thread word([this] {
    v1::ProgramsUp up;
    up.mutable_leaving();
    say(up);
  });
  std::unique_lock lock(mutex);
  changed.wait_for(lock, kFarewell, [this] { return programs_ended; });
  return word;
}

/// After the welcome, so that the controller knows whose these are.
void RemoteConnection::open_others() {
  const std::lock_guard lock(mutex);
  if (stopping || value_thread.joinable()) return;
  value_thread = std::thread([this] { read_values(); });
  report_thread = std::thread([this] { write_reports(); });
  question_thread = std::thread([this] { hear_questions(); });
  address_thread = std::thread([this] { hear_addresses(); });
  if (reports.limits != nullptr) limit_thread = std::thread([this] { exchange_limits(); });
  if (reports.links) link_thread = std::thread([this] { exchange_links(); });
}

void RemoteConnection::read_values() {
  v1::ValuesUp greeting;
  *greeting.mutable_hello() = hello();
  ValuesAssembly assembled;
  std::optional<Error> fault;
  bool open = false;
  {
    const std::lock_guard lock(value_writes);
    values = stub->Values(&value_context);
    open = values->Write(greeting);
  }
  v1::ValuesDown down;
  while (open && !fault && values->Read(&down)) {
    auto taken = assembled.take(down.part());
    if (!taken) {
      fault = taken.error();
      value_context.TryCancel();
    } else if (*taken) {
      inbox.put(std::move(**taken));
    }
  }
  {
    const std::lock_guard lock(value_writes);
    values_open = false;
  }
  const grpc::Status status = values->Finish();
  inbox.end(fault ? *fault : error_of(status));
}

void RemoteConnection::write_reports() {
  v1::ReportsEnd end;
  const auto writer = stub->Reports(&report_context, &end);
  Reporter reporter(reports);
  v1::Report report;
  *report.mutable_hello() = hello();
  for (;;) {
    if (reporter.fill(report) && !writer->Write(report)) break;
    report.Clear();
    const auto pause = reporter.pause();
    std::unique_lock lock(mutex);
    if (changed.wait_for(lock, pause, [this] { return stopping; })) break;
  }
  writer->WritesDone();
  inbox.end(error_of(writer->Finish()));
}

/// A controller that does not know of addresses is followed all the same.
void RemoteConnection::hear_addresses() {
  const auto stream = stub->Addresses(&address_context);
  v1::AddressesUp up;
  *up.mutable_hello() = hello();
  bool open = stream->Write(up);
  v1::AddressesDown down;
  while (open && stream->Read(&down)) {
    if (!reports.addresses(down.SerializeAsString())) {
      address_context.TryCancel();
      break;
    }
    up.Clear();
    up.set_applied(down.version());
    open = stream->Write(up);
  }
  const grpc::Status status = stream->Finish();
  if (status.error_code() != grpc::StatusCode::UNIMPLEMENTED) inbox.end(error_of(status));
}

/// A controller that does not know of links is followed all the same.
void RemoteConnection::exchange_links() {
  const auto stream = stub->Links(&link_context);
  std::mutex writes;
  v1::LinksUp up;
  *up.mutable_hello() = hello();
  bool open = stream->Write(up);
  // gRPC takes one write at a time, and a read waits for what may never come.
  std::atomic<bool> ended = !open;
  std::thread writer([&] {
    std::string last;
    while (!ended) {
      const std::string report = reports.links_report();
      v1::LinksUp word;
      if (report != last && !report.empty() && word.mutable_report()->ParseFromString(report)) {
        const std::lock_guard lock(writes);
        if (ended || !stream->Write(word)) break;
        last = report;
      }
      std::unique_lock lock(mutex);
      if (changed.wait_for(lock, kLinkReports, [&] { return stopping || ended; })) break;
    }
  });
  v1::LinksDown down;
  while (open && stream->Read(&down)) {
    if (!reports.links(down.SerializeAsString())) {
      link_context.TryCancel();
      break;
    }
    v1::LinksUp word;
    word.set_applied(down.version());
    const std::lock_guard lock(writes);
    open = stream->Write(word);
  }
  ended = true;
  changed.notify_all();
  writer.join();
  const grpc::Status status = stream->Finish();
  if (status.error_code() != grpc::StatusCode::UNIMPLEMENTED) inbox.end(error_of(status));
}

/// Only while there are limits to share, so that the controller counts and keeps nothing for agents without them. A
/// controller that does not know of limits is followed all the same.
void RemoteConnection::exchange_limits() {
  for (;;) {
    {
      std::unique_lock lock(mutex);
      while (!stopping && !reports.limits->shares_limits()) changed.wait_for(lock, kLimitWords);
      if (stopping) return;
      limit_context = std::make_unique<grpc::ClientContext>();
    }
    const Status status = exchange_limits_once();
    if (status) continue;
    if (status.error().code != ErrorCode::kUnimplemented) inbox.end(status.error());
    return;
  }
}

/// Word for word: what has passed here, and the answer with what has passed on the others. Requests wait for neither.
/// Returns when no limit is shared any more, or why the stream has ended.
Status RemoteConnection::exchange_limits_once() {
  const auto stream = stub->Limits(limit_context.get());
  runtime::Server& limits = *reports.limits;
  v1::LimitsUp up;
  *up.mutable_hello() = hello();
  up.set_seed(limits.shared_limit_seed());
  v1::LimitsDown down;
  runtime::SharedNews news;
  bool shares = true;
  while (shares) {
    for (const runtime::SharedUse& use : limits.take_shared_uses(kMostLimitUses)) {
      auto& into = *up.add_uses();
      into.set_limit(use.limit);
      into.set_key(use.key);
      into.set_requests(use.requests);
    }
    if (!stream->Write(up) || !stream->Read(&down)) break;
    news.seed = down.seed();
    news.members = down.members();
    news.uses.clear();
    for (const auto& use : down.uses()) news.uses.push_back({use.limit(), use.key(), use.requests()});
    limits.apply_shared_news(news);
    up.Clear();
    std::unique_lock lock(mutex);
    if (changed.wait_for(lock, kLimitWords, [this] { return stopping; })) break;
    shares = limits.shares_limits();
  }
  limit_context->TryCancel();
  const grpc::Status status = stream->Finish();
  if (shares) return error_of(status);
  // What has passed limits that are gone is not told when others come.
  while (!limits.take_shared_uses(kMostLimitUses).empty()) {
  }
  return {};
}

/// A controller that does not know of questions is followed all the same.
void RemoteConnection::hear_questions() {
  const auto stream = stub->Questions(&question_context);
  answer_questions(*stream, hello(), reports.answer);
  const grpc::Status status = stream->Finish();
  if (status.error_code() != grpc::StatusCode::UNIMPLEMENTED) inbox.end(error_of(status));
}

/// The connection with its threads, as the thread that installs sees it.
class RemoteSession final : public SyncSession {
 public:
  explicit RemoteSession(std::unique_ptr<RemoteConnection> connection) : impl_(std::move(connection)) {
    impl_->program_thread = std::thread([impl = impl_.get()] { impl->read_programs(); });
  }
  ~RemoteSession() override;

  void applied(const program::Hash& program, ProgramBytes running) override;
  void refused(const program::Hash& program, const std::string& reason) override;
  void values_applied(std::uint64_t version) override;
  void tick() override {}
  Result<Identity> renew(const std::string& request) override;

 private:
  std::unique_ptr<RemoteConnection> impl_;
};

RemoteSession::~RemoteSession() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->changed.notify_all();
  std::thread leave;
  if (impl_->inbox.stopped_within(milliseconds(0)) && impl_->program_thread.joinable()) leave = impl_->take_leave();
  impl_->program_context.TryCancel();
  impl_->value_context.TryCancel();
  impl_->report_context.TryCancel();
  impl_->question_context.TryCancel();
  impl_->address_context.TryCancel();
  impl_->link_context.TryCancel();
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->limit_context) impl_->limit_context->TryCancel();
  }
  if (leave.joinable()) leave.join();
  if (impl_->program_thread.joinable()) impl_->program_thread.join();
  if (impl_->value_thread.joinable()) impl_->value_thread.join();
  if (impl_->report_thread.joinable()) impl_->report_thread.join();
  if (impl_->question_thread.joinable()) impl_->question_thread.join();
  if (impl_->address_thread.joinable()) impl_->address_thread.join();
  if (impl_->link_thread.joinable()) impl_->link_thread.join();
  if (impl_->limit_thread.joinable()) impl_->limit_thread.join();
}

void RemoteSession::applied(const program::Hash& program, ProgramBytes running) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->words.running = std::move(running);
    impl_->words.program = program;
  }
  v1::ProgramsUp up;
  write_applied(program, impl_->reports.unbound(), *up.mutable_applied());
  impl_->say(up);
}

void RemoteSession::refused(const program::Hash& program, const std::string& reason) {
  v1::ProgramsUp up;
  up.mutable_refused()->set_program(bytes_of(program));
  // Not within a character: a message takes no bytes that are not UTF-8.
  std::size_t size = std::min(reason.size(), kMaxReason);
  while (size > 0 && size < reason.size() && (static_cast<unsigned char>(reason[size]) & 0xc0) == 0x80) --size;
  up.mutable_refused()->set_reason(reason.substr(0, size));
  impl_->say(up);
}

void RemoteSession::values_applied(std::uint64_t version) {
  v1::ValuesUp up;
  up.set_applied(version);
  const std::lock_guard lock(impl_->value_writes);
  if (impl_->values_open && impl_->values) impl_->values->Write(up);
}

Result<Identity> RemoteSession::renew(const std::string& request) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallPatience);
  v1::RenewRequest call;
  call.set_request(request);
  v1::Credentials reply;
  const grpc::Status status = impl_->stub->Renew(&context, call, &reply);
  if (!status.ok()) return error_of(status);
  return identity_of(reply);
}

}  // namespace

Result<std::unique_ptr<SyncSession>> open_remote_session(const std::string& controller, const Identity& identity,
                                                         AgentWords words, ReportSource reports, SyncInbox& inbox,
                                                         std::function<void(std::string, std::string)> trusted) {
  auto impl = std::make_unique<RemoteConnection>(inbox, std::move(words), std::move(reports));
  impl->trusted = std::move(trusted);
  impl->channel = channel_to(controller, identity.authorities, identity.key, identity.certificate);
  // In slices, so that it can be stopped. Where it fails the call below says why.
  const auto until = std::chrono::steady_clock::now() + kConnectPatience;
  while (!impl->channel->WaitForConnected(std::chrono::system_clock::now() + milliseconds(100))) {
    if (inbox.stopped_within(milliseconds(0))) return Error{ErrorCode::kCancelled, "stopped"};
    if (impl->channel->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE) break;
    if (std::chrono::steady_clock::now() > until) return Error{ErrorCode::kUnavailable, "does not answer"};
  }
  impl->stub = v1::Agents::NewStub(impl->channel);
  impl->programs = impl->stub->Programs(&impl->program_context);
  v1::ProgramsUp up;
  *up.mutable_hello() = impl->hello();
  if (!impl->programs->Write(up)) return error_of(impl->programs->Finish());
  return std::unique_ptr<SyncSession>(new RemoteSession(std::move(impl)));
}

Result<Identity> join(const std::string& controller, const std::string& authorities, const std::string& token,
                      const std::string& name, const std::string& request) {
  const auto stub = v1::Agents::NewStub(channel_to(controller, authorities, {}, {}));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallPatience);
  v1::JoinRequest call;
  call.set_token(token);
  call.set_name(name);
  call.set_request(request);
  v1::Credentials reply;
  const grpc::Status status = stub->Join(&context, call, &reply);
  if (!status.ok()) return error_of(status);
  return identity_of(reply);
}

}  // namespace edge::agent
