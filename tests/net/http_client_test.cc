// The client of workers against scripted servers on real sockets, in plain text and over TLS.
#include "net/client/http_client.h"

#include <future>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/upstream.h"

namespace edge::test {
namespace {

using net::client::Answer;
using net::client::CallFault;
using net::client::ClientOptions;
using net::client::HttpClient;
using net::client::Resolver;
using net::client::Url;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Asked {
  std::string method = "GET";
  std::string fields{};
  std::string body{};
  net::Duration patience = seconds(20);
  std::size_t max_body = 1024;
};

net::Detached ask(HttpClient& client, net::Loop& loop, std::shared_ptr<net::Waiter> waiter, Url url, Asked asked,
                  std::shared_ptr<std::promise<Answer>> to) {
  Answer answer = co_await client.call(*waiter, {.url = url,
                                                 .method = asked.method,
                                                 .fields = asked.fields,
                                                 .body = asked.body,
                                                 .until = loop.now() + asked.patience,
                                                 .max_body = asked.max_body});
  to->set_value(std::move(answer));
}

/// A worker's part of the matter: a loop on a thread, and a client on it.
class Caller {
 public:
  explicit Caller(ClientOptions options = {}, std::shared_ptr<const net::tls::Authorities> trusted = nullptr)
      : client_(loop_, resolver_, records_, options) {
    client_.trust(std::move(trusted));
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Caller() {
    on_loop([this] { client_.close_idle(); });
    loop_.stop();
    thread_.join();
  }

  std::future<Answer> start(const std::string& url, Asked asked = {}) {
    auto promise = std::make_shared<std::promise<Answer>>();
    std::future<Answer> answer = promise->get_future();
    const Result<Url> parsed = net::client::parse_url(url);
    EXPECT_TRUE(parsed.ok()) << url;
    loop_.post([this, promise, url = *parsed, asked] {
      ask(client_, loop_, std::make_shared<net::Waiter>(loop_), url, asked, promise);
    });
    return answer;
  }
  Answer call(const std::string& url, Asked asked = {}) { return start(url, std::move(asked)).get(); }
  const net::client::ClientCounts& counts() const { return client_.counts(); }

  void on_loop(const std::function<void()>& work) {
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  net::Loop loop_;
  // Nobody listens there: a name that is no address and not in /etc/hosts is not found.
  Resolver resolver_{{.queries = {.patience = milliseconds(10), .tries = 1, .servers = "127.0.0.1:1"}}};
  net::tls::RecordRoom records_;
  HttpClient client_;
  std::thread thread_;
};

class HttpClientTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { net::ignore_sigpipe(); }
  /// Plays `script`, a command a line.
  std::uint16_t serve(const std::string& script, std::shared_ptr<const TlsSide> tls = nullptr) {
    std::istringstream text("== upstream\n" + script);
    CaseFile file = parse_case("script", text, 1);
    upstreams_.push_back(
        std::make_unique<Upstream>(stage_, std::to_string(upstreams_.size()), Upstream::Kind::kScript, std::move(tls)));
    upstreams_.back()->start(file.sections.at(0).commands);
    return upstreams_.back()->port();
  }
  static std::string at(std::uint16_t port, const std::string& target = "/") {
    return "http://127.0.0.1:" + std::to_string(port) + target;
  }
  void TearDown() override {
    for (const auto& upstream : upstreams_) upstream->join();
    EXPECT_EQ(stage_.failure(), "");
  }

  Stage stage_{seconds(20)};
  std::vector<std::unique_ptr<Upstream>> upstreams_;
};

TEST_F(HttpClientTest, CallsAndKeepsTheConnection) {
  const std::uint16_t port = serve(R"(
accept
head GET /a?b HTTP/1.1
field X-Own: 1
no-field Content-Length
send "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
head GET / HTTP/1.1
send "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"
)");
  Caller caller;
  const Answer answer = caller.call(at(port, "/a?b"), {.fields = "X-Own: 1\r\n"});
  EXPECT_TRUE(answer.ok()) << answer.detail;
  EXPECT_EQ(answer.body, "ok");
  const Answer redirect = caller.call(at(port));
  EXPECT_EQ(redirect.status, 302) << "not followed";
  EXPECT_EQ(redirect.value("location"), "/x");
  EXPECT_EQ(caller.counts().connects.value(), 1u);
  EXPECT_EQ(caller.counts().reused.value(), 1u);
}

// Whatever is written leads to the address, and that is looked at: also a name that leads there only now.
TEST_F(HttpClientTest, GoesNowhereThatIsDenied) {
  const std::uint16_t port = serve(R"(
accept
head GET / HTTP/1.1
send "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
)");
  ClientOptions options;
  options.denied =
      std::make_shared<const std::vector<Cidr>>(std::vector<Cidr>{*parse_cidr("127.0.0.0/8"), *parse_cidr("::1")});
  Caller caller(options);
  for (const char* host : {"127.0.0.1", "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]"}) {
    const Answer answer = caller.call("http://" + std::string(host) + ":" + std::to_string(port) + "/");
    EXPECT_EQ(answer.fault, CallFault::kDenied) << host << " " << answer.detail;
  }
  EXPECT_EQ(caller.counts().connects.value(), 0u);
  // Of a name's addresses those that are left are called.
  options.denied = std::make_shared<const std::vector<Cidr>>(std::vector<Cidr>{*parse_cidr("::1")});
  Caller some(options);
  EXPECT_TRUE(some.call("http://localhost:" + std::to_string(port) + "/").ok());
}

TEST_F(HttpClientTest, ReplacesAConnectionThatDiedButSendsNothingTwiceThatMayNot) {
  const std::uint16_t port = serve(R"(
accept
head GET / HTTP/1.1
send "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
head GET / HTTP/1.1
reset
accept
head GET / HTTP/1.1
send "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
accept
head POST / HTTP/1.1
body "x=1"
send "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
)");
  Caller caller;
  EXPECT_TRUE(caller.call(at(port)).ok());
  EXPECT_TRUE(caller.call(at(port)).ok());
  EXPECT_TRUE(caller.call(at(port), {.method = "POST", .body = "x=1"}).ok()) << "on a connection of its own";
}

TEST_F(HttpClientTest, ASecondDeathIsAFault) {
  const std::uint16_t port = serve(R"(
accept
head GET / HTTP/1.1
send "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
head GET / HTTP/1.1
reset
accept
head GET / HTTP/1.1
reset
)");
  Caller caller;
  EXPECT_TRUE(caller.call(at(port)).ok());
  EXPECT_EQ(caller.call(at(port)).fault, CallFault::kClosed);
}

TEST_F(HttpClientTest, EndsWithItsTime) {
  const std::uint16_t port = serve(R"(
accept
head GET / HTTP/1.1
send "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"
closed
)");
  Caller caller;
  EXPECT_EQ(caller.call(at(port), {.patience = milliseconds(50)}).fault, CallFault::kTimeout);
}

TEST_F(HttpClientTest, SaysWhatIsWrong) {
  Caller caller;
  Upstream dead(stage_, "dead", Upstream::Kind::kDead);
  EXPECT_EQ(caller.call(at(dead.port())).fault, CallFault::kConnect);
  EXPECT_EQ(caller.call("http://no-such-name.invalid/").fault, CallFault::kName);
  EXPECT_EQ(caller.call("https://127.0.0.1:1/").fault, CallFault::kTls) << "nobody is trusted";
  const std::uint16_t port = serve(R"(
accept
head GET / HTTP/1.1
send "HTTP/1.1 200 OK\r\nContent-Length: 1025\r\n\r\n"
closed
)");
  EXPECT_EQ(caller.call(at(port)).fault, CallFault::kTooLarge);
}

TEST_F(HttpClientTest, ConnectionsToOneOriginAreBounded) {
  const std::uint16_t port = serve(R"(
accept
head GET /1 HTTP/1.1
signal first
wait full
send "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
head GET /2 HTTP/1.1
send "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2"
)");
  ClientOptions options;
  options.max_connections = 1;
  options.max_waiting = 1;
  Caller caller(options);
  std::future<Answer> first = caller.start(at(port, "/1"));
  ASSERT_TRUE(stage_.wait("first"));
  std::future<Answer> second = caller.start(at(port, "/2"));
  EXPECT_EQ(caller.call(at(port, "/3")).fault, CallFault::kTooMany);
  stage_.signal("full");
  EXPECT_EQ(first.get().body, "1");
  EXPECT_EQ(second.get().body, "2") << "on the connection that the first one left";
}

TEST_F(HttpClientTest, WhoWaitsForAConnectionGivesUpInTime) {
  const std::uint16_t port = serve(R"(
accept
head GET /1 HTTP/1.1
signal first
wait given-up
send "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
head GET /3 HTTP/1.1
send "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n3"
)");
  ClientOptions options;
  options.max_connections = 1;
  Caller caller(options);
  std::future<Answer> first = caller.start(at(port, "/1"));
  ASSERT_TRUE(stage_.wait("first"));
  EXPECT_EQ(caller.call(at(port, "/2"), {.patience = milliseconds(20)}).fault, CallFault::kTimeout);
  stage_.signal("given-up");
  EXPECT_EQ(first.get().body, "1");
  EXPECT_EQ(caller.call(at(port, "/3")).body, "3");
}

TEST_F(HttpClientTest, BytesThatNobodyAskedForEndAKeptConnection) {
  const std::uint16_t port = serve(R"(
accept
head GET / HTTP/1.1
send "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
closed
accept
head GET / HTTP/1.1
send "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"
)");
  Caller caller;
  EXPECT_TRUE(caller.call(at(port)).ok());
  EXPECT_EQ(caller.call(at(port)).body, "good");
}

class HttpClientOverTls : public HttpClientTest {
 protected:
  static std::shared_ptr<const net::tls::Authorities> trusting(const TestAuthority& authority) {
    auto made = std::make_shared<net::tls::Authorities>();
    EXPECT_TRUE(made->add(authority.pem()).ok());
    return made;
  }
  /// The name has an address of IPv6 too, on which nobody listens.
  static std::string at(std::uint16_t port) { return "https://localhost:" + std::to_string(port) + "/"; }
  TestAuthority authority_;
};

TEST_F(HttpClientOverTls, CallsByNameAndKeepsTheConnection) {
  const std::uint16_t port = serve(R"(
accept
head GET / HTTP/1.1
send "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
head GET / HTTP/1.1
send "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
)",
                                   TlsSide::server(authority_.issue("localhost")));
  Caller caller({}, trusting(authority_));
  const Answer answer = caller.call(at(port));
  EXPECT_EQ(answer.body, "ok") << answer.detail;
  EXPECT_EQ(caller.call(at(port)).body, "ok");
  EXPECT_EQ(caller.counts().connects.value(), 1u);
}

// Not what was wrong with an address before it.
TEST_F(HttpClientOverTls, AHandshakeThatIsLateIsToldAsOne) {
  const std::uint16_t port = serve("accept\nwait told\n");
  Caller caller({}, trusting(authority_));
  const Answer answer = caller.call(at(port), {.patience = milliseconds(100)});
  stage_.signal("told");
  EXPECT_EQ(answer.fault, CallFault::kTimeout);
  EXPECT_EQ(answer.detail, "the handshake was not over in time");
}

TEST_F(HttpClientOverTls, BelievesNoOtherName) {
  const std::uint16_t port = serve("accept\nclosed\n", TlsSide::server(authority_.issue("other.example")));
  Caller caller({}, trusting(authority_));
  EXPECT_EQ(caller.call(at(port)).fault, CallFault::kTls);
}

TEST_F(HttpClientOverTls, BelievesNoOtherAuthority) {
  const std::uint16_t port = serve("accept\nclosed\n", TlsSide::server(authority_.issue("localhost")));
  const TestAuthority other("another");
  Caller caller({}, trusting(other));
  EXPECT_EQ(caller.call(at(port)).fault, CallFault::kTls);
}

}  // namespace
}  // namespace edge::test
