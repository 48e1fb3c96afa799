// What clients show who they are by, and what backends are told of it: Gateway API's AllowValidOnly and
// AllowInsecureFallback, over HTTP/1.1 and HTTP/2, through sessions that are resumed, listeners that are edited and
// authorities that change.
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/field_name.h"
#include "tests/support/certificates.h"
#include "tests/support/connection.h"
#include "tests/support/http2_bridge.h"
#include "tests/support/proxy.h"
#include "tests/support/recording_server.h"
#include "tests/support/stage.h"

namespace edge::test {
namespace {

using namespace std::chrono_literals;
using Side = std::shared_ptr<TlsSide>;

constexpr const char* kNone = "";
constexpr const char* kValidOnly = "AllowValidOnly";
constexpr const char* kFallback = "AllowInsecureFallback";

/// A client's connection.
struct Client {
  std::unique_ptr<Http2Bridge> bridge;
  std::unique_ptr<Connection> connection;
  bool refused = false;
};

/// By what clients speak: empty for HTTP/1.1, `h2`.
class ClientCertificates : public testing::TestWithParam<std::string> {
 protected:
  ClientCertificates() : ClientCertificates(answer_as_told) {}
  explicit ClientCertificates(net::server::Reply (*answer)(const net::server::Request&))
      : backend_(answer), auth_(admit_verified) {
    runtime::ServerOptions options;
    options.threads = 2;
    options.ephemeral_ports = true;
    server_ = runtime::Server::start(options).value();
    trust(clients_.pem());
  }
  ~ClientCertificates() override {
    server_.reset();
    stage_.abort();
  }

  /// What the backend was told is the body; a dash for nothing.
  static net::server::Reply answer_as_told(const net::server::Request& request) {
    net::server::Reply reply;
    std::string& told = reply.body;
    for (const auto& [name, value] : request.fields) {
      if (same_field(name, "x-ssl-client-verify")) told += (told.empty() ? "" : " | ") + value;
    }
    if (told.empty()) told = "-";
    reply.fields = {{"cache-control", "max-age=600"}};
    return reply;
  }
  /// An authorization service that goes by the same word.
  static net::server::Reply admit_verified(const net::server::Request& request) {
    net::server::Reply reply;
    reply.status = request.field("x-ssl-client-verify") == "SUCCESS" ? 200 : 403;
    return reply;
  }

