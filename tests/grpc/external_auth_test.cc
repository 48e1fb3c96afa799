// The filter ExternalAuth with protocol GRPC against a server of gRPC's own library.
#include <map>
#include <mutex>
#include <sstream>
#include <string>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "tests/grpc/ext_authz.grpc.pb.h"
#include "tests/support/case_file.h"
#include "tests/support/connection.h"
#include "tests/support/proxy.h"
#include "tests/support/stage.h"
#include "tests/support/upstream.h"

namespace edge::test {
namespace {

using namespace std::chrono_literals;
namespace authz = envoy::service::auth::v3;

constexpr const char* kConfig = R"(@gateway
@backend a
@service auth
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: default}
spec:
  parentRefs: [{group: edgeproxy.io, kind: ProxyGateway, name: edge}]
  rules:
    - filters:
        - type: ExternalAuth
          externalAuth:
            protocol: GRPC
            backendRef: {name: auth, port: 80}
            grpc: {}
            forwardBody: {maxSize: 1024}
      backendRefs: [{group: edgeproxy.io, kind: ProxyBackend, name: a}]
)";

/// Decides by the path.
class Service final : public authz::Authorization::Service {
 public:
  grpc::Status Check(grpc::ServerContext*, const authz::CheckRequest* request,
                     authz::CheckResponse* response) override {
    const std::scoped_lock lock(mutex_);
    last_ = request->attributes();
    const std::string& path = last_.request().http().path();
    if (path == "/broken") return {grpc::StatusCode::INTERNAL, "broken"};
    if (path == "/empty") return grpc::Status::OK;
    if (path == "/denied") {
      response->mutable_status()->set_code(16);
      auto* denied = response->mutable_denied_response();
      denied->mutable_status()->set_code(401);
      add(*denied->add_headers(), "www-authenticate", "Bearer");
      add(*denied->add_headers(), "transfer-encoding", "chunked");
      denied->set_body("who are you");
      return grpc::Status::OK;
    }
    response->mutable_status()->set_code(0);
    auto* ok = response->mutable_ok_response();
    add(*ok->add_headers(), "x-user", "alice");
    ok->add_headers_to_remove("x-old");
    add(*ok->add_response_headers_to_add(), "x-seen", "yes");
    return grpc::Status::OK;
  }

  authz::AttributeContext last() {
    const std::scoped_lock lock(mutex_);
    return last_;
  }

 private:
  static void add(authz::HeaderValueOption& option, const std::string& name, const std::string& value) {
    option.mutable_header()->set_key(name);
    option.mutable_header()->set_value(value);
  }

  std::mutex mutex_;
  authz::AttributeContext last_;
};

struct Serving {
  std::unique_ptr<grpc::Server> server;
  std::uint16_t port = 0;
};

Serving serve(Service& service) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  Serving serving{builder.BuildAndStart(), 0};
  serving.port = static_cast<std::uint16_t>(port);
  return serving;
}

class ExternalAuthGrpc : public ::testing::Test {
 protected:
  void begin(const std::string& script) {
    grpc_ = serve(service_);
    ASSERT_NE(grpc_.server, nullptr);
    upstream_ = std::make_unique<Upstream>(stage_, "a", Upstream::Kind::kScript);
    std::istringstream text("== upstream a\n" + script);
    upstream_->start(parse_case("script", text, 1).sections.at(0).commands);

    runtime::ServerOptions options;
    options.threads = 1;
    options.ephemeral_ports = true;
    auto server = runtime::Server::start(options);
    const Result<Compiled> compiled = compile(grpc_.port);
    ASSERT_TRUE(server.ok());
    ASSERT_TRUE(compiled.ok()) << compiled.error().text;
    server_ = std::move(*server);
    server_->set_endpoints(compiled->endpoints);
    server_->set_secrets(compiled->secrets);
    ASSERT_TRUE(server_->install(compiled->program));
    const Result<int> dialed = Connection::dial(server_->addresses()[0].port);
    ASSERT_TRUE(dialed.ok());
    client_ = std::make_unique<Connection>(*dialed, stage_.deadline());
  }

  Result<Compiled> compile(std::uint16_t auth) {
    const std::map<std::string, std::uint16_t> ports = {{"a", upstream_->port()}, {"auth", auth}};
    return compile_text("external_auth_test", expand_config(kConfig, ports));
  }

