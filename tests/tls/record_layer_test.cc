// net/tls: both sides over a socket pair, step by step. Here since it makes its certificates with tests/support.
#include "net/tls/record_layer.h"

#include <sys/socket.h>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "net/byte_stream.h"
#include "tests/support/certificates.h"

namespace edge::net::tls {
namespace {

using std::chrono::hours;
using test::IssuedCertificate;
using test::TestAuthority;
using Step = RecordLayer::Handshake;

std::shared_ptr<const Certificate> certificate(const IssuedCertificate& issued) {
  auto read = Certificate::read(issued.chain, issued.key);
  EXPECT_TRUE(read.ok()) << read.error().text;
  return *read;
}

std::shared_ptr<const Authorities> trust(const TestAuthority& authority) {
  auto all = std::make_shared<Authorities>();
  EXPECT_TRUE(all->add(authority.pem()).ok());
  return all;
}

std::array<std::uint8_t, 16> identity(std::uint8_t number) { return {number}; }

class Tls : public testing::Test {
 protected:
  /// A site of its own context.
  std::shared_ptr<const Site> site(const std::vector<ServerCertificate>& certificates, ServerSettings settings = {},
                                   std::uint8_t number = 1) {
    settings.offers_http2 = true;
    return std::make_shared<const Site>(*ServerContext::make(std::move(settings)), certificates, identity(number));
  }
  void serve(const std::string& pattern, std::shared_ptr<const Site> made) { sites_->add(pattern, std::move(made)); }
  void serve(const std::vector<std::string>& names) {
    serve("", site({{certificate(authority_.issue({.names = names})), nullptr}}));
  }
  ClientSettings client(const std::string& name) {
    return {.server_name = name,
            .names = {},
            .authorities = trust(authority_),
            .certificate = nullptr,
            .protocols = {"http/1.1"}};
  }
  void connect(ClientSettings settings) { connect(*ClientContext::make(std::move(settings))); }
  void connect(const std::shared_ptr<const ClientContext>& context) {
    for (Channel* channel : {&near_, &far_}) channel->close();
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    auto near = RecordLayer::connect(context, resumption_, room_);
    auto far = RecordLayer::accept(sites_, room_);
    client_ = near.get();
    server_ = far.get();
    near_.open(loop_, Transport{Fd(pair[0]), std::move(near)}, kRead | kWrite);
    far_.open(loop_, Transport{Fd(pair[1]), std::move(far)}, kRead | kWrite);
  }
  /// Both ends in turn, until both are done or one has failed.
  bool shake() {
    Step near = Step::kRead;
    Step far = Step::kRead;
    const auto open = [](Step step) { return step == Step::kRead || step == Step::kWrite; };
    for (int i = 0; i < 100 && (open(near) || open(far)); ++i) {
      if (open(near)) near = client_->handshake(near_);
      if (open(far)) far = server_->handshake(far_);
      if (near == Step::kDone && far == Step::kDone) return true;
      loop_.poll();
    }
    return false;
  }
  std::string read_all(Channel& channel) {
    std::string all;
    char bytes[5000];
    loop_.poll();
    for (;;) {
      const Transfer got = channel.receive(bytes);
      last_ = got.kind;
      if (got.kind != Transfer::Kind::kDone) return all;
      all.append(bytes, got.bytes);
    }
  }
  bool write(Channel& channel, std::string_view text) {
    const iovec whole = piece(text);
    const Transfer sent = channel.send({&whole, 1});
    return sent.kind == Transfer::Kind::kDone && sent.bytes == text.size();
  }