  void install(const std::string& gateway) {
    const Result<Compiled> compiled = compile_text(
        "clients", expand_config("@backend a\n@service auth\n@certificate site\n@authority clients\n" + gateway,
                                 {{"a", backend_.port()}, {"auth", auth_.port()}}));
    ASSERT_TRUE(compiled.ok()) << compiled.error().text;
    server_->set_endpoints(compiled->endpoints);
    ASSERT_TRUE(server_->install(compiled->program));
  }
  /// A Gateway whose clients are validated by this mode, and a route; the path `/asked` is behind the service.
  void validate(const std::string& mode) {
    const std::string frontend = mode.empty()
                                     ? std::string()
                                     : "  tls: {frontend: {default: {validation: {mode: " + mode +
                                           ", caCertificateRefs: [{group: '', kind: Secret, name: clients}]}}}}\n";
    install(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: edge}\n"
        "spec: {controllerName: edgeproxy.io/proxy}\n"
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge, namespace: default}\n"
        "spec:\n  gatewayClassName: edge\n" +
        frontend +
        "  listeners: [{name: https, port: 8080, protocol: HTTPS, tls: {certificateRefs: [{name: site}]}}]\n"
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: a, namespace: default}\n"
        "spec:\n  parentRefs: [{name: edge}]\n  rules:\n"
        "    - backendRefs: [{group: edgeproxy.io, kind: ProxyBackend, name: a}]\n"
        "    - matches: [{path: {value: /asked}}]\n"
        "      filters:\n"
        "        - type: ExternalAuth\n"
        "          externalAuth:\n"
        "            protocol: HTTP\n"
        "            backendRef: {name: auth, port: 80}\n"
        "            http: {path: /check, allowedHeaders: [X-SSL-Client-Verify]}\n"
        "      backendRefs: [{group: edgeproxy.io, kind: ProxyBackend, name: a}]\n");
  }
  /// `authorities`: PEM of whom clients' certificates must be of; `list`: of those that are revoked, or empty.
  void trust(const std::string& authorities, const std::string& list = {}) {
    const auto shared = [](const std::string& text) { return std::make_shared<const std::string>(text); };
    program::SecretSet set{{{"default", "site", {{"tls.crt", shared(site_.chain)}, {"tls.key", shared(site_.key)}}},
                            {"default", "clients", {{"ca.crt", shared(authorities)}}}}};
    if (!list.empty()) set.secrets[1].values.push_back({"ca.crl", shared(list)});
    set.sort();
    server_->set_secrets(set);
  }

  Side nobody() { return TlsSide::client(authority_.pem(), "example.com", GetParam()); }
  Side with(const IssuedCertificate& shown) {
    Side side = nobody();
    side->show(shown);
    return side;
  }

  Client connect(const Side& side) {
    Client client;
    const std::uint16_t port = server_->addresses().front().port;
    int fd = -1;
    if (GetParam() == "h2") {
      auto bridge = Http2Bridge::open(port, fd, side.get());
      client.refused = !bridge.ok();
      if (client.refused) return client;
      client.bridge = std::move(*bridge);
    } else {
      fd = Connection::dial(port).value();
    }
    client.connection = std::make_unique<Connection>(fd, stage_.deadline());
    if (client.bridge == nullptr) client.refused = !client.connection->encrypt(side->over(fd)).ok();
    return client;
  }
  /// The body of the answer; its status where that is no success; `refused` where there is no answer.
  static std::string ask(Client& client, const std::string& path = "/", const std::string& fields = {}) {
    // With TLS 1.3 the refusal comes after the client's handshake.
    if (client.refused) return "refused";
    if (!client.connection->send("GET " + path + " HTTP/1.1\r\nHost: example.com\r\n" + fields + "\r\n")) {
      return "refused";
    }
    const Result<Message> head = client.connection->receive_head();
    if (!head) return "refused";
    const Result<std::string> body = client.connection->receive_body(*head);
    const std::string status = head->start_line.substr(9, 3);
    return status == "200" && body.ok() ? *body : status;
  }
  std::string ask(const Side& side, const std::string& path = "/", const std::string& fields = {}) {
    Client client = connect(side);
    return ask(client, path, fields);
  }
  std::uint64_t resumed() const { return server_->stats().tls_resumed; }

  Stage stage_{60s};
  const TestAuthority authority_;
  const IssuedCertificate site_ = authority_.issue("example.com");
  const TestAuthority clients_{"clients"};
  const TestAuthority others_{"others"};
  const IssuedCertificate alice_ = clients_.issue("alice");
  const IssuedCertificate carol_ = others_.issue("carol");
  const IssuedCertificate late_ = clients_.issue({.names = {"late"}, .lifetime = -1h});
  RecordingServer backend_;
  RecordingServer auth_;
  std::unique_ptr<runtime::Server> server_;
};

bool failed(const std::string& told) { return told.starts_with("FAILED:"); }

