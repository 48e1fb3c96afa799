// What a client is shown while secrets change: the certificate, and the OCSP response that goes with it.
#include <algorithm>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "program/values/ordered_certificates.h"
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

/// A value of a Secret, as a block of YAML.
std::string value(const std::string& key, const std::string& text) {
  std::string out = "  " + key + ": |\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += "    " + line + "\n";
  return out;
}

class TlsServing : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::ServerOptions options;
    options.threads = 2;
    options.ephemeral_ports = true;
    options.log = Logger([this](LogLevel, const std::string& text, const LogFields& fields) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(text);
      for (const LogField& field : fields) lines_.back() += " " + field.key + "=" + field.value;
    });
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

  Shown connect(const std::string& name = "example.com") {
    const Result<int> fd = Connection::dial(server_->addresses()[0].port);
    EXPECT_TRUE(fd.ok());
    const auto side = TlsSide::client(authority_.pem(), name);
    std::unique_ptr<TlsEnd> end = side->over(*fd);
    const TlsEnd& tls = *end;
    Shown shown{std::make_unique<Connection>(*fd, stage_.deadline()), {}, {}};
    EXPECT_TRUE(shown.connection->encrypt(std::move(end)).ok());
    // 404 or 503, whatever: it is served.
    EXPECT_TRUE(serves(*shown.connection, name));
    shown.certificate = tls.peer_certificate();
    shown.staple = tls.staple();
    return shown;
  }
  static bool serves(Connection& connection, const std::string& host = "example.com") {
    if (!connection.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n")) return false;
    const Result<Message> head = connection.receive_head();
    return head.ok() && connection.receive_body(*head).ok();
  }

  static constexpr std::uint16_t upstream_port_ = 1;
  Stage stage_{20s};
  TestAuthority authority_;
  std::mutex mutex_;
  std::vector<std::string> lines_;  ///< of the log; under the mutex
  std::unique_ptr<runtime::Server> server_;
};

TEST_F(TlsServing, HandshakesThatFailAreToldNowAndThen) {
  constexpr int kClients = 40;
  for (int i = 0; i < kClients; ++i) {
    const Result<int> fd = Connection::dial(server_->addresses()[0].port);
    ASSERT_TRUE(fd.ok());
    Connection client(*fd, stage_.deadline());
    ASSERT_TRUE(client.send("GET / HTTP/1.1\r\n\r\n").ok());
    (void)client.receive_all();  // an alert, then the end
  }
  const std::lock_guard lock(mutex_);
  EXPECT_GE(server_->stats().tls_failures, static_cast<std::uint64_t>(kClients));
  ASSERT_FALSE(lines_.empty());
  EXPECT_LT(lines_.size(), static_cast<std::size_t>(kClients));
  EXPECT_TRUE(lines_[0].starts_with("a TLS handshake failed client=127.0.0.1 reason=")) << lines_[0];
}

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

// Gateways that share a port, each with a listener and certificates of its own: whoever asks for a name is shown the
// one that is for it.
TEST_F(TlsServing, ManyNamesShareAPort) {
  constexpr int kGateways = 4;
  constexpr int kNames = 40;
  const auto name_of = [](int gateway, int name) {
    return "n" + std::to_string(name) + ".g" + std::to_string(gateway) + ".example.com";
  };
  std::string config;
  std::vector<IssuedCertificate> issued;
  for (int gateway = 0; gateway < kGateways; ++gateway) {
    const std::string own = std::to_string(gateway);
    std::string references;
    for (int name = 0; name < kNames; ++name) {
      const std::string secret = "c" + own + "-" + std::to_string(name);
      references += (references.empty() ? "{name: " : ", {name: ") + secret + "}";
      issued.push_back(authority_.issue(name_of(gateway, name)));
      config += "---\napiVersion: v1\nkind: Secret\nmetadata: {name: " + secret +
                ", namespace: default}\ntype: kubernetes.io/tls\nstringData:\n" +
                value("tls.crt", issued.back().chain) + value("tls.key", issued.back().key);
    }
    config += "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: g" + own +
              ", namespace: default}\nspec:\n  listeners:\n    - {name: https, port: 8080, protocol: HTTPS, "
              "hostnames: [\"*.g" +
              own + ".example.com\"], tls: {certificateRefs: [" + references + "]}}\n";
  }
  const Result<Compiled> compiled = compile_text("many", config);
  ASSERT_TRUE(compiled.ok()) << compiled.error().text;
  server_->set_secrets(compiled->secrets);
  ASSERT_TRUE(server_->install(compiled->program));
  auto own = issued.begin();
  for (int gateway = 0; gateway < kGateways; ++gateway) {
    for (int name = 0; name < kNames; ++name, ++own) {
      const Shown shown = connect(name_of(gateway, name));
      ASSERT_TRUE(own->chain.starts_with(shown.certificate)) << name_of(gateway, name);
    }
  }
}