  TestAuthority authority_;
  Loop loop_;
  RecordRoom room_;
  ManualClock clock_;
  std::shared_ptr<TicketKeys> tickets_ = std::make_shared<TicketKeys>(&clock_);
  std::shared_ptr<Sites> sites_ = std::make_shared<Sites>(tickets_);
  std::shared_ptr<Resumption> resumption_ = std::make_shared<Resumption>();
  Channel near_;
  Channel far_;
  RecordLayer* client_ = nullptr;
  RecordLayer* server_ = nullptr;
  Transfer::Kind last_ = Transfer::Kind::kWouldBlock;
};

TEST_F(Tls, AgreesAndCarriesBytesBothWays) {
  serve({"a.test"});
  connect(client("a.test"));
  ASSERT_TRUE(shake()) << client_->fault() << " / " << server_->fault();
  EXPECT_EQ(server_->server_name(), "a.test");
  EXPECT_EQ(server_->protocol(), "http/1.1");
  EXPECT_EQ(client_->protocol(), "http/1.1");
  ASSERT_TRUE(write(near_, "question"));
  EXPECT_EQ(read_all(far_), "question");
  ASSERT_TRUE(write(far_, "answer"));
  EXPECT_EQ(read_all(near_), "answer");
  EXPECT_FALSE(near_.readable());
}

TEST_F(Tls, ShowsTheCertificateOfTheName) {
  serve("", site({{certificate(authority_.issue("first.test")), nullptr},
                  {certificate(authority_.issue("second.test")), nullptr},
                  {certificate(authority_.issue("*.wild.test")), nullptr}}));
  for (const std::string name : {"first.test", "second.test", "x.wild.test"}) {
    connect(client(name));
    EXPECT_TRUE(shake()) << name << ": " << client_->fault();
  }
  // One label more than the wildcard is for, and a stranger: the first, which the client refuses.
  for (const std::string name : {"a.b.wild.test", "third.test"}) {
    connect(client(name));
    EXPECT_FALSE(shake()) << name;
    EXPECT_EQ(client_->fault(), "the server's certificate is for another name");
  }
}

TEST_F(Tls, ShowsNoOtherHostsCertificateWhereOneCannotBeUsed) {
  ServerSettings settings;
  settings.offers_http2 = true;
  const std::vector<ServerCertificate> one = {{certificate(authority_.issue("first.test")), nullptr}};
  serve("", std::make_shared<const Site>(*ServerContext::make(std::move(settings)), one, identity(1),
                                         CertificateSet::kIncomplete));
  connect(client("first.test"));
  EXPECT_TRUE(shake()) << client_->fault();
  connect(client("second.test"));
  EXPECT_FALSE(shake());
  EXPECT_NE(client_->fault().find("handshake failure"), std::string::npos) << client_->fault();
}

TEST_F(Tls, ShowsTheKeyThatTheClientTakes) {
  const ServerCertificate rsa{certificate(authority_.issue({.names = {"a.test"}, .rsa = true})), nullptr};
  const ServerCertificate ec{certificate(authority_.issue("a.test")), nullptr};
  const auto made = site({rsa, ec});
  EXPECT_EQ(made->find("a.test").size(), 2u);
  EXPECT_EQ(made->find("b.test").size(), 1u);
  serve("", made);
  connect(client("a.test"));
  EXPECT_TRUE(shake()) << client_->fault();
}

TEST_F(Tls, FindsTheSiteOfAName) {
  const auto one = site({{certificate(authority_.issue("a.test")), nullptr}});
  const auto two = site({{certificate(authority_.issue("b.test")), nullptr}});
  const auto three = site({{certificate(authority_.issue("c.test")), nullptr}});
  serve("a.b.test", one);
  serve("*.b.test", two);
  serve("*.c.b.test", three);
  EXPECT_EQ(sites_->find("a.b.test"), one.get());
  EXPECT_EQ(sites_->find("x.b.test"), two.get());
  EXPECT_EQ(sites_->find("x.y.b.test"), two.get());
  EXPECT_EQ(sites_->find("x.c.b.test"), three.get());
  EXPECT_EQ(sites_->find("b.test"), nullptr);
  EXPECT_EQ(sites_->find(""), nullptr);
}

TEST_F(Tls, RefusesANameThatNobodyServes) {
  serve("a.test", site({{certificate(authority_.issue("a.test")), nullptr}}));
  connect(client("b.test"));
  EXPECT_FALSE(shake());
  EXPECT_NE(client_->fault().find("unrecognized name"), std::string::npos) << client_->fault();
}

TEST_F(Tls, RefusesWithoutACertificate) {
  serve("", site({}));
  connect(client("a.test"));
  EXPECT_FALSE(shake());
}

TEST_F(Tls, HoldsBackWhatTheSocketDoesNotTake) {
  serve({"a.test"});
  connect(client("a.test"));
  ASSERT_TRUE(shake());
  std::string sent(3 << 20, '\0');
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 31 >> 3);
  Outlet outlet;
  iovec pieces[] = {piece(std::string_view(sent).substr(0, 10)), piece(std::string_view(sent).substr(10, 70000)),
                    piece(std::string_view(sent).substr(70010))};
  ASSERT_TRUE(outlet.send(far_, pieces));
  EXPECT_TRUE(outlet.blocked());
  std::string got;
  for (int i = 0; i < 1000 && got.size() < sent.size(); ++i) {
    got += read_all(near_);
    ASSERT_TRUE(outlet.flush(far_));
  }
  EXPECT_TRUE(got == sent);
  EXPECT_FALSE(outlet.blocked());
}

TEST_F(Tls, TellsAnEndFromATruncation) {
  serve({"a.test"});
  connect(client("a.test"));
  ASSERT_TRUE(shake());
  ASSERT_TRUE(write(far_, "last words"));
  EXPECT_TRUE(far_.finish());
  EXPECT_EQ(read_all(near_), "last words");
  EXPECT_EQ(last_, Transfer::Kind::kEnd);
  // The other direction still works.
  ASSERT_TRUE(write(near_, "good bye"));
  EXPECT_EQ(read_all(far_), "good bye");

  connect(client("a.test"));
  ASSERT_TRUE(shake());
  ASSERT_TRUE(write(far_, "half a"));
  far_.close();
  EXPECT_EQ(read_all(near_), "half a");
  EXPECT_EQ(last_, Transfer::Kind::kFailed);
}

TEST_F(Tls, ReadsWhatCameBeforeTheConnectionBroke) {
  serve({"a.test"});
  connect(client("a.test"));
  ASSERT_TRUE(shake());
  read_all(near_);
  // The peer answers early and closes, with bytes that it has not read: the next write fails.
  ASSERT_TRUE(write(near_, "a question that is too long"));
  ASSERT_TRUE(write(far_, "no"));
  far_.close();
  EXPECT_FALSE(write(near_, "for whoever reads it"));
  EXPECT_FALSE(write(near_, "and again"));
  EXPECT_EQ(read_all(near_), "no");
  EXPECT_EQ(last_, Transfer::Kind::kFailed);
  EXPECT_FALSE(near_.finish());
}

TEST_F(Tls, RefusesWhatIsNoTls) {
  serve({"a.test"});
  connect(client("a.test"));
  const char plain[] = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
  ASSERT_GT(::send(near_.fd(), plain, sizeof(plain), 0), 0);
  loop_.poll();
  EXPECT_EQ(server_->handshake(far_), Step::kFailed);
}

TEST_F(Tls, AsksClientsForCertificates) {
  const TestAuthority clients("clients");
  const auto with = [&](const TestAuthority& issuer) {
    ClientSettings settings = client("a.test");
    settings.certificate = certificate(issuer.issue({.names = {"someone"}, .common_name = "someone"}));
    return settings;
  };
  const std::vector<ServerCertificate> own = {{certificate(authority_.issue("a.test")), nullptr}};
  // With TLS 1.3 the client is done before the server has looked at its certificate.
  serve("", site(own, {.client_certificate = ClientCertificate::kRequired, .client_authorities = trust(clients)}));
  connect(with(clients));
  EXPECT_TRUE(shake()) << server_->fault();
  EXPECT_EQ(server_->peer_subject(), "CN=someone");
  connect(with(authority_));
  EXPECT_FALSE(shake());
  connect(client("a.test"));
  EXPECT_FALSE(shake());

  sites_ = std::make_shared<Sites>(tickets_);
  serve("", site(own, {.client_certificate = ClientCertificate::kOptional, .client_authorities = trust(clients)}));
  connect(client("a.test"));
  EXPECT_TRUE(shake()) << server_->fault();
  EXPECT_EQ(server_->peer_subject(), "");
  connect(with(authority_));
  EXPECT_FALSE(shake());

  sites_ = std::make_shared<Sites>(tickets_);
  serve("", site(own, {.client_certificate = ClientCertificate::kRequired}));
  connect(with(clients));
  EXPECT_FALSE(shake()) << "without an authority nobody's certificate is believed";
}

TEST_F(Tls, SaysOfACertificateThatNeedNotVerifyWhetherItDoes) {
  const TestAuthority clients("clients");
  const std::vector<ServerCertificate> own = {{certificate(authority_.issue("a.test")), nullptr}};
  const auto ask = [&](const std::shared_ptr<const Authorities>& authorities) {
    sites_ = std::make_shared<Sites>(tickets_);
    serve("", site(own, {.client_certificate = ClientCertificate::kUnverified, .client_authorities = authorities}));
  };
  const auto told = [&](const IssuedCertificate* shown) {
    ClientSettings settings = client("a.test");
    if (shown != nullptr) settings.certificate = certificate(*shown);
    connect(std::move(settings));
    EXPECT_TRUE(shake()) << server_->fault();
    const PeerVerification peer = server_->peer_verification();
    EXPECT_EQ(peer.presented, shown != nullptr);
    EXPECT_EQ(peer.verified(), !server_->peer_subject().empty());
    EXPECT_EQ(peer.verified(), server_->subject_names().has_value());
    return std::string(peer.fault);
  };
  const IssuedCertificate valid = clients.issue({.names = {"alice"}, .common_name = "alice"});
  const IssuedCertificate over = clients.issue({.names = {"old"}, .lifetime = -hours(1)});
  const TestAuthority strangers("strangers");
  const IssuedCertificate strange = strangers.issue("carol");
  ask(trust(clients));
  EXPECT_EQ(told(&valid), "");
  EXPECT_EQ(told(nullptr), "");
  EXPECT_EQ(told(&over), "certificate has expired");
  EXPECT_NE(told(&strange), "");

  // What lists of revoked certificates excuse does not excuse what was wrong before: neither of who has no list, nor of
  // who brings an authority of his own.
  auto listed = std::make_shared<Authorities>();
  ASSERT_TRUE(listed->add(clients.pem()).ok());
  ASSERT_TRUE(listed->add_revoked(clients.crl({over}, hours(1))).ok());
  listed->check_revoked(RevocationLists::kWhereThere);
  ask(listed);
  EXPECT_EQ(told(&valid), "");
  EXPECT_NE(told(&strange), "");
  EXPECT_EQ(told(&over), "certificate revoked");
  auto unlisted = std::make_shared<Authorities>();
  ASSERT_TRUE(unlisted->add(clients.pem()).ok());
  unlisted->check_revoked(RevocationLists::kWhereThere);
  ask(unlisted);
  EXPECT_EQ(told(&valid), "") << "the authority has no list";
  EXPECT_NE(told(&strange), "");
  EXPECT_EQ(told(&over), "certificate has expired");
  ask(nullptr);
  EXPECT_NE(told(&valid), "") << "nobody is believed without an authority";
}

TEST_F(Tls, ASiteChangesWhatTheFirstOneAsked) {
  const TestAuthority clients("clients");
  serve("open.test", site({{certificate(authority_.issue("open.test")), nullptr}}));
  serve("closed.test", site({{certificate(authority_.issue("closed.test")), nullptr}},
                            {.min_version = Version::k13,
                             .client_certificate = ClientCertificate::kRequired,
                             .client_authorities = trust(clients)},
                            2));
  connect(client("open.test"));
  EXPECT_TRUE(shake());
  connect(client("closed.test"));
  EXPECT_FALSE(shake());
}

TEST_F(Tls, ChecksTheServer) {
  serve("", site({{certificate(authority_.issue({.names = {"a.test"}, .uris = {"spiffe://x/y"}})), nullptr}}));
  ClientSettings stranger = client("a.test");
  stranger.authorities = trust(TestAuthority("stranger"));
  connect(std::move(stranger));
  EXPECT_FALSE(shake());
  EXPECT_NE(client_->fault(), "");
  ClientSettings other = client("b.test");
  other.names = {{PeerName::Kind::kHost, "c.test"}, {PeerName::Kind::kUri, "spiffe://x/y"}};
  connect(std::move(other));
  EXPECT_TRUE(shake()) << client_->fault();
  ClientSettings none = client("a.test");
  none.names = {{PeerName::Kind::kUri, "spiffe://x"}};
  connect(std::move(none));
  EXPECT_FALSE(shake());

  sites_ = std::make_shared<Sites>(tickets_);
  serve("", site({{certificate(authority_.issue({.names = {"a.test"}, .lifetime = -hours(1)})), nullptr}}));
  connect(client("a.test"));
  EXPECT_FALSE(shake());
  EXPECT_EQ(client_->fault(), "certificate has expired");
}

TEST_F(Tls, ResumesWhileTheTicketsKeyIsKnown) {
  serve({"a.test"});
  const auto context = *ClientContext::make(client("a.test"));
  const auto visit = [&] {
    connect(context);
    EXPECT_TRUE(shake()) << client_->fault();
    // Tickets of TLS 1.3 come after the handshake.
    EXPECT_EQ(read_all(near_), "");
    return client_->resumed();
  };
  EXPECT_FALSE(visit());
  EXPECT_TRUE(visit());
  EXPECT_TRUE(visit());
  clock_.advance(TicketKeys::kRotation);
  EXPECT_TRUE(visit()) << "sealed with the key before";
  clock_.advance(3 * TicketKeys::kRotation);
  EXPECT_FALSE(visit()) << "the key is forgotten";
}

TEST_F(Tls, ResumesWithinOneSiteAlone) {
  const auto shown = certificate(authority_.issue({.names = {"a.test", "b.test"}}));
  serve("a.test", site({{shown, nullptr}}, {}, 1));
  serve("b.test", site({{shown, nullptr}}, {}, 2));
  ClientSettings settings = client("a.test");
  settings.names = {{PeerName::Kind::kHost, "a.test"}};
  connect(settings);
  ASSERT_TRUE(shake());
  read_all(near_);
  settings.server_name = "b.test";
  const auto other = *ClientContext::make(settings);
  Handle<ssl_session_st> none;
  EXPECT_EQ(resumption_->session_for(other), nullptr);
}

TEST_F(Tls, KeysRotateByTime) {
  const TicketKey first = *tickets_->current();
  clock_.advance(TicketKeys::kRotation - std::chrono::nanoseconds(1));
  EXPECT_EQ(tickets_->current()->name, first.name);
  clock_.advance(std::chrono::nanoseconds(1));
  const TicketKey second = *tickets_->current();
  EXPECT_NE(second.name, first.name);
  EXPECT_FALSE(tickets_->find(first.name)->current);
  clock_.advance(TicketKeys::kRotation);
  EXPECT_TRUE(tickets_->find(first.name)) << "two old ones are known";
  clock_.advance(TicketKeys::kRotation);
  EXPECT_FALSE(tickets_->find(first.name));
  EXPECT_TRUE(tickets_->find(second.name));
  clock_.advance(10 * TicketKeys::kRotation);
  EXPECT_FALSE(tickets_->find(second.name));
}

TEST_F(Tls, SendsAStapleWhileItHolds) {
  const IssuedCertificate issued = authority_.issue("a.test");
  const auto shown = certificate(issued);
  const auto fresh = Staple::read(authority_.staple(issued, hours(1)), *shown);
  ASSERT_TRUE(fresh.ok()) << fresh.error().text;
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  EXPECT_TRUE((*fresh)->valid_at(now.count()));
  EXPECT_FALSE((*fresh)->valid_at(now.count() + 3700));
  EXPECT_FALSE(Staple::read(authority_.staple(authority_.issue("a.test"), hours(1)), *shown).ok());
  EXPECT_FALSE(Staple::read(TestAuthority("stranger").staple(issued, hours(1)), *shown).ok());
  EXPECT_FALSE(Staple::read("no staple", *shown).ok());
}

TEST(TlsCertificate, ReadsWhatASecretHolds) {
  const TestAuthority authority;
  const IssuedCertificate issued = authority.issue({.names = {"A.test", "*.b.test"}, .common_name = "ignored"});
  const auto read = Certificate::read(issued.chain, issued.key);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ((*read)->names(), (std::vector<std::string>{"a.test", "*.b.test"}));
  EXPECT_EQ((*read)->chain().size(), 1u);
  const auto old = Certificate::read(authority.issue({.names = {}, .common_name = "old.test"}).chain, issued.key);
  EXPECT_FALSE(old.ok()) << "another's key";
  for (const std::string& broken : {std::string(), std::string("x"), issued.key, issued.chain.substr(0, 200)}) {
    EXPECT_FALSE(Certificate::read(broken, issued.key).ok());
    const auto key = Certificate::read(issued.chain, broken == issued.key ? "" : broken);
    ASSERT_FALSE(key.ok());
    EXPECT_EQ(key.error().text.find("BEGIN"), std::string::npos);
  }
  EXPECT_FALSE(Certificate::read(std::string(kMaxPemBytes + 1, 'x'), issued.key).ok());
  Authorities all;
  EXPECT_FALSE(all.add("").ok());
  EXPECT_FALSE(all.add(issued.key).ok());
  EXPECT_TRUE(all.add(issued.chain).ok());
  EXPECT_EQ(all.certificates().size(), 2u);
}

TEST(TlsServerName, IsReadStrictly) {
  const auto hello = [](std::string_view name) {
    const auto two = [](std::size_t n) { return std::string{static_cast<char>(n >> 8), static_cast<char>(n)}; };
    return two(name.size() + 3) + std::string(1, '\0') + two(name.size()) + std::string(name);
  };
  EXPECT_EQ(server_name_in(hello("a.test")), "a.test");
  EXPECT_EQ(server_name_in(""), "");
  const std::string whole = hello("a.test");
  for (std::size_t size = 1; size < whole.size(); ++size) EXPECT_FALSE(server_name_in(whole.substr(0, size)));
  EXPECT_FALSE(server_name_in(whole + "x"));
  EXPECT_FALSE(server_name_in(hello("")));
  std::string typed = whole;
  typed[2] = 1;
  EXPECT_FALSE(server_name_in(typed));
}

}  // namespace
}  // namespace edge::net::tls