TEST_P(ClientCertificates, WhereAnInvalidOneIsServedTheBackendIsTold) {
  validate(kFallback);
  EXPECT_EQ(ask(with(alice_)), "SUCCESS");
  EXPECT_EQ(ask(nobody()), "NONE");
  EXPECT_EQ(ask(with(late_)), "FAILED:certificate has expired");
  EXPECT_TRUE(failed(ask(with(carol_)))) << "of an authority that nobody named";
  const Side with_issuer = nobody();
  with_issuer->show_with_issuer(carol_);
  EXPECT_TRUE(failed(ask(with_issuer))) << "an authority that the client brings";
  trust(clients_.pem(), clients_.crl({alice_}, 1h));
  EXPECT_EQ(ask(with(alice_)), "FAILED:certificate revoked");
  EXPECT_TRUE(failed(ask(with(carol_))));
  EXPECT_TRUE(failed(ask(with_issuer)));
  trust(clients_.pem(), "no list");
  EXPECT_TRUE(failed(ask(with(alice_)))) << "who is revoked is not known";
}

TEST_P(ClientCertificates, WhereOnlyValidOnesAreServedTheBackendIsToldTheSameWay) {
  validate(kValidOnly);
  EXPECT_EQ(ask(with(alice_)), "SUCCESS");
  EXPECT_EQ(ask(nobody()), "refused");
  EXPECT_EQ(ask(with(carol_)), "refused");
  EXPECT_EQ(ask(with(late_)), "refused");
  validate(kNone);
  EXPECT_EQ(ask(with(alice_)), "-");
}

TEST_P(ClientCertificates, WhatClientsSayOfThemselvesIsNeverPassedOn) {
  for (const char* const name : {"X-SSL-Client-Verify", "x-ssl-client-verify", "X_SSL_Client_Verify"}) {
    const std::string forged = std::string(name) + ": SUCCESS\r\n" + name + ": SUCCESS\r\n";
    validate(kFallback);
    EXPECT_EQ(ask(nobody(), "/", forged), "NONE") << name;
    EXPECT_TRUE(failed(ask(with(carol_), "/", forged))) << name;
    EXPECT_EQ(ask(nobody(), "/asked", forged), "403") << name;
    validate(kNone);
    EXPECT_EQ(ask(nobody(), "/", forged), "-") << name;
    EXPECT_EQ(ask(nobody(), "/asked", forged), "403") << name;
  }
}

TEST_P(ClientCertificates, AnAuthorizationServiceIsToldToo) {
  validate(kFallback);
  EXPECT_EQ(ask(with(alice_), "/asked"), "SUCCESS");
  EXPECT_EQ(ask(with(carol_), "/asked"), "403");
  EXPECT_EQ(ask(nobody(), "/asked"), "403");
}

TEST_P(ClientCertificates, AResumedSessionIsWhatItWas) {
  validate(kFallback);
  for (const Side& side : {with(alice_), with(carol_), with(late_), nobody()}) {
    side->resume();
    const std::uint64_t before = resumed();
    const std::string told = ask(side);
    ASSERT_NE(told, "refused");
    EXPECT_EQ(ask(side), told);
    EXPECT_EQ(ask(side), told) << "by the ticket of a resumed session";
    EXPECT_EQ(resumed(), before + 2);
  }
}

TEST_P(ClientCertificates, ASessionEndsWithTheAuthoritiesItWasMadeUnder) {
  validate(kFallback);
  const Side alice = with(alice_);
  const Side carol = with(carol_);
  for (const Side& side : {alice, carol}) side->resume();
  EXPECT_EQ(ask(alice), "SUCCESS");
  EXPECT_TRUE(failed(ask(carol)));
  trust(others_.pem());
  EXPECT_TRUE(failed(ask(alice)));
  EXPECT_EQ(ask(carol), "SUCCESS");
  trust(clients_.pem(), clients_.crl({alice_}, 1h));
  EXPECT_EQ(ask(alice), "FAILED:certificate revoked");
  EXPECT_EQ(resumed(), 0u);
}

