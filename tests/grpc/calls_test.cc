// gRPC's own client, the proxy, gRPC's own server.
#include <atomic>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/support/sync_stream.h>
#include <gtest/gtest.h>

#include "tests/grpc/service.h"
#include "tests/grpc/text_message.h"
#include "tests/support/proxy.h"

namespace edge::test {
namespace {

using grpc::ByteBuffer;
using grpc::StatusCode;
using grpc::internal::RpcMethod;

constexpr int kLargest = 32 * 1024 * 1024;

class Grpc : public ::testing::Test {
 protected:
  /// Everything goes to `service`. `settings`: further fields of the backend, each after a comma.
  void serve(CallService& service, const std::string& settings = "", unsigned threads = 2) {
    start(
        "@gateway\n@service calls\n---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\n"
        "metadata: {name: calls, namespace: default}\n"
        "spec: {serviceRef: {name: calls, port: 80}, protocol: GRPC" +
            settings + "}\n@route calls\n",
        {{"calls", service.port()}}, threads);
  }

  void start(const std::string& config, const std::map<std::string, std::uint16_t>& ports, unsigned threads = 2,
             Over over = Over::kPlain) {
    runtime::ServerOptions options;
    options.threads = threads;
    options.ephemeral_ports = true;
    auto server = runtime::Server::start(options);
    ASSERT_TRUE(server.ok()) << server.error().text;
    server_ = std::move(*server);
    const Result<Compiled> compiled = compile_text("grpc", expand_config(config, ports, over));
    ASSERT_TRUE(compiled.ok()) << compiled.error().text;
    server_->set_endpoints(compiled->endpoints);
    server_->set_secrets(compiled->secrets);
    ASSERT_TRUE(server_->install(compiled->program));
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kLargest);
    arguments.SetMaxSendMessageSize(kLargest);
    // What fails is to be seen, not mended by the client.
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
    if (over != Over::kPlain) {
      credentials = grpc::SslCredentials({test_authority_pem(), {}, {}});
      arguments.SetSslTargetNameOverride(std::string(kTestHost));
    }
    channel_ =
        grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(server_->addresses()[0].port), credentials, arguments);
  }

  grpc::Status unary(const char* method, const std::string& text, std::string& answer, grpc::ClientContext& context) {
    ByteBuffer response;
    const RpcMethod rpc(method, RpcMethod::NORMAL_RPC, channel_);
    const grpc::Status status = grpc::internal::BlockingUnaryCall<ByteBuffer, ByteBuffer>(channel_.get(), rpc, &context,
                                                                                          message_of(text), &response);
    if (status.ok()) answer = text_of(response);
    return status;
  }
  grpc::Status unary(const char* method, const std::string& text, std::string& answer) {
    grpc::ClientContext context;
    return unary(method, text, answer, context);
  }

  std::unique_ptr<grpc::ClientReaderWriter<ByteBuffer, ByteBuffer>> both_ways(const char* method,
                                                                              grpc::ClientContext& context) {
    const RpcMethod rpc(method, RpcMethod::BIDI_STREAMING, channel_);
    return std::unique_ptr<grpc::ClientReaderWriter<ByteBuffer, ByteBuffer>>(
        grpc::internal::ClientReaderWriterFactory<ByteBuffer, ByteBuffer>::Create(channel_.get(), rpc, &context));
  }

