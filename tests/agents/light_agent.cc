#include "tests/agents/light_agent.h"

#include <chrono>
#include <optional>

#include <grpcpp/grpcpp.h>

#include "agent/received/received_program.h"
#include "agent/sync/session.h"
#include "base/os/file.h"
#include "net/tls/identity.h"
#include "schemas/agent.grpc.pb.h"

namespace edge::test {
namespace {

using agent::v1::ProgramsDown;
using agent::v1::ProgramsUp;

constexpr auto kPatience = std::chrono::seconds(60);

std::shared_ptr<grpc::Channel> channel_of(const LightAgentOptions& options, const agent::Identity& identity) {
  grpc::SslCredentialsOptions tls{identity.authorities, identity.key, identity.certificate};
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride("edge-controller");
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Windows that grow by what the link could carry would take in what is not read.
  if (options.deaf) arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  return grpc::CreateCustomChannel(options.controller, grpc::SslCredentials(tls), arguments);
}

/// Reads the first part of the values, and then nothing until it is broken off.
class ValuesStream final : public grpc::ClientBidiReactor<agent::v1::ValuesUp, agent::v1::ValuesDown> {
 public:
  ValuesStream(agent::v1::Agents::Stub& stub, const agent::v1::Hello& hello) {
    *up_.mutable_hello() = hello;
    stub.async()->Values(&context_, this);
    StartWrite(&up_);
    StartRead(&down_);
    AddHold();
    StartCall();
  }

  void OnReadDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    begun_ = ok;
    changed_.notify_all();
  }
  void OnDone(const grpc::Status&) override {
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }
  bool wait_begun() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [this] { return begun_; });
  }
  void break_off() {
    context_.TryCancel();
    RemoveHold();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }

 private:
  grpc::ClientContext context_;
  agent::v1::ValuesUp up_;
  agent::v1::ValuesDown down_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool begun_ = false;
  bool done_ = false;
};

}  // namespace

class LightAgent::Stream final : public grpc::ClientBidiReactor<ProgramsUp, ProgramsDown> {
 public:
  Stream(const LightAgentOptions& options, const agent::Identity& identity)
      : options_(options), channel_(channel_of(options, identity)), stub_(agent::v1::Agents::NewStub(channel_)) {
    auto& hello = *up_.mutable_hello();
    hello.set_protocol(options.protocol);
    hello.set_oldest_protocol(options.oldest_protocol);
    hello.set_node("node");
    hello.set_version("0.0.9");
    hello.set_cpu("x86-64-v9");
    hello.set_instance(options.name + "-" + options.instance);
    for (const auto& [key, value] : options.labels) (*hello.mutable_labels())[key] = value;
    hello.set_format_version(program::kFormatVersion);
    if (options.unknown_words) {
      hello.GetReflection()->MutableUnknownFields(&hello)->AddVarint(1000, 7);
      up_.GetReflection()->MutableUnknownFields(&up_)->AddLengthDelimited(1001, "a word of tomorrow");
    }
    hello_ = hello;
    stub_->async()->Programs(&context_, this);
    StartWrite(&up_);
    StartRead(&down_);
    AddHold();
    StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return finish();
    const std::lock_guard lock(mutex_);
    received_ += down_.ByteSizeLong();
    if (down_.has_welcome()) {
      // Behind the welcome: a controller ends streams of a name that another process takes.
      if (options_.takes_values) values_ = std::make_unique<ValuesStream>(*stub_, hello_);
      protocol_ = down_.welcome().protocol();
      changed_.notify_all();
      if (options_.deaf) return;
    }
    if (down_.has_part()) {
      auto taken = assembly_.take(down_.part(), running_);
      if (taken && *taken) run(std::move(**taken));
    }
    StartRead(&down_);
  }
  void OnWriteDone(bool) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    answer();
  }
  void OnDone(const grpc::Status& status) override {
    const std::lock_guard lock(mutex_);
    status_ = status;
    done_ = true;
    changed_.notify_all();
  }

  void break_off() {
    context_.TryCancel();
    if (options_.deaf) finish();
    if (values_) values_->break_off();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }
  bool reaches(const std::function<bool(const std::string&, std::uint32_t)>& condition) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [&] { return condition(program_, protocol_); })) return false;
    return !values_ || values_->wait_begun();
  }
  std::size_t received() {
    const std::lock_guard lock(mutex_);
    return received_;
  }
  bool want(const std::string& secret, const std::string& host) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    agent::v1::ReportsEnd end;
    const auto writer = stub_->Reports(&context, &end);
    agent::v1::Report report;
    *report.mutable_hello() = hello_;
    auto& name = *report.add_wanted();
    name.set_namespace_("shop");
    name.set_secret(secret);
    name.set_host(host);
    writer->Write(report);
    writer->WritesDone();
    return writer->Finish().ok();
  }
  Error end() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [this] { return done_; });
    return {static_cast<ErrorCode>(status_.error_code()), status_.error_message()};
  }

 private:
  void finish() {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(finished_, true)) RemoveHold();
  }
  void run(agent::ReceivedProgram received) {
    running_ = std::move(received.bytes);
    program_ = program::to_hex(received.hash);
    answer_ = received.hash;
    answer();
    changed_.notify_all();
  }
  /// gRPC takes a write when it has told the end of the one before, even if that has long been heard.
  void answer() {
    if (writing_ || !answer_) return;
    up_.Clear();
    up_.mutable_applied()->set_program(answer_->data(), answer_->size());
    answer_.reset();
    writing_ = true;
    StartWrite(&up_);
  }

  const LightAgentOptions options_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<agent::v1::Agents::Stub> stub_;
  agent::v1::Hello hello_;
  std::unique_ptr<ValuesStream> values_;
  grpc::ClientContext context_;
  ProgramsUp up_;
  ProgramsDown down_;
  std::mutex mutex_;
  std::condition_variable changed_;
  agent::ProgramAssembly assembly_;
  agent::ProgramBytes running_;
  std::string program_;
  std::uint32_t protocol_ = 0;
  std::size_t received_ = 0;
  std::optional<program::Hash> answer_;  ///< to be said
  bool writing_ = true;                  ///< the hello, at first
  bool finished_ = false;
  bool done_ = false;
  grpc::Status status_;
};

agent::Identity LightAgent::join(const std::string& controller, const std::string& join_file, const std::string& name) {
  const std::string text = *read_file(join_file, 1 << 16);
  const std::size_t token = text.find("token: ") + 7;
  const std::string key = *net::tls::make_private_key();
  auto identity =
      agent::join(controller, text.substr(text.find("-----BEGIN")), text.substr(token, text.find('\n', token) - token),
                  name, *net::tls::certificate_request(key));
  if (!identity) return {};
  identity->key = key;
  return std::move(*identity);
}

LightAgent::LightAgent(const LightAgentOptions& options, const agent::Identity& identity)
    : stream_(std::make_unique<Stream>(options, identity)) {}
LightAgent::~LightAgent() { stream_->break_off(); }

bool LightAgent::reaches(const std::function<bool(const std::string&, std::uint32_t)>& condition) {
  return stream_->reaches(condition);
}
std::size_t LightAgent::received_bytes() const { return stream_->received(); }
bool LightAgent::want(const std::string& secret, const std::string& host) { return stream_->want(secret, host); }
Error LightAgent::end() { return stream_->end(); }

}  // namespace edge::test