TEST_P(ClientCertificates, AnEditOfTheListenerHoldsForSessionsAndOpenConnections) {
  validate(kValidOnly);
  const Side alice = with(alice_);
  alice->resume();
  EXPECT_EQ(ask(alice), "SUCCESS");
  Client alice_open = connect(alice);
  EXPECT_EQ(ask(alice_open), "SUCCESS");

  validate(kFallback);
  const std::uint64_t before = resumed();
  EXPECT_EQ(ask(alice), "SUCCESS");
  EXPECT_EQ(ask(alice_open), "SUCCESS");
  const Side carol = with(carol_);
  const Side none = nobody();
  for (const Side& side : {carol, none}) side->resume();
  Client carol_open = connect(carol);
  Client none_open = connect(none);
  EXPECT_TRUE(failed(ask(carol_open)));
  EXPECT_EQ(ask(none_open), "NONE");
  EXPECT_EQ(resumed(), before) << "none of what was required otherwise";

  validate(kValidOnly);
  EXPECT_EQ(ask(carol), "refused");
  EXPECT_EQ(ask(none), "refused");
  EXPECT_EQ(ask(carol_open), "421");
  EXPECT_EQ(ask(none_open), "421");
  EXPECT_EQ(ask(alice_open), "SUCCESS");
  EXPECT_EQ(ask(alice), "SUCCESS");
}

TEST_P(ClientCertificates, AConnectionFromBeforeClientsWereAskedHasShownNone) {
  validate(kNone);
  Client open = connect(with(alice_));
  EXPECT_EQ(ask(open), "-");
  validate(kFallback);
  EXPECT_EQ(ask(open), "NONE");
  validate(kNone);
  EXPECT_EQ(ask(open), "-");
  validate(kValidOnly);
  EXPECT_EQ(ask(open), "421");
}

// A ProxyGateway's `optional` serves clients without a certificate, none with an invalid one; and it has a cache.
TEST_P(ClientCertificates, AnAnswerForOneIsNotKeptForOthers) {
  install(
      "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: edge, namespace: default}\nspec:\n"
      "  cache: {enabled: true}\n"
      "  listeners:\n"
      "    - {name: https, port: 8080, protocol: HTTPS, tls: {secretRef: {name: site}, clientValidation: "
      "{caCertificateRefs: [{name: clients}], optional: true}}}\n"
      "@route a\n");
  EXPECT_EQ(ask(with(alice_)), "SUCCESS");
  EXPECT_EQ(ask(nobody()), "NONE");
  EXPECT_EQ(ask(with(alice_)), "SUCCESS");
  EXPECT_EQ(ask(with(carol_)), "refused");
}

// ---- ProxyPolicies of type ClientCertificate ------------------------------------------------------------------------

/// The name of the identity that the backend is told of, and the certificate in Envoy's form.
net::server::Reply answer_as_identified(const net::server::Request& request) {
  net::server::Reply reply;
  for (const auto& [name, value] : request.fields) {
    if (same_field(name, "x-client") || same_field(name, "x-forwarded-client-cert")) reply.body += value + "|";
  }
  if (reply.body.empty()) reply.body = "-";
  reply.fields = {{"cache-control", "max-age=600"}};
  return reply;
}

class CertificateIdentities : public ClientCertificates {
 protected:
  CertificateIdentities() : ClientCertificates(answer_as_identified) {}

  /// A ProxyGateway with a cache, whose clients may show a certificate; `/open` has no policy, `/` has this one.
  void protect(const std::string& policy, const std::string& validation = "optional: true") {
    install(
        "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: edge, namespace: default}\n"
        "spec:\n  cache: {enabled: true}\n  listeners:\n"
        "    - {name: https, port: 8080, protocol: HTTPS, tls: {secretRef: {name: site}, clientValidation: "
        "{caCertificateRefs: [{name: clients}], " +
        validation +
        "}}}\n"
        "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: a, namespace: default}\nspec:\n"
        "  parentRefs: [{name: edge}]\n  rules:\n"
        "    - {name: open, matches: [{path: {value: /open}}], backendRef: {name: a}}\n"
        "    - {name: closed, backendRef: {name: a}}\n"
        "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: who, namespace: default}\nspec:\n"
        "  type: ClientCertificate\n  targetRef: {kind: ProxyRoute, name: a, sectionName: closed}\n"
        "  clientCertificate: " +
        policy + "\n");
  }
  Side as(const IssueOptions& options) { return with(clients_.issue(options)); }
};