// A handshake that waits for a certificate on demand when its listener goes: it ends, and everything else goes on.
TEST_F(TlsServing, AListenerMayGoWhileAHandshakeWaitsForACertificate) {
  const std::string gateway =
      "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: edge, namespace: default}\n"
      "spec:\n  listeners:\n    - {name: http, port: 8081, protocol: HTTP}\n";
  const Result<Compiled> without = compile_text("without", gateway);
  ASSERT_TRUE(without.ok()) << without.error().text;
  const Result<Compiled> with =
      compile_text("with", gateway +
                               "    - {name: https, port: 8080, protocol: HTTPS, tls: {acme: {email: a@example.com, "
                               "onDemand: {allow: [\"*.example.com\"]}}}}\n");
  ASSERT_TRUE(with.ok()) << with.error().text;
  const auto patterns = std::make_shared<const std::string>("*.example.com\n");
  program::SecretSet set{
      {{"default", program::ordered_secret_name("edge", "https"), {{std::string(program::kOnDemandKey), patterns}}}}};
  server_->set_secrets(set);
  ASSERT_TRUE(server_->install(with->program));
  const std::vector<runtime::BoundAddress> addresses = server_->addresses();
  const auto https = std::ranges::find(addresses, "https", &runtime::BoundAddress::listener);
  ASSERT_NE(https, addresses.end());

  const Result<int> fd = Connection::dial(https->port);
  ASSERT_TRUE(fd.ok());
  Connection connection(*fd, stage_.deadline());
  const auto side = TlsSide::client(authority_.pem(), "a.example.com");
  bool served = true;
  std::thread client([&] { served = connection.encrypt(side->over(*fd)).ok() && serves(connection); });
  const auto await = [&](const auto& holds) {
    while (!holds() && !stage_.deadline().over()) std::this_thread::sleep_for(5ms);
    return holds();
  };
  bool told = false;
  EXPECT_TRUE(await([&] { return told = told || !server_->take_wanted_names(1).empty(); })) << "it waits";
  EXPECT_EQ(server_->stats().tls_failures, 0U);
  EXPECT_TRUE(server_->install(without->program).ok());
  client.join();
  EXPECT_FALSE(served);
  EXPECT_TRUE(await([&] { return server_->stats().tls_failures == 1; })) << "it was refused";
  // Other threads and listeners serve on.
  const Result<int> plain = Connection::dial(server_->addresses()[0].port);
  ASSERT_TRUE(plain.ok());
  Connection other(*plain, stage_.deadline());
  EXPECT_TRUE(serves(other));
}

