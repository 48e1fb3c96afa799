// gRPC's own client, the proxy of one cluster, the gateway of another, gRPC's own server.
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/support/sync_stream.h>
#include <gtest/gtest.h>

#include "tests/grpc/service.h"
#include "tests/grpc/text_message.h"
#include "tests/support/two_clusters.h"

namespace edge::test {
namespace {

using grpc::ByteBuffer;
using grpc::internal::RpcMethod;

constexpr const char* kAway = R"(apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: edge, namespace: default}
spec: {listeners: [{name: http, port: 8080, protocol: HTTP}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {name: api, namespace: default}
spec: {protocol: GRPC, clusterRefs: [{cluster: berlin, name: api, port: 80, gateways: ["${berlin}"]}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: api, namespace: default}
spec: {parentRefs: [{name: edge}], rules: [{backendRef: {name: api}}]}
)";

class GrpcBetweenClusters : public testing::Test {
 protected:
  GrpcBetweenClusters() : clusters_(service_.port(), "kubernetes.io/h2c") {
    clusters_.serve(kAway);
    channel_ =
        grpc::CreateChannel("127.0.0.1:" + std::to_string(clusters_.port("http")), grpc::InsecureChannelCredentials());
  }

  grpc::Status unary(const char* method, const std::string& text, std::string& answer) {
    grpc::ClientContext context;
    ByteBuffer response;
    const RpcMethod rpc(method, RpcMethod::NORMAL_RPC, channel_);
    const grpc::Status status = grpc::internal::BlockingUnaryCall<ByteBuffer, ByteBuffer>(channel_.get(), rpc, &context,
                                                                                          message_of(text), &response);
    if (status.ok()) answer = text_of(response);
    return status;
  }

  CallService service_;
  TwoClusters clusters_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(GrpcBetweenClusters, CallsOfEveryKindAndTheirStatus) {
  std::string answer;
  EXPECT_TRUE(unary("/test.Calls/Echo", "hello", answer).ok());
  EXPECT_EQ(answer, "hello");
  const grpc::Status failed = unary("/test.Calls/Fail", "x", answer);
  EXPECT_EQ(failed.error_code(), grpc::StatusCode::ABORTED) << "trailers of the other cluster's server";
  EXPECT_EQ(failed.error_message(), "not today: 100%");
  grpc::ClientContext context;
  const RpcMethod rpc("/test.Calls/Echo", RpcMethod::BIDI_STREAMING, channel_);
  const std::unique_ptr<grpc::ClientReaderWriter<ByteBuffer, ByteBuffer>> stream(
      grpc::internal::ClientReaderWriterFactory<ByteBuffer, ByteBuffer>::Create(channel_.get(), rpc, &context));
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(stream->Write(message_of(std::to_string(i))));
    ByteBuffer back;
    ASSERT_TRUE(stream->Read(&back)) << "each before the next is sent";
    EXPECT_EQ(text_of(back), std::to_string(i));
  }
  EXPECT_TRUE(stream->WritesDone());
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(GrpcBetweenClusters, ConcurrentCallsShareOneConnectionAndACancelledOneEndsThere) {
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::thread> callers;
  for (int i = 0; i < 20; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    callers.emplace_back([this, context = contexts.back().get()] {
      ByteBuffer response;
      const RpcMethod rpc("/test.Calls/Hang", RpcMethod::NORMAL_RPC, channel_);
      const grpc::Status status = grpc::internal::BlockingUnaryCall<ByteBuffer, ByteBuffer>(
          channel_.get(), rpc, context, message_of("x"), &response);
      EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
    });
  }
  service_.await_hanging(20);
  EXPECT_EQ(clusters_.hub().stats().upstream_connects, 1U);
  for (const auto& context : contexts) context->TryCancel();
  for (std::thread& caller : callers) caller.join();
  service_.await_cancelled(20);
}

}  // namespace
}  // namespace edge::test