TEST_P(CertificateIdentities, EveryKindOfNameLetsPassAndKeepsOut) {
  protect(
      "{allow: {dnsNames: [a.example, '*.b.example'], uris: ['spiffe://td/ns/a'], uriPrefixes: ['spiffe://td/ns/b/'], "
      "emails: [a@Example.org], ipAddresses: [10.1.0.0/16], commonNames: [legacy]}, "
      "deny: {dnsNames: [x.b.example]}, identityHeader: X-Client}");
  EXPECT_EQ(ask(as({.names = {"A.example"}})), "a.example|");
  EXPECT_EQ(ask(as({.names = {"y.b.example"}})), "y.b.example|");
  EXPECT_EQ(ask(as({.names = {"x.b.example"}})), "403");
  EXPECT_EQ(ask(as({.names = {"c.example"}})), "403");
  EXPECT_EQ(ask(as({.uris = {"spiffe://td/ns/a"}})), "spiffe://td/ns/a|");
  EXPECT_EQ(ask(as({.uris = {"spiffe://td/ns/b/x"}})), "spiffe://td/ns/b/x|");
  EXPECT_EQ(ask(as({.uris = {"spiffe://td/ns/b/../a2"}})), "403") << "a way out of what the beginning names";
  EXPECT_EQ(ask(as({.others = {"email:a@example.ORG"}})), "a@example.org|");
  EXPECT_TRUE(ask(as({.others = {"IP:10.1.2.3"}})).starts_with("sha256:"));
  EXPECT_EQ(ask(as({.others = {"IP:10.2.2.3"}})), "403");
  EXPECT_TRUE(ask(as({.common_name = "legacy"})).starts_with("sha256:"));
  EXPECT_EQ(ask(as({.names = {"c.example"}, .common_name = "legacy"})), "403");
}

TEST_P(CertificateIdentities, EveryCommonNameKeepsOut) {
  protect("{deny: {commonNames: [eve]}}");
  EXPECT_EQ(ask(as({.common_name = "bob"})), "-");
  EXPECT_EQ(ask(as({.common_name = "eve", .second_common_name = "bob"})), "403");
  EXPECT_EQ(ask(as({.common_name = "bob", .second_common_name = "eve"})), "403");
  protect("{allow: {commonNames: [bob]}}");
  EXPECT_EQ(ask(as({.common_name = "bob"})), "-");
  EXPECT_EQ(ask(as({.common_name = "eve", .second_common_name = "bob"})), "403");
}

TEST_P(CertificateIdentities, WithoutACertificateThatVerifiesNobodyPasses) {
  protect("{identityHeader: X-Client}");
  EXPECT_EQ(ask(nobody()), "403");
  EXPECT_EQ(ask(nobody(), "/open"), "-");
  EXPECT_EQ(ask(with(alice_)), "alice|");
  EXPECT_EQ(ask(with(carol_)), "refused") << "of another authority";
  protect("{}", "requireCRL: false");
  EXPECT_EQ(ask(nobody()), "refused");
  EXPECT_EQ(ask(with(alice_)), "-") << "nothing is told that nobody asked for";
}

