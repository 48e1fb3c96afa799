// Active checks of protocol GRPC against gRPC's own health service.
#include <thread>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "tests/support/proxy.h"

namespace edge::test {
namespace {

using std::chrono::seconds;

class GrpcHealth : public ::testing::Test {
 protected:
  void SetUp() override {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    // Without a service of ours the server would have no thread.
    builder.RegisterCallbackGenericService(&nothing_);
    service_ = builder.BuildAndStart();
    ASSERT_NE(port_, 0);
    runtime::ServerOptions options;
    options.threads = 1;
    options.ephemeral_ports = true;
    auto server = runtime::Server::start(options);
    ASSERT_TRUE(server.ok()) << server.error().text;
    server_ = std::move(*server);
  }

  void check(const std::string& backend_line) {
    const Result<Compiled> compiled =
        compile_text("health", expand_config("@gateway\n@backend calls " + backend_line + "\n@route calls\n",
                                             {{"calls", static_cast<std::uint16_t>(port_)}}));
    ASSERT_TRUE(compiled.ok()) << compiled.error().text;
    server_->set_endpoints(compiled->endpoints);
    ASSERT_TRUE(server_->install(compiled->program));
  }
  /// Waits until the endpoint has this health; then what the last check said.
  std::string await(runtime::Health health) {
    const auto end = std::chrono::steady_clock::now() + seconds(20);
    for (;;) {
      const auto backends = server_->backends();
      const runtime::EndpointStatus& endpoint = backends[0].endpoints[0];
      if (endpoint.health == health) return endpoint.last_error;
      if (std::chrono::steady_clock::now() > end) return "waited in vain; last: " + endpoint.last_error;
      std::this_thread::yield();
    }
  }

  int port_ = 0;
  grpc::CallbackGenericService nothing_;
  std::unique_ptr<grpc::Server> service_;
  std::unique_ptr<runtime::Server> server_;
};

constexpr const char* kCheck = "healthCheck: {protocol: GRPC, interval: 20ms, timeout: 10s, unhealthyThreshold: 2";

TEST_F(GrpcHealth, FollowsWhatTheServerSaysOfItself) {
  check(std::string(kCheck) + "}");
  EXPECT_EQ(await(runtime::Health::kHealthy), "");
  service_->GetHealthCheckService()->SetServingStatus(false);
  EXPECT_EQ(await(runtime::Health::kUnhealthy), "NOT_SERVING");
  service_->GetHealthCheckService()->SetServingStatus(true);
  EXPECT_EQ(await(runtime::Health::kHealthy), "");
}

TEST_F(GrpcHealth, AsksAboutOneService) {
  service_->GetHealthCheckService()->SetServingStatus("shop.Cart", true);
  service_->GetHealthCheckService()->SetServingStatus("shop.Till", false);
  check(std::string(kCheck) + ", grpcHealthCheck: {serviceName: shop.Cart}}");
  EXPECT_EQ(await(runtime::Health::kHealthy), "");
  check(std::string(kCheck) + ", grpcHealthCheck: {serviceName: shop.Till}}");
  EXPECT_EQ(await(runtime::Health::kUnhealthy), "NOT_SERVING");
}

TEST_F(GrpcHealth, AServiceThatTheServerDoesNotKnowIsNotWell) {
  check(std::string(kCheck) + ", grpcHealthCheck: {serviceName: nobody}}");
  EXPECT_EQ(await(runtime::Health::kUnhealthy), "grpc-status 5");
}

}  // namespace
}  // namespace edge::test
