#include "tests/grpc/service.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include "tests/grpc/text_message.h"

namespace edge::test {
namespace {

class Call final : public grpc::ServerGenericBidiReactor {
 public:
  Call(std::string method, grpc::GenericCallbackServerContext& context, CallService::Counts& counts)
      : method_(std::move(method)), context_(context), counts_(counts) {
    if (method_ == "/test.Calls/Fail") {
      context_.AddTrailingMetadata("x-why", "because");
      Finish({grpc::StatusCode::ABORTED, "not today: 100%"});
    } else if (method_ == "/test.Calls/Hang") {
      count(counts_.hanging);
    } else if (method_.starts_with("/test.Calls/")) {
      StartRead(&message_);
    } else {
      Finish({grpc::StatusCode::UNIMPLEMENTED, "no such method"});
    }
  }

  void OnReadDone(bool ok) override {
    if (!ok) return caller_is_done();
    if (method_ == "/test.Calls/Echo") return StartWrite(&message_);
    const long number = std::stol(text_of(message_));
    if (method_ == "/test.Calls/Count") {
      last_ = number;
      return write_next();
    }
    sum_ += number;
    StartRead(&message_);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return finish_once();
    if (method_ == "/test.Calls/Echo") return StartRead(&message_);
    if (method_ == "/test.Calls/Count") return write_next();
    finish_once();
  }

  void OnCancel() override {
    if (method_ != "/test.Calls/Hang") return;
    count(counts_.cancelled);
    Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override { delete this; }

 private:
  void caller_is_done() {
    if (method_ != "/test.Calls/Sum") return finish_once();
    message_ = message_of(std::to_string(sum_));
    StartWrite(&message_);
  }

  void write_next() {
    if (written_ == last_) return finish_once();
    message_ = message_of(std::to_string(++written_));
    StartWrite(&message_);
  }

  void finish_once() { Finish(grpc::Status::OK); }

  void count(int& what) {
    const std::lock_guard lock(counts_.mutex);
    ++what;
    counts_.changed.notify_all();
  }

  const std::string method_;
  grpc::GenericCallbackServerContext& context_;
  CallService::Counts& counts_;
  grpc::ByteBuffer message_;
  long sum_ = 0;
  long last_ = 0;
  long written_ = 0;
};

}  // namespace

struct CallService::Server : grpc::CallbackGenericService {
  explicit Server(Counts& given) : counts(given) {}
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    return new Call(context->method(), *context, counts);
  }

  Counts& counts;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
};

CallService::CallService(const Options& options) : server_(std::make_unique<Server>(counts_)) {
  grpc::EnableDefaultHealthCheckService(options.health);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &server_->port);
  builder.RegisterCallbackGenericService(server_.get());
  builder.SetMaxReceiveMessageSize(-1);
  if (options.max_connection_age != 0) {
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, options.max_connection_age);
  }
  if (options.max_concurrent_streams != 0) {
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_concurrent_streams);
  }
  server_->server = builder.BuildAndStart();
}

CallService::~CallService() {
  server_->server->Shutdown(std::chrono::system_clock::now());
  server_->server->Wait();
}

void CallService::set_serving(bool serving) { server_->server->GetHealthCheckService()->SetServingStatus(serving); }

std::uint16_t CallService::port() const { return static_cast<std::uint16_t>(server_->port); }

void CallService::await_hanging(int count) {
  std::unique_lock lock(counts_.mutex);
  counts_.changed.wait(lock, [&] { return counts_.hanging >= count; });
}

void CallService::await_cancelled(int count) {
  std::unique_lock lock(counts_.mutex);
  counts_.changed.wait(lock, [&] { return counts_.cancelled >= count; });
}

}  // namespace edge::test