// Clients show certificates, of which their authority has revoked some (RFC 5280 §5).
class RevokedClients : public TlsServing {
 protected:
  void SetUp() override {
    TlsServing::SetUp();
    configure(false);
  }
  void configure(bool needs_list) {
    const std::string config =
        expand_config("@backend a\n@route a\n@authority clients\n", {{"a", upstream_port_}}, Over::kTls) +
        "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: edge, namespace: "
        "default}\nspec:\n"
        "  listeners:\n    - name: https\n      port: 8080\n      protocol: HTTPS\n      tls:\n"
        "        secretRef: {name: site}\n        clientValidation:\n"
        "          caCertificateRefs: [{name: clients}, {name: others}]\n          requireCRL: " +
        (needs_list ? "true" : "false") + "\n---\napiVersion: v1\nkind: Secret\n" +
        "metadata: {name: others, namespace: default}\nstringData:\n" + value("ca.crt", others_.pem());
    const Result<Compiled> compiled = compile_text("revoked", config);
    ASSERT_TRUE(compiled.ok()) << compiled.error().text;
    ASSERT_TRUE(server_->install(compiled->program));
  }
  /// `list`: what is in `ca.crl` of the clients' authority; empty: there is none.
  void revoke(const std::string& list, const std::string& list_of_others = {}) {
    const auto shared = [](const std::string& text) { return std::make_shared<const std::string>(text); };
    program::SecretSet set{{{"default", "site", {{"tls.crt", shared(site_.chain)}, {"tls.key", shared(site_.key)}}},
                            {"default", "clients", {{"ca.crt", shared(clients_.pem())}}},
                            {"default", "others", {{"ca.crt", shared(others_.pem())}}}}};
    if (!list.empty()) set.secrets[1].values.push_back({"ca.crl", shared(list)});
    if (!list_of_others.empty()) set.secrets[2].values.push_back({"ca.crl", shared(list_of_others)});
    set.sort();
    server_->set_secrets(set);
  }
  /// Whether a request is served to whoever shows this one.
  bool serves_to(const std::shared_ptr<TlsSide>& side) {
    const Result<int> fd = Connection::dial(server_->addresses()[0].port);
    EXPECT_TRUE(fd.ok());
    Connection connection(*fd, stage_.deadline());
    // With TLS 1.3 the refusal comes after the client's handshake.
    return connection.encrypt(side->over(*fd)).ok() && serves(connection);
  }
  bool serves_to(const IssuedCertificate& shown) { return serves_to(side_of(shown)); }
  std::shared_ptr<TlsSide> side_of(const IssuedCertificate& shown) {
    auto side = TlsSide::client(authority_.pem(), "example.com");
    side->show(shown);
    return side;
  }

  const IssuedCertificate site_ = authority_.issue("example.com");
  const TestAuthority clients_{"clients"};
  const TestAuthority others_{"others"};
  const IssuedCertificate alice_ = clients_.issue("alice");
  const IssuedCertificate bob_ = clients_.issue("bob");
  const IssuedCertificate carol_ = others_.issue("carol");
};

TEST_F(RevokedClients, AreRefusedFromTheListOn) {
  revoke({});
  EXPECT_TRUE(serves_to(alice_));
  EXPECT_TRUE(serves_to(bob_));
  revoke(clients_.crl({alice_}, 1h));
  EXPECT_FALSE(serves_to(alice_));
  EXPECT_TRUE(serves_to(bob_));
  EXPECT_TRUE(serves_to(carol_)) << "whose authority has no list";
  // One that is over goes on counting, and keeps nobody else out.
  revoke(clients_.crl({alice_}, -1h));
  EXPECT_FALSE(serves_to(alice_));
  EXPECT_TRUE(serves_to(bob_));
  revoke(clients_.crl({}, 1h));
  EXPECT_TRUE(serves_to(alice_));
}

TEST_F(RevokedClients, DoNotComeBackByASession) {
  revoke({});
  const auto side = side_of(alice_);
  side->resume();
  ASSERT_TRUE(serves_to(side));
  ASSERT_TRUE(serves_to(side));
  ASSERT_EQ(server_->stats().tls_resumed, 1u);
  revoke(clients_.crl({alice_}, 1h));
  EXPECT_FALSE(serves_to(side));
}

TEST_F(RevokedClients, WhereAListIsNeededNobodyIsBelievedWithoutOne) {
  configure(true);
  revoke({});
  EXPECT_FALSE(serves_to(bob_));
  revoke(clients_.crl({alice_}, 1h));
  EXPECT_FALSE(serves_to(alice_));
  EXPECT_TRUE(serves_to(bob_));
  EXPECT_FALSE(serves_to(carol_)) << "whose authority has no list";
  revoke(clients_.crl({alice_}, 1h), others_.crl({}, 1h));
  EXPECT_TRUE(serves_to(carol_));
  revoke(clients_.crl({alice_}, -1h));
  EXPECT_FALSE(serves_to(bob_)) << "the list is over";
}

TEST_F(RevokedClients, AListThatSaysNothingLetsNobodyIn) {
  revoke("no list");
  EXPECT_FALSE(serves_to(bob_));
  revoke(clients_.pem());
  EXPECT_FALSE(serves_to(bob_)) << "a certificate is none";
  // Signed by somebody else under the authority's name.
  const TestAuthority forger("clients");
  revoke(forger.crl({}, 1h));
  EXPECT_FALSE(serves_to(bob_));
  revoke(clients_.crl({}, 1h));
  EXPECT_TRUE(serves_to(bob_));
}

}  // namespace
}  // namespace edge::test
