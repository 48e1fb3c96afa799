// What a client is shown while secrets change: the certificate, and the OCSP response that goes with it.
#include <gtest/gtest.h>

#include "tests/support/certificates.h"
#include "tests/support/connection.h"
#include "tests/support/proxy.h"
#include "tests/support/stage.h"

namespace edge::test {
namespace {

using namespace std::chrono_literals;

/// A client's connection, with its TLS at hand.
struct Shown {
  std::unique_ptr<Connection> connection;
  std::string certificate;
  std::string staple;
};

class TlsServing : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::ServerOptions options;
    options.threads = 2;
    options.ephemeral_ports = true;
    auto server = runtime::Server::start(options);
    ASSERT_TRUE(server.ok()) << server.error().text;
    server_ = std::move(*server);
    // The Secret is there for the compiler; what is in it comes from `show`.
    const Result<Compiled> compiled =
        compile_text("tls", expand_config("@gateway\n@backend a\n@route a\n", {{"a", upstream_port_}}, Over::kTls));
    ASSERT_TRUE(compiled.ok()) << compiled.error().text;
    server_->set_endpoints(compiled->endpoints);
    server_->set_secrets(compiled->secrets);
    ASSERT_TRUE(server_->install(compiled->program));
  }

  /// Replaces the secrets, and nothing else.
  void show(const IssuedCertificate& issued, const std::string& staple = {}) {
    const auto shared = [](const std::string& text) { return std::make_shared<const std::string>(text); };
    program::SecretSet set{{{"default", "site", {{"tls.crt", shared(issued.chain)}, {"tls.key", shared(issued.key)}}}}};
    if (!staple.empty()) set.secrets[0].values.push_back({"tls.ocsp-staple", shared(staple)});
    set.sort();
    server_->set_secrets(set);
  }

  Shown connect() {
    const Result<int> fd = Connection::dial(server_->addresses()[0].port);
    EXPECT_TRUE(fd.ok());
    const auto side = TlsSide::client(authority_.pem(), "example.com");
    std::unique_ptr<TlsEnd> end = side->over(*fd);
    const TlsEnd& tls = *end;
    Shown shown{std::make_unique<Connection>(*fd, stage_.deadline()), {}, {}};
    EXPECT_TRUE(shown.connection->encrypt(std::move(end)).ok());
    // 404 or 503, whatever: it is served.
    EXPECT_TRUE(serves(*shown.connection));
    shown.certificate = tls.peer_certificate();
    shown.staple = tls.staple();
    return shown;
  }
  static bool serves(Connection& connection) {
    if (!connection.send("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")) return false;
    const Result<Message> head = connection.receive_head();
    return head.ok() && connection.receive_body(*head).ok();
  }

  static constexpr std::uint16_t upstream_port_ = 1;
  Stage stage_{20s};
  TestAuthority authority_;
  std::unique_ptr<runtime::Server> server_;
};

TEST_F(TlsServing, AStapleReachesTheClient) {
  const IssuedCertificate issued = authority_.issue("example.com");
  const std::string staple = authority_.staple(issued, 1h);
  show(issued, staple);
  EXPECT_TRUE(connect().staple == staple);
  // One that is over says nothing, and is not sent.
  show(issued, authority_.staple(issued, -1h));
  EXPECT_EQ(connect().staple, "");
  show(issued);
  EXPECT_EQ(connect().staple, "");
}

TEST_F(TlsServing, SecretsAloneTakeEffect) {
  const IssuedCertificate first = authority_.issue("example.com");
  show(first);
  const Shown before = connect();
  EXPECT_TRUE(first.chain.starts_with(before.certificate));
  const IssuedCertificate second = authority_.issue("example.com");
  show(second);
  const Shown after = connect();
  EXPECT_TRUE(second.chain.starts_with(after.certificate));
  EXPECT_NE(before.certificate, after.certificate);
  EXPECT_TRUE(serves(*before.connection)) << "who had the old one goes on";
  EXPECT_TRUE(serves(*after.connection));
}

}  // namespace
}  // namespace edge::test