  std::unique_ptr<runtime::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(Grpc, Unary) {
  CallService service;
  serve(service);
  std::string answer;
  const grpc::Status status = unary("/test.Calls/Echo", "hello", answer);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(answer, "hello");
}

// As it is called from outside: HTTP/2 by ALPN, with the certificate checked.
TEST_F(Grpc, OverTls) {
  CallService service;
  start("@gateway\n@backend calls protocol: GRPC\n@route calls\n", {{"calls", service.port()}}, 2, Over::kTls);
  std::string answer;
  const grpc::Status status = unary("/test.Calls/Echo", "hello", answer);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(answer, "hello");
  EXPECT_EQ(unary("/test.Calls/Fail", "x", answer).error_message(), "not today: 100%");
  std::string text(4 * 1024 * 1024, 'x');
  EXPECT_TRUE(unary("/test.Calls/Echo", text, answer).ok());
  EXPECT_TRUE(answer == text);
  grpc::ClientContext context;
  auto stream = both_ways("/test.Calls/Echo", context);
  ByteBuffer message;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(stream->Write(message_of("turn " + std::to_string(i))));
    ASSERT_TRUE(stream->Read(&message));
    EXPECT_EQ(text_of(message), "turn " + std::to_string(i));
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(server_->stats().tls_handshakes, 1U);
}

TEST_F(Grpc, TheServerStreams) {
  CallService service;
  serve(service);
  grpc::ClientContext context;
  const RpcMethod rpc("/test.Calls/Count", RpcMethod::SERVER_STREAMING, channel_);
  std::unique_ptr<grpc::ClientReader<ByteBuffer>> reader(
      grpc::internal::ClientReaderFactory<ByteBuffer>::Create(channel_.get(), rpc, &context, message_of("1000")));
  ByteBuffer message;
  int count = 0;
  while (reader->Read(&message)) EXPECT_EQ(text_of(message), std::to_string(++count));
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(count, 1000);
}

TEST_F(Grpc, TheClientStreams) {
  CallService service;
  serve(service);
  grpc::ClientContext context;
  ByteBuffer response;
  const RpcMethod rpc("/test.Calls/Sum", RpcMethod::CLIENT_STREAMING, channel_);
  std::unique_ptr<grpc::ClientWriter<ByteBuffer>> writer(
      grpc::internal::ClientWriterFactory<ByteBuffer>::Create(channel_.get(), rpc, &context, &response));
  for (int i = 1; i <= 1000; ++i) ASSERT_TRUE(writer->Write(message_of(std::to_string(i))));
  writer->WritesDone();
  EXPECT_TRUE(writer->Finish().ok());
  EXPECT_EQ(text_of(response), "500500");
}

// Each message is answered before the next is sent: nothing on the way waits for more.
TEST_F(Grpc, BothStreamInTurns) {
  CallService service;
  serve(service);
  grpc::ClientContext context;
  auto stream = both_ways("/test.Calls/Echo", context);
  ByteBuffer message;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(stream->Write(message_of("turn " + std::to_string(i))));
    ASSERT_TRUE(stream->Read(&message));
    EXPECT_EQ(text_of(message), "turn " + std::to_string(i));
  }
  stream->WritesDone();
  EXPECT_FALSE(stream->Read(&message));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(Grpc, AStatusAndMetadataComeBehindTheMessages) {
  CallService service;
  serve(service);
  grpc::ClientContext context;
  std::string answer;
  const grpc::Status status = unary("/test.Calls/Fail", "x", answer, context);
  EXPECT_EQ(status.error_code(), StatusCode::ABORTED);
  EXPECT_EQ(status.error_message(), "not today: 100%");
  const auto& metadata = context.GetServerTrailingMetadata();
  const auto why = metadata.find("x-why");
  ASSERT_NE(why, metadata.end());
  EXPECT_EQ(std::string(why->second.data(), why->second.size()), "because");
  EXPECT_EQ(unary("/test.Other/Call", "x", answer).error_code(), StatusCode::UNIMPLEMENTED);
}

TEST_F(Grpc, WhatTheCallerGivesUpTheServerHearsOf) {
  CallService service;
  serve(service);
  grpc::ClientContext context;
  auto stream = both_ways("/test.Calls/Hang", context);
  ASSERT_TRUE(stream->Write(message_of("x")));
  service.await_hanging(1);
  context.TryCancel();
  service.await_cancelled(1);
  EXPECT_EQ(stream->Finish().error_code(), StatusCode::CANCELLED);
}

TEST_F(Grpc, ADeadlineEndsTheCallEverywhere) {
  CallService service;
  serve(service);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  std::string answer;
  const grpc::Status status = unary("/test.Calls/Hang", "x", answer, context);
  EXPECT_EQ(status.error_code(), StatusCode::DEADLINE_EXCEEDED);
  service.await_cancelled(1);
}

// The route's deadline, of which the caller knows nothing, comes when the answer has begun.
TEST_F(Grpc, ADeadlineBehindTheFirstMessageIsAStatus) {
  CallService service;
  start(
      "@gateway\n@service calls\n---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\n"
      "metadata: {name: calls, namespace: default}\nspec: {serviceRef: {name: calls, port: 80}, protocol: GRPC}\n"
      "@route calls limits: {requestTimeout: 1s}\n",
      {{"calls", service.port()}});
  grpc::ClientContext context;
  auto stream = both_ways("/test.Calls/Echo", context);
  ByteBuffer message;
  ASSERT_TRUE(stream->Write(message_of("turn")));
  ASSERT_TRUE(stream->Read(&message));
  EXPECT_FALSE(stream->Read(&message));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), StatusCode::DEADLINE_EXCEEDED) << status.error_message();
  EXPECT_EQ(status.error_message(), "The call took longer than its deadline.");
}

