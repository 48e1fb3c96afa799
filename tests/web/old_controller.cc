#include "tests/web/old_controller.h"

#include <mutex>

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/server_credentials.h>
#include <gtest/gtest.h>

#include "schemas/agent.grpc.pb.h"

namespace edge::test {
namespace {

/// Of a program of the history: 64 digits.
std::string program_of(char digit) { return std::string(64, digit); }

}  // namespace

/// What it has not is answered as gRPC answers methods that a server does not know.
struct OldController::Service final : agent::v1::Inspect::Service {
  grpc::Status ListAgents(grpc::ServerContext*, const agent::v1::ListAgentsRequest*,
                          agent::v1::ListAgentsReply* reply) override {
    reply->set_published(program_of('b'));
    reply->set_version("0.1.0");
    auto& agent = *reply->add_agents();
    agent.set_name("standalone");
    agent.set_connected(true);
    agent.set_program(program_of('b'));
    return grpc::Status::OK;
  }
  grpc::Status History(grpc::ServerContext*, const agent::v1::HistoryRequest*,
                       agent::v1::HistoryReply* reply) override {
    const std::scoped_lock lock(mutex);
    for (const char digit : {'b', 'a'}) {
      auto& item = *reply->add_items();
      item.set_program(program_of(digit));
      item.set_at_ms(digit == 'b' ? 1'790'000'000'000 : 1'780'000'000'000);
      item.set_cause(digit == 'b' ? "a later change" : "an earlier change");
      item.set_serving(pinned.empty() ? digit == 'b' : item.program() == pinned);
      item.set_pinned(item.program() == pinned);
    }
    return grpc::Status::OK;
  }
  grpc::Status Rollback(grpc::ServerContext*, const agent::v1::RollbackRequest* request, agent::v1::Done*) override {
    const std::scoped_lock lock(mutex);
    pinned = request->program();
    return grpc::Status::OK;
  }

  std::mutex mutex;
  std::string pinned;
};

struct OldController::Running {
  std::unique_ptr<grpc::Server> server;
};

OldController::OldController() : service_(std::make_unique<Service>()), running_(std::make_unique<Running>()) {
  const Finished made =
      run_command({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                   "2", "-subj", "/CN=edge-controller", "-addext", "subjectAltName=DNS:edge-controller", "-keyout",
                   dir_ / "key", "-out", dir_ / "certificate"});
  EXPECT_EQ(made.code, 0) << made.err;
  const std::string key = dir_.get("key");
  const std::string certificate = dir_.get("certificate");
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back({key, certificate});
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(tls), &port);
  builder.RegisterService(service_.get());
  running_->server = builder.BuildAndStart();
  address_ = "127.0.0.1:" + std::to_string(port);
  dir_.put("admin.pem", "controller: " + address_ + "\n" + certificate + key + certificate);
}

OldController::~OldController() {
  if (running_->server != nullptr) running_->server->Shutdown();
}

}  // namespace edge::test
