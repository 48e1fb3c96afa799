// The small server over real sockets: messages torn anywhere, limits on both sides of each, HTTP/2 and TLS.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/server/gzip.h"
#include "net/tls/server.h"
#include "tests/net/http_server_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/http2_bridge.h"
#include "tests/support/tls_end.h"

namespace edge::net::server {
namespace {

TEST_F(HttpServerTest, KeepsAConnectionForTheNextRequest) {
  serve();
  const auto connection = connect();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(connection->send("GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n").ok());
    EXPECT_EQ(next_answer(*connection), "200 GET /a?b=c ");
  }
}

TEST_F(HttpServerTest, ServesRequestsInOrderThatWereSentTogether) {
  serve();
  const auto connection = connect();
  ASSERT_TRUE(connection
                  ->send("POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"
                         "POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n"
                         "GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                  .ok());
  EXPECT_EQ(next_answer(*connection), "200 POST /1? ab");
  EXPECT_EQ(next_answer(*connection), "200 POST /2? c");
  EXPECT_EQ(next_answer(*connection), "200 GET /3? ");
  EXPECT_TRUE(connection->expect_closed().ok());
}

TEST_F(HttpServerTest, TakesARequestThatIsTornAnywhere) {
  serve();
  const std::string text =
      "POST /torn HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    const auto connection = connect();
    ASSERT_TRUE(connection->send(text.substr(0, cut)).ok());
    // The rest is likely to be read apart; whether it is does not matter to what is answered.
    ASSERT_TRUE(connection->send(text.substr(cut)).ok());
    EXPECT_EQ(next_answer(*connection), "200 POST /torn? abcde") << cut;
  }
}

TEST_F(HttpServerTest, HoldsBodiesToTheirLimit) {
  serve({.max_body = 10});
  const auto sized = [](int size) {
    return "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(static_cast<std::size_t>(size), 'y');
  };
  EXPECT_EQ(ask(sized(9)), "200 POST /b? yyyyyyyyy");
  EXPECT_EQ(ask(sized(10)), "200 POST /b? yyyyyyyyyy");
  EXPECT_EQ(ask(sized(11)).substr(0, 3), "413");
  const std::string chunks = "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nzzzzz\r\n";
  EXPECT_EQ(ask(chunks + "5\r\nzzzzz\r\n0\r\n\r\n"), "200 POST /b? zzzzzzzzzz");
  EXPECT_EQ(ask(chunks + "6\r\nzzzzzz\r\n0\r\n\r\n").substr(0, 3), "413");
  EXPECT_EQ(ask("POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n").substr(0, 3), "400");
}

TEST_F(HttpServerTest, HoldsAllBodiesTogetherToTheirs) {
  serve({.max_body = 10, .max_bodies = 12});
  const auto first = connect();
  // Ten are held while the eleventh is awaited; it comes in chunks, so that nothing is known ahead.
  ASSERT_TRUE(
      first->send("POST /1 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n").ok());
  EXPECT_EQ(first->receive_head()->start_line, "HTTP/1.1 100 Continue");
  ASSERT_TRUE(first->send("9\r\naaaaaaaaa\r\n").ok());
  std::string second;
  // Until the server has taken those, the second has room.
  for (int i = 0; i < 1000 && second != "503"; ++i) {
    second = ask("POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbbbb").substr(0, 3);
  }
  EXPECT_EQ(second, "503");
  ASSERT_TRUE(first->send("0\r\n\r\n").ok());
  EXPECT_EQ(next_answer(*first), "200 POST /1? aaaaaaaaa");
  EXPECT_EQ(ask("POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbbbb"), "200 POST /2? bbbb");
}

TEST_F(HttpServerTest, HoldsHeadsToTheirLimit) {
  serve({.max_head = 1024});
  const std::string base = "GET / HTTP/1.1\r\nHost: x\r\nX-Fill: ";
  const auto sized = [&](std::size_t size) { return base + std::string(size - base.size() - 4, 'f') + "\r\n\r\n"; };
  EXPECT_EQ(ask(sized(1023)), "200 GET /? ");
  EXPECT_EQ(ask(sized(1024)), "200 GET /? ");
  EXPECT_EQ(ask(sized(1025)).substr(0, 3), "431");
  EXPECT_EQ(ask("GET /" + std::string(600, 'l') + " HTTP/1.1\r\nHost: x\r\n\r\n").substr(0, 3), "414");
  EXPECT_EQ(ask("nonsense\r\n\r\n").substr(0, 3), "400");
}

TEST_F(HttpServerTest, AnswersASlowHeadWith408) {
  serve({.head_time = milliseconds(50)});
  const auto connection = connect();
  ASSERT_TRUE(connection->send("GET / HTT").ok());
  EXPECT_EQ(next_answer(*connection).substr(0, 3), "408");
  EXPECT_TRUE(connection->expect_closed().ok());
}

TEST_F(HttpServerTest, AnswersASlowBodyWith408) {
  serve({.stall_time = milliseconds(50)});
  const auto connection = connect();
  ASSERT_TRUE(connection->send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab").ok());
  EXPECT_EQ(next_answer(*connection).substr(0, 3), "408");
}

TEST_F(HttpServerTest, ClosesAnIdleConnection) {
  serve({.idle_time = milliseconds(50)});
  const auto connection = connect();
  ASSERT_TRUE(connection->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  EXPECT_EQ(next_answer(*connection), "200 GET /? ");
  EXPECT_TRUE(connection->expect_closed().ok());
}

TEST_F(HttpServerTest, ClosesConnectionsOverTheLimit) {
  serve({.max_connections = 1});
  const auto first = connect();
  ASSERT_TRUE(first->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  EXPECT_EQ(next_answer(*first), "200 GET /? ");
  const auto second = connect();
  EXPECT_TRUE(second->expect_closed().ok());
}

TEST_F(HttpServerTest, OneAddressLeavesRoomForOthers) {
  // Not 127.0.0.1 alone: the node has the whole of 127.0.0.0/8.
  serve({.max_connections = 3, .max_connections_per_source = 2});
  const auto ask_from = [&](const char* address) {
    auto connection = connect_from(address);
    EXPECT_TRUE(connection->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").ok());
    return connection;
  };
  auto first = ask_from("127.0.0.1");
  EXPECT_EQ(next_answer(*first), "200 GET /? ");
  auto second = ask_from("127.0.0.1");
  EXPECT_EQ(next_answer(*second), "200 GET /? ");
  EXPECT_TRUE(connect_from("127.0.0.1")->expect_closed().ok());
  const auto other = ask_from("127.0.0.2");
  EXPECT_EQ(next_answer(*other), "200 GET /? ");
  EXPECT_TRUE(connect_from("127.0.0.3")->expect_closed().ok()) << "all together are bounded too";
  // What has ended counts no more.
  ASSERT_TRUE(second->send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ok());
  EXPECT_EQ(next_answer(*second), "200 GET /? ");
  EXPECT_TRUE(second->expect_closed().ok());
  second.reset();
  const Deadline until = soon();
  bool answered = false;
  while (!answered && !until.over()) {
    const auto third = connect_from("127.0.0.1");
    answered = third->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").ok() && next_answer(*third) == "200 GET /? ";
  }
  EXPECT_TRUE(answered);
}

TEST_F(HttpServerTest, LetsGoOfWhatWasPreparedWhereThePortIsTaken) {
  serve();
  ServerOptions options;
  options.address = parse_ip("127.0.0.1");
  options.port = port();
  bool let_go = false;
  const auto second = ServerThread::start(
      std::move(options),
      [](Loop&) -> Result<Handler> { return Handler([](const Request&) { return Task<Reply>(Reply{}); }); },
      [&let_go] { let_go = true; });
  EXPECT_FALSE(second.ok());
  EXPECT_TRUE(let_go);
}

TEST_F(HttpServerTest, RefusesBeforeTheBodyIsSent) {
  serve({.admit = [](const Request& head) -> std::optional<Reply> {
    if (head.field("AUTHORIZATION") == "yes") return std::nullopt;
    return Reply{.status = 401, .body = "who?"};
  }});
  const auto connection = connect();
  ASSERT_TRUE(connection->send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n").ok());
  EXPECT_EQ(next_answer(*connection), "401 who?");
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: yes\r\n\r\n"), "200 GET /? ");
}

TEST_F(HttpServerTest, WordsItsFaultsAsItIsTold) {
  serve({.fault = [](int status, std::string_view) { return Reply{.status = status, .body = "{}"}; }});
  EXPECT_EQ(ask("GET / HTTP/1.1\r\n\r\n"), "400 {}");
}

TEST_F(HttpServerTest, NoHandlerCanEndALine) {
  serve();
  const auto connection = connect();
  ASSERT_TRUE(connection->send("GET /split HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  const Result<Message> head = connection->receive_head();
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->values("x-name"), std::vector<std::string>{"a  X-Evil: b"});
  EXPECT_TRUE(head->values("x-evil").empty());
  EXPECT_EQ(head->values("content-length"), std::vector<std::string>{"0"});
}

TEST_F(HttpServerTest, HeadAndEmptyAnswersHaveNoBody) {
  serve();
  const auto connection = connect();
  ASSERT_TRUE(connection
                  ->send("HEAD /large HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"
                         "GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
                  .ok());
  Result<Message> head = connection->receive_head();
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->values("content-length"), std::vector<std::string>{"3000000"});
  head = connection->receive_head();
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->start_line, "HTTP/1.1 204 No Content");
  EXPECT_EQ(next_answer(*connection), "200 GET /x? ");
}

TEST_F(HttpServerTest, CompressesForWhoAsks) {
  serve({.gzip_from = 1000});
  const auto connection = connect();
  ASSERT_TRUE(connection->send("GET /plain HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br, gzip\r\n\r\n").ok());
  const Result<Message> head = connection->receive_head();
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->values("content-encoding"), std::vector<std::string>{"gzip"});
  const Result<std::string> body = connection->receive_body(*head);
  ASSERT_TRUE(body.ok());
  EXPECT_TRUE(*test::decode_content("gzip", *body, true) == std::string(100'000, 'p'));
  EXPECT_EQ(ask("GET /small HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n"), "200 GET /small? ");
}

TEST_F(HttpServerTest, CompressesWhatComesInPieces) {
  serve({.gzip_from = 1000});
  const auto connection = connect();
  ASSERT_TRUE(connection->send("GET /list HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n").ok());
  Result<Message> head = connection->receive_head();
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->values("content-encoding"), std::vector<std::string>{"gzip"});
  EXPECT_EQ(head->values("vary"), std::vector<std::string>{"Accept-Encoding"});
  EXPECT_TRUE(head->values("content-length").empty());
  Result<std::string> body = connection->receive_body(*head);
  ASSERT_TRUE(body.ok());
  EXPECT_LT(body->size(), 300'000U);
  EXPECT_TRUE(*test::decode_content("gzip", *body, true) == list_text());
  // For others its size is told, and the connection goes on.
  ASSERT_TRUE(connection->send("GET /list HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  head = connection->receive_head();
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->values("content-length"), std::vector<std::string>{"3000000"});
  body = connection->receive_body(*head);
  ASSERT_TRUE(body.ok());
  EXPECT_TRUE(*body == list_text());
  // Who watches is not kept waiting by a coder that gathers.
  ASSERT_TRUE(connection->send("GET /endless HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n").ok());
  head = connection->receive_head();
  ASSERT_TRUE(head.ok());
  EXPECT_TRUE(head->values("content-encoding").empty());
}

TEST(TakesGzip, ReadsWeights) {
  EXPECT_TRUE(takes_gzip("gzip"));
  EXPECT_TRUE(takes_gzip("br;q=1, GZIP;q=0.1"));
  EXPECT_TRUE(takes_gzip("*"));
  EXPECT_FALSE(takes_gzip(""));
  EXPECT_FALSE(takes_gzip("identity"));
  EXPECT_FALSE(takes_gzip("gzip;q=0.000"));
  EXPECT_FALSE(takes_gzip("*, gzip; q=0"));
}

// ---- HTTP/2 and TLS -----------------------------------------------------------------------------------------------

class SecureHttpServerTest : public HttpServerTest {
 protected:
  void serve_tls(ServerOptions options = {}) {
    const test::IssuedCertificate issued = authority_.issue("localhost");
    auto certificate = tls::Certificate::read(issued.chain, issued.key);
    ASSERT_TRUE(certificate.ok());
    auto context = tls::ServerContext::make({.offers_http2 = true});
    ASSERT_TRUE(context.ok());
    auto site = std::make_shared<const tls::Site>(
        *context, std::vector<tls::ServerCertificate>{{*certificate, nullptr}}, std::array<std::uint8_t, 16>{1});
    auto sites = std::make_shared<tls::Sites>(std::make_shared<tls::TicketKeys>());
    sites->add("", site);
    options.tls = sites;
    serve(std::move(options));
  }
  /// Speaks HTTP/1.1 to this end; the server hears HTTP/2.
  std::unique_ptr<Connection> connect_http2(const test::TlsSide* tls) {
    int script = -1;
    auto bridge = test::Http2Bridge::open(port(), script, tls);
    EXPECT_TRUE(bridge.ok());
    bridges_.push_back(std::move(*bridge));
    return std::make_unique<Connection>(script, soon());
  }

  test::TestAuthority authority_;
  std::vector<std::unique_ptr<test::Http2Bridge>> bridges_;
};

TEST_F(SecureHttpServerTest, ServesBothProtocolsUnderTls) {
  serve_tls();
  const auto one = test::TlsSide::client(authority_.pem(), "localhost", "http/1.1");
  const auto first = connect();
  ASSERT_TRUE(first->encrypt(one->over(first->fd())).ok());
  const auto two = test::TlsSide::client(authority_.pem(), "localhost", "h2");
  const auto second = connect_http2(two.get());
  for (Connection* connection : {first.get(), second.get()}) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(connection->send("POST /p?q HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc").ok());
      EXPECT_EQ(next_answer(*connection), "200 POST /p?q abc");
    }
    ASSERT_TRUE(connection->send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").ok());
    EXPECT_TRUE(next_answer(*connection) == "200 " + test::pattern(3'000'000));
  }
}

TEST_F(SecureHttpServerTest, AClearTextClientIsNotAnswered) {
  serve_tls();
  const auto connection = connect();
  ASSERT_TRUE(connection->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  EXPECT_EQ(next_answer(*connection).substr(0, 9), "no answer");
  EXPECT_EQ(asked_, 0);
}

TEST_F(SecureHttpServerTest, StreamsOverHttp2AndNoticesItsEnd) {
  serve({});
  auto connection = connect_http2(nullptr);
  ASSERT_TRUE(connection->send("GET /lines HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  ASSERT_TRUE(connection->receive_head().ok());
  ASSERT_TRUE(lines_.alive.reaches(1));
  say("one\n");
  EXPECT_EQ(*connection->receive_chunk(), "one\n");
  connection.reset();
  bridges_.clear();
  EXPECT_TRUE(lines_.alive.reaches(0));
}

}  // namespace
}  // namespace edge::net::server