TEST_P(CertificateIdentities, WhatClientsSayOfThemselvesIsNeverBelieved) {
  protect("{allow: {dnsNames: [alice]}, identityHeader: X-Client, forwardCertificate: true}");
  for (const char* const name : {"X-Client", "x_client", "X-Forwarded-Client-Cert", "x_forwarded_client_cert"}) {
    const std::string forged = std::string(name) + ": Hash=00;URI=spiffe://td/root\r\n";
    const std::string told = ask(with(alice_), "/", forged);
    EXPECT_TRUE(told.find("Hash=") != std::string::npos && told.find("DNS=alice|") != std::string::npos) << told;
    EXPECT_TRUE(told.find("root") == std::string::npos) << told;
    EXPECT_EQ(ask(nobody(), "/", forged), "403");
  }
  const auto forge_all = [&](const std::string& path) {
    for (const char* const name : {"X-Forwarded-Client-Cert", "x_forwarded_client_cert", "X-Forwarded_Client-Cert"}) {
      EXPECT_EQ(ask(with(alice_), path, std::string(name) + ": Hash=00\r\n"), "-") << name;
    }
  };
  forge_all("/open");
  protect("{allow: {dnsNames: [alice]}, forwardCertificate: false}");
  forge_all("/");
}

TEST_P(CertificateIdentities, NoIdentityHeaderStandsForTheCertificate) {
  protect("{identityHeader: X_Forwarded_Client_Cert}");
  EXPECT_EQ(ask(with(alice_)), "-");
  protect("{identityHeader: X_Forwarded_Client_Cert, forwardCertificate: true}");
  EXPECT_TRUE(ask(with(alice_)).starts_with("Hash="));
}

TEST_P(CertificateIdentities, AnAnswerForOneIsNotKeptForOthers) {
  protect("{allow: {dnsNames: [alice, bob]}, identityHeader: X-Client}");
  EXPECT_EQ(ask(with(alice_)), "alice|");
  EXPECT_EQ(ask(with(clients_.issue("bob"))), "bob|");
  EXPECT_EQ(ask(with(clients_.issue("eve"))), "403");
  EXPECT_EQ(ask(nobody()), "403");
}

TEST_P(CertificateIdentities, AResumedSessionIsWhoItWas) {
  protect("{allow: {dnsNames: [alice]}, identityHeader: X-Client}");
  const Side alice = with(alice_);
  const Side eve = with(clients_.issue("eve"));
  const Side none = nobody();
  for (const Side& side : {alice, eve, none}) side->resume();
  const std::uint64_t before = resumed();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ask(alice), "alice|");
    EXPECT_EQ(ask(eve), "403");
    EXPECT_EQ(ask(none), "403");
  }
  EXPECT_EQ(resumed(), before + 3);
}

TEST_P(CertificateIdentities, AnEditHoldsForTheNextRequestOfAnOpenConnection) {
  protect("{allow: {dnsNames: [alice]}}");
  Client open = connect(with(alice_));
  EXPECT_EQ(ask(open), "-");
  protect("{deny: {dnsNames: [alice]}}");
  EXPECT_EQ(ask(open), "403");
  EXPECT_EQ(ask(open, "/open"), "-");
  protect("{}");
  EXPECT_EQ(ask(open), "-");
}

TEST_P(CertificateIdentities, ARouteWhoseListenerAsksForNoneIsClosed) {
  install(
      "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: edge, namespace: default}\nspec:\n"
      "  listeners:\n    - {name: https, port: 8080, protocol: HTTPS, tls: {secretRef: {name: site}}}\n"
      "@route a\n"
      "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: who, namespace: default}\nspec:\n"
      "  type: ClientCertificate\n  targetRef: {kind: ProxyGateway, name: edge}\n  clientCertificate: {}\n");
  EXPECT_EQ(ask(with(alice_)), "403");
  EXPECT_EQ(ask(nobody()), "403");
}

INSTANTIATE_TEST_SUITE_P(Over, CertificateIdentities, testing::Values("", "h2"),
                         [](const auto& info) { return info.param.empty() ? "Http1" : "Http2"; });

INSTANTIATE_TEST_SUITE_P(Over, ClientCertificates, testing::Values("", "h2"),
                         [](const auto& info) { return info.param.empty() ? "Http1" : "Http2"; });

}  // namespace
}  // namespace edge::test