TEST_F(Grpc, LargeMessages) {
  CallService service;
  serve(service);
  std::string text(8 * 1024 * 1024, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 2654435761U >> 13);
  std::string answer;
  const grpc::Status status = unary("/test.Calls/Echo", text, answer);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(answer == text);
}

TEST_F(Grpc, OurOwnAnswersAreStatusesOfGrpc) {
  start(
      "@gateway\n@backend calls protocol: H2C\n---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\n"
      "metadata: {name: r, namespace: default}\nspec:\n  parentRefs: [{name: edge}]\n  rules:\n"
      "    - matches: [{path: {type: PathPrefix, value: /test.Calls}}]\n      backendRef: {name: calls}\n",
      {{"calls", 1}});
  std::string answer;
  const grpc::Status unknown = unary("/no.Such/Route", "x", answer);
  EXPECT_EQ(unknown.error_code(), StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(unknown.error_message(), "No route matches this request.");
  const grpc::Status dead = unary("/test.Calls/Echo", "x", answer);
  EXPECT_EQ(dead.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(dead.error_message(), "The backend cannot be reached.");
}

// More calls at a time than the server takes on one connection.
TEST_F(Grpc, ManyCallsAtATimeShareConnections) {
  CallService service({.max_concurrent_streams = 10});
  serve(service);
  std::vector<std::thread> callers;
  std::atomic<int> good = 0;
  for (int caller = 0; caller < 40; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 50; ++i) {
        std::string answer;
        const std::string text = std::to_string(caller) + "." + std::to_string(i);
        const grpc::Status status = unary("/test.Calls/Echo", text, answer);
        if (status.ok() && answer == text) ++good;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(good, 40 * 50);
  EXPECT_LT(server_->stats().upstream_connects, 40U);
}

// Calls for which there is no room wait for a stream to end, not for another connection.
TEST_F(Grpc, AtTheLimitOfConnectionsCallsWaitForStreams) {
  CallService service({.max_concurrent_streams = 4});
  serve(service, ", connectionLimits: {maxConnections: 1, maxPendingRequests: 100}");
  std::string answer;
  // The server's limit is known from here on.
  ASSERT_TRUE(unary("/test.Calls/Echo", "first", answer).ok());
  std::vector<std::thread> callers;
  std::atomic<int> good = 0;
  for (int caller = 0; caller < 20; ++caller) {
    callers.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        std::string got;
        if (unary("/test.Calls/Echo", "x", got).ok() && got == "x") ++good;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(good, 20 * 20);
}

/// Streams of one connection are requests each: a place is held until the call ends, or its caller gives it up.
TEST_F(Grpc, StreamsHavePlacesInConcurrencyLimits) {
  CallService service;
  start(
      "@gateway\n@service calls\n---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\n"
      "metadata: {name: calls, namespace: default}\n"
      "spec: {serviceRef: {name: calls, port: 80}, protocol: GRPC}\n@route calls\n"
      "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: few, namespace: default}\n"
      "spec: {type: ConcurrencyLimit, targetRef: {kind: ProxyRoute, name: route-1}, "
      "concurrencyLimit: {limits: [{requests: 1}]}}\n",
      {{"calls", service.port()}}, 1);
  using Stream = std::unique_ptr<grpc::ClientReaderWriter<ByteBuffer, ByteBuffer>>;
  // The end is told to the caller before the exchange is gone.
  const auto eventually = [](const auto& holds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::yield();
    }
    return true;
  };
  std::string answer;
  const auto passes = [&] { return unary("/test.Calls/Echo", "one more", answer).ok(); };
  for (const bool gives_up : {false, true}) {
    std::unique_ptr<grpc::ClientContext> context;
    Stream stream;
    ASSERT_TRUE(eventually([&] {
      stream.reset();
      context = std::make_unique<grpc::ClientContext>();
      stream = both_ways("/test.Calls/Echo", *context);
      ByteBuffer message;
      if (stream->Write(message_of("begun")) && stream->Read(&message)) return true;
      static_cast<void>(stream->Finish());
      return false;
    }));
    EXPECT_EQ(unary("/test.Calls/Echo", "one more", answer).error_code(), StatusCode::UNAVAILABLE);
    if (gives_up) {
      context->TryCancel();
      EXPECT_EQ(stream->Finish().error_code(), StatusCode::CANCELLED);
    } else {
      stream->WritesDone();
      EXPECT_TRUE(stream->Finish().ok());
    }
    EXPECT_TRUE(eventually(passes));
  }
}

TEST_F(Grpc, AConnectionCarriesSoManyCalls) {
  CallService service;
  serve(service, ", connectionLimits: {maxRequestsPerConnection: 10}", 1);
  std::string answer;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(unary("/test.Calls/Echo", "x", answer).ok());
  EXPECT_EQ(server_->stats().upstream_connects, 10U);
}

// By grpc.health.v1, which gRPC's own server answers.
TEST_F(Grpc, AServerThatSaysItIsNotServingGetsNoCalls) {
  CallService service({.health = true});
  serve(service,
        ", healthCheck: {protocol: GRPC, interval: 50ms, timeout: 40ms, healthyThreshold: 1, "
        "unhealthyThreshold: 1}");
  const auto call_until = [&](StatusCode wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    grpc::Status status;
    do {
      std::string answer;
      status = unary("/test.Calls/Echo", "x", answer);
    } while (status.error_code() != wanted && std::chrono::steady_clock::now() < end);
    return status;
  };
  EXPECT_TRUE(call_until(StatusCode::OK).ok());
  service.set_serving(false);
  const grpc::Status status = call_until(StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_code(), StatusCode::UNAVAILABLE) << status.error_message();
  service.set_serving(true);
  EXPECT_TRUE(call_until(StatusCode::OK).ok());
}

// A server that sends GOAWAY again and again loses no call.
TEST_F(Grpc, ConnectionsThatGoAwayLoseNothing) {
  CallService service({.max_connection_age = 20});
  serve(service);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  int calls = 0;
  while (std::chrono::steady_clock::now() < end) {
    std::string answer;
    const grpc::Status status = unary("/test.Calls/Echo", "x", answer);
    ASSERT_TRUE(status.ok()) << status.error_message() << " after " << calls;
    ++calls;
  }
  EXPECT_GT(server_->stats().upstream_connects, 5U);
}

}  // namespace
}  // namespace edge::test