  Message ask(const std::string& request, std::string& body) {
    EXPECT_TRUE(client_->send(request));
    Result<Message> head = client_->receive_head();
    EXPECT_TRUE(head.ok());
    if (!head) return {};
    const Result<std::string> read = client_->receive_body(*head);
    body = read ? *read : read.error().text;
    return std::move(*head);
  }

  Stage stage_{20s};
  Service service_;
  Serving grpc_;
  std::unique_ptr<Upstream> upstream_;
  std::unique_ptr<runtime::Server> server_;
  std::unique_ptr<Connection> client_;
};

TEST_F(ExternalAuthGrpc, TheServiceIsToldOfARequestAndItsAnswerIsCarriedOut) {
  begin(
      "accept\nhead POST /x?q=1 HTTP/1.1\nfield X-User: alice\nno-field X_User\nno-field X-Old\nbody hello\n"
      "send \"HTTP/1.1 200 OK\\r\\nContent-Length: 1\\r\\n\\r\\na\"\n");
  std::string body;
  const Message passed = ask(
      "POST /y/../x?q=1 HTTP/1.1\r\nHost: example.com\r\nCookie: c=1\r\nX_User: admin\r\nX-User: admin\r\nX-Old: 1\r\n"
      "X-Forwarded-For: 1.2.3.4\r\nContent-Length: 5\r\n\r\nhello",
      body);
  EXPECT_EQ(passed.start_line, "HTTP/1.1 200 OK");
  EXPECT_EQ(passed.values("x-seen"), std::vector<std::string>{"yes"});
  const auto reported = service_.last();
  EXPECT_EQ(reported.source().address().socket_address().address(), "127.0.0.1");
  EXPECT_GT(reported.request().time().seconds(), 0);
  const auto& http = reported.request().http();
  EXPECT_EQ(http.method(), "POST");
  EXPECT_EQ(http.path(), "/x?q=1");
  EXPECT_EQ(http.host(), "example.com");
  EXPECT_EQ(http.scheme(), "http");
  EXPECT_EQ(http.body(), "hello");
  EXPECT_EQ(http.size(), 5);
  EXPECT_EQ(http.headers().at("cookie"), "c=1");
  EXPECT_EQ(http.headers().at("x-forwarded-for"), "127.0.0.1");

  const Message denied = ask("GET /denied HTTP/1.1\r\nHost: example.com\r\n\r\n", body);
  EXPECT_EQ(denied.start_line.substr(9, 3), "401");
  EXPECT_EQ(denied.values("www-authenticate"), std::vector<std::string>{"Bearer"});
  EXPECT_TRUE(denied.values("transfer-encoding").empty());
  EXPECT_EQ(body, "who are you");
  upstream_->join();
  EXPECT_EQ(stage_.failure(), "");
}

TEST_F(ExternalAuthGrpc, WithoutADecisionNobodyPasses) {
  begin("");
  std::string body;
  for (const std::string path : {"/broken", "/empty"}) {
    const Message failed = ask("GET " + path + " HTTP/1.1\r\nHost: example.com\r\n\r\n", body);
    EXPECT_EQ(failed.start_line.substr(9, 3), "503") << path;
  }
  grpc_.server->Shutdown();
  const Message away = ask("GET /x HTTP/1.1\r\nHost: example.com\r\n\r\n", body);
  EXPECT_EQ(away.start_line.substr(9, 3), "503");
  upstream_->join();
  EXPECT_EQ(stage_.failure(), "");
}

TEST_F(ExternalAuthGrpc, CallsFollowTheEndpointsOfTheService) {
  begin("");
  std::string body;
  const std::string request = "GET /denied HTTP/1.1\r\nHost: example.com\r\n\r\n";
  EXPECT_EQ(ask(request, body).start_line.substr(9, 3), "401");
  EXPECT_EQ(service_.last().request().http().path(), "/denied");
  Service next;
  const Serving other = serve(next);
  ASSERT_NE(other.server, nullptr);
  const Result<Compiled> moved = compile(other.port);
  ASSERT_TRUE(moved.ok());
  server_->set_endpoints(moved->endpoints);
  grpc_.server->Shutdown();
  EXPECT_EQ(ask(request, body).start_line.substr(9, 3), "401");
  EXPECT_EQ(next.last().request().http().path(), "/denied");
  upstream_->join();
  EXPECT_EQ(stage_.failure(), "");
}

}  // namespace
}  // namespace edge::test
