// Fields of HTTP/2 as text of HTTP/1.1: what passes, and that nothing splits or smuggles.
#include "net/http2/request_text.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "net/http1/parse.h"

namespace edge::net::http2 {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;
using Fault = RequestText::Fault;

constexpr std::size_t kMaxBytes = 1024;

struct Composed {
  Fault fault = Fault::kNone;
  std::string text;
  BodyForm body = BodyForm::kNone;
};

Composed compose(const Fields& fields, bool end_of_stream = true, bool takes_connect = false) {
  RequestText composer(kMaxBytes, 7);
  if (takes_connect) composer.take_connect();
  Buffer out;
  composer.begin(out);
  Composed result;
  for (const auto& [name, value] : fields) {
    result.fault = composer.add(name, value);
    if (result.fault != Fault::kNone) return result;
  }
  result.fault = composer.finish(end_of_stream);
  result.text = std::string(out.view());
  result.body = composer.body();
  return result;
}

Fields with(Fields more) {
  Fields fields = {{":method", "GET"}, {":scheme", "https"}, {":authority", "example.com"}, {":path", "/a?b=c"}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

Fields replaced(const std::string& name, const std::string& value) {
  Fields fields = with({});
  for (auto& [field, content] : fields) {
    if (field == name) content = value;
  }
  return fields;
}

TEST(RequestText, IsAHeadOfHttp11) {
  EXPECT_EQ(compose(with({{"accept", "*/*"}, {"x-a", ""}})).text,
            "GET /a?b=c HTTP/1.1\r\nhost: example.com\r\naccept: */*\r\nx-a: \r\n\r\n");
}

TEST(RequestText, SaysHowTheBodyEnds) {
  EXPECT_EQ(compose(with({}), false).body, BodyForm::kChunked);
  EXPECT_TRUE(compose(with({}), false).text.ends_with("\r\ntransfer-encoding: chunked\r\n\r\n"));
  const Composed sized = compose(with({{"content-length", "5"}}), false);
  EXPECT_EQ(sized.body, BodyForm::kLength);
  EXPECT_TRUE(sized.text.ends_with("\r\ncontent-length: 5\r\n\r\n"));
  EXPECT_EQ(compose(with({})).body, BodyForm::kNone);
  EXPECT_TRUE(compose(replaced(":method", "POST")).text.ends_with("\r\ncontent-length: 0\r\n\r\n"));
}

// A length leaves no place for trailers in HTTP/1.1; what announces some goes in chunks.
TEST(RequestText, LeavesRoomForTrailersThatAreAnnounced) {
  for (const auto& [name, value] : Fields{{"trailer", "x-sum"}, {"content-type", "application/grpc+proto"}}) {
    const Composed composed = compose(with({{"content-length", "5"}, {name, value}}), false);
    EXPECT_EQ(composed.body, BodyForm::kChunked) << name;
    EXPECT_TRUE(composed.text.ends_with("\r\ntransfer-encoding: chunked\r\n\r\n")) << composed.text;
    EXPECT_EQ(composed.text.find("content-length"), std::string::npos) << composed.text;
  }
  EXPECT_EQ(compose(with({{"content-length", "5"}, {"content-type", "text/plain"}}), false).body, BodyForm::kLength);
  EXPECT_EQ(compose(with({{"content-length", "0"}, {"trailer", "x-sum"}})).body, BodyForm::kLength);
  // What is no number is still to be seen by the parser.
  EXPECT_NE(compose(with({{"content-length", "5x"}, {"trailer", "x-sum"}}), false).text.find("5x"), std::string::npos);
}

TEST(RequestText, JoinsTheCrumbsOfACookie) {
  EXPECT_TRUE(compose(with({{"cookie", "a=1"}, {"x", "y"}, {"cookie", "b=2"}}))
                  .text.ends_with("x: y\r\ncookie: a=1; b=2\r\n\r\n"));
}

TEST(RequestText, KnowsOneHost) {
  EXPECT_EQ(compose(with({{"host", "EXAMPLE.com"}})).text, "GET /a?b=c HTTP/1.1\r\nhost: example.com\r\n\r\n");
  EXPECT_EQ(compose(with({{"host", "other.example"}})).fault, Fault::kMalformed);
  const Fields bare = {{":method", "GET"}, {":scheme", "https"}, {":path", "/"}};
  Fields named = bare;
  named.emplace_back("host", "a.example");
  EXPECT_EQ(compose(named).text, "GET / HTTP/1.1\r\nhost: a.example\r\n\r\n");
  named.emplace_back("host", "a.example");
  EXPECT_EQ(compose(named).fault, Fault::kMalformed);
  EXPECT_EQ(compose(bare).text, "GET / HTTP/1.1\r\n\r\n") << "the parser answers 400: missing-host";
}

TEST(RequestText, RefusesWhatCouldSplitOrSmuggle) {
  const std::string nul("a\0b", 3);
  for (const Fields& fields : std::vector<Fields>{
           with({{"x-a", "b\r\nx-c: d"}}),
           with({{"x-a", "b\nc"}}),
           with({{"x-a", nul}}),
           with({{"x-a: b\r\nx-c", "d"}}),
           with({{"x a", "b"}}),
           with({{"x-a:", "b"}}),
           with({{"", "b"}}),
           with({{"X-Upper", "b"}}),
           with({{"connection", "close"}}),
           with({{"transfer-encoding", "chunked"}}),
           with({{"upgrade", "websocket"}}),
           with({{"keep-alive", "1"}}),
           with({{"proxy-connection", "close"}}),
           with({{"http2-settings", "AAA"}}),
           with({{"te", "gzip"}}),
           with({{":late", "b"}}),
           with({{"a", "b"}, {":path", "/"}}),
           with({{":path", "/twice"}}),
           with({{":status", "200"}}),
           with({{":protocol", "websocket"}}),
           replaced(":path", "/a HTTP/1.1\r\nx: y"),
           replaced(":path", "/a b"),
           replaced(":path", "http://other.example/"),
           replaced(":path", "*"),
           replaced(":path", ""),
           replaced(":path", "/\xc3\xa9"),
           replaced(":method", "GE T"),
           replaced(":method", ""),
           replaced(":method", "GET / HTTP/1.1\r\nx: y\r\n\r\nGET"),
           replaced(":authority", "a.example/b"),
           replaced(":authority", "user@a.example"),
           replaced(":authority", "a.example b"),
           replaced(":scheme", "ftp"),
           replaced(":scheme", ""),
       }) {
    EXPECT_EQ(compose(fields).fault, Fault::kMalformed) << compose(fields).text;
  }
  EXPECT_EQ(compose(with({{"te", "trailers"}})).fault, Fault::kNone);
}

TEST(RequestText, DoubledLengthsAreTheParsersToRefuse) {
  const Composed both = compose(with({{"content-length", "5"}, {"content-length", "6"}}), false);
  http1::ParseHint hint;
  const auto head = std::make_unique<http1::RequestHead>();
  EXPECT_EQ(http1::parse_request(both.text, {}, hint, *head).fault, http1::HeadFault::kRepeatedContentLength);
}

TEST(RequestText, MakesAnUpgradeOfAnExtendedConnect) {
  const Fields fields = {{":method", "CONNECT"},         {":protocol", "websocket"}, {":scheme", "https"},
                         {":authority", "a.example"},    {":path", "/chat"},         {"sec-websocket-version", "13"},
                         {"sec-websocket-key", "theirs"}};
  const Composed upgrade = compose(fields, false);
  EXPECT_EQ(upgrade.body, BodyForm::kRaw);
  EXPECT_TRUE(upgrade.text.starts_with("GET /chat HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n"));
  EXPECT_EQ(upgrade.text.find("theirs"), std::string::npos);
  const std::size_t key = upgrade.text.find("sec-websocket-key: ");
  ASSERT_NE(key, std::string::npos);
  EXPECT_EQ(upgrade.text.substr(key + 19 + 22, 4), "==\r\n");
  Fields sized = fields;
  sized.emplace_back("content-length", "3");
  EXPECT_EQ(compose(sized, false).fault, Fault::kMalformed);
}

TEST(RequestText, LeavesConnectToTheParser) {
  EXPECT_EQ(compose({{":method", "CONNECT"}, {":authority", "a.example:443"}}).text,
            "CONNECT a.example:443 HTTP/1.1\r\nhost: a.example:443\r\n\r\n");
  EXPECT_EQ(compose({{":method", "CONNECT"}}).fault, Fault::kMalformed);
  EXPECT_EQ(compose({{":method", "CONNECT"}, {":authority", "a.example:443"}, {":path", "/"}}).fault,
            Fault::kMalformed);
}

// RFC 9113 §8.5, of a peer that may tunnel.
TEST(RequestText, MakesAnUpgradeOfAConnectThatIsTaken) {
  const auto taken = [](const Fields& fields) { return compose(fields, false, true); };
  const Composed tunnel = taken({{":method", "CONNECT"}, {":authority", "a.example:443"}, {"x", "y"}});
  EXPECT_EQ(tunnel.body, BodyForm::kRaw);
  EXPECT_EQ(tunnel.text,
            "GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: connect-tcp\r\nhost: a.example:443\r\nx: y\r\n\r\n");
  EXPECT_EQ(taken({{":method", "CONNECT"}, {":authority", "a.example:443"}, {"content-length", "3"}}).fault,
            Fault::kMalformed);
  EXPECT_EQ(taken({{":method", "CONNECT"}}).fault, Fault::kMalformed);
  EXPECT_EQ(taken({{":method", "CONNECT"}, {":authority", "a.example:443"}, {":scheme", "https"}}).fault,
            Fault::kMalformed);
  EXPECT_EQ(taken(with({})).text, compose(with({}), false).text) << "others are as ever";
}

// At the limit, one byte over it, and far over it.
TEST(RequestText, HeadsOverTheLimitAreTheParsersToRefuse) {
  const std::size_t rest = compose(with({{"x", ""}})).text.size();
  http1::HeadLimits limits;
  limits.max_bytes = kMaxBytes;
  const auto parse = [&](const std::string& text) {
    http1::ParseHint hint;
    const auto head = std::make_unique<http1::RequestHead>();
    return http1::parse_request(text, limits, hint, *head);
  };
  EXPECT_EQ(parse(compose(with({{"x", std::string(kMaxBytes - rest, 'y')}})).text).state, http1::ParseState::kComplete);
  for (const std::size_t over : {std::size_t{1}, std::size_t{2}, kMaxBytes / 2, kMaxBytes}) {
    const auto result = parse(compose(with({{"x", std::string(kMaxBytes - rest + over, 'y')}})).text);
    EXPECT_EQ(result.fault, http1::HeadFault::kHeadTooLarge) << over;
  }
  Fields many = with({});
  for (int i = 0; i < 40; ++i) many.emplace_back("cookie", "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(http1::fault_status(parse(compose(many).text).fault), 431);
}

TEST(RequestText, StopsReadingABomb) {
  RequestText composer(kMaxBytes, 7);
  Buffer out;
  composer.begin(out);
  const std::string value(512, 'y');
  Fault fault = Fault::kNone;
  int fields = 0;
  for (; fault == Fault::kNone && fields < 1000; ++fields) {
    fault = composer.add(fields == 0 ? ":method" : "x", fields == 0 ? "GET" : value);
    if (fields == 0) {
      composer.add(":scheme", "https");
      composer.add(":authority", "a");
      composer.add(":path", "/");
    }
  }
  EXPECT_EQ(fault, Fault::kBomb);
  EXPECT_LT(fields, 12);
  EXPECT_LE(out.size(), 2 * kMaxBytes);
}

}  // namespace
}  // namespace edge::net::http2
