// Responses against RFC 9112, and all instruction sets against each other on random bytes.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "net/http1/test_parse.h"

namespace edge::net::http1 {
namespace {

struct Malformed {
  std::string name;
  std::string text;
  HeadFault fault;
  Method method = Method::kGet;
};

class MalformedResponse : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedResponse, HasThisFault) {
  const auto parsed = parse_response_all_ways(GetParam().text, GetParam().method);
  EXPECT_EQ(parsed.result.state, ParseState::kFault);
  EXPECT_EQ(parsed.result.fault, GetParam().fault) << fault_reason(parsed.result.fault);
}

INSTANTIATE_TEST_SUITE_P(
    Response, MalformedResponse,
    testing::Values(
        Malformed{"version_2", "HTTP/2.0 200 OK\r\n\r\n", HeadFault::kBadVersion},
        Malformed{"lower_case", "http/1.1 200 OK\r\n\r\n", HeadFault::kBadStatusLine},
        Malformed{"icy", "ICY 200 OK\r\nA: b\r\n\r\n", HeadFault::kBadStatusLine},
        Malformed{"two_digits", "HTTP/1.1 20 OK\r\n\r\n", HeadFault::kBadStatusLine},
        Malformed{"four_digits", "HTTP/1.1 2000 OK\r\n\r\n", HeadFault::kBadStatusLine},
        Malformed{"status_099", "HTTP/1.1 099 OK\r\n\r\n", HeadFault::kBadStatusLine},
        Malformed{"status_600", "HTTP/1.1 600 OK\r\n\r\n", HeadFault::kBadStatusLine},
        Malformed{"plus", "HTTP/1.1 +20 OK\r\n\r\n", HeadFault::kBadStatusLine},
        Malformed{"two_spaces", "HTTP/1.1  200 OK\r\n\r\n", HeadFault::kBadStatusLine},
        Malformed{"control_in_reason", "HTTP/1.1 200 O\x01K\r\n\r\n", HeadFault::kBadStatusLine},
        Malformed{"lf_alone", "HTTP/1.1 200 OK\nA: b\r\n\r\n", HeadFault::kBadLineEnd},
        Malformed{"empty_line_before", "\r\nHTTP/1.1 200 OK\r\n\r\n", HeadFault::kBadStatusLine},
        Malformed{"folded", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", HeadFault::kFoldedLine},
        Malformed{"space_before_colon", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n", HeadFault::kBadFieldName},
        Malformed{"length_and_coding", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                  HeadFault::kLengthAndCoding},
        Malformed{"length_and_coding_for_head",
                  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                  HeadFault::kLengthAndCoding, Method::kHead},
        Malformed{"two_lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
                  HeadFault::kRepeatedContentLength},
        Malformed{"length_list", "HTTP/1.1 200 OK\r\nContent-Length: 1,1\r\n\r\n", HeadFault::kBadContentLength},
        Malformed{"length_negative", "HTTP/1.1 304 OK\r\nContent-Length: -1\r\n\r\n", HeadFault::kBadContentLength},
        Malformed{"gzip_chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                  HeadFault::kUnknownCoding},
        Malformed{"gzip", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", HeadFault::kBadTransferEncoding},
        Malformed{"coding_in_http10", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                  HeadFault::kCodingInHttp10},
        Malformed{"coding_in_204", "HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n",
                  HeadFault::kUnexpectedFraming},
        Malformed{"coding_in_100", "HTTP/1.1 100 Go\r\nTransfer-Encoding: chunked\r\n\r\n",
                  HeadFault::kUnexpectedFraming}),
    [](const auto& info) { return info.param.name; });

Body body_of(std::string_view text, Method method = Method::kGet) {
  const auto parsed = parse_response_all_ways(text, method);
  EXPECT_EQ(parsed.result.state, ParseState::kComplete) << text << fault_reason(parsed.result.fault);
  return parsed.head->body;
}

TEST(Response, BodiesBySection63) {
  EXPECT_EQ(body_of("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n").length, 7u);
  EXPECT_EQ(body_of("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", Method::kHead).kind, BodyKind::kNone);
  EXPECT_EQ(body_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Method::kHead).kind, BodyKind::kNone);
  EXPECT_EQ(body_of("HTTP/1.1 304 NM\r\nContent-Length: 7\r\n\r\n").kind, BodyKind::kNone);
  EXPECT_EQ(body_of("HTTP/1.1 304 NM\r\nTransfer-Encoding: chunked\r\n\r\n").kind, BodyKind::kNone);
  EXPECT_EQ(body_of("HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n").kind, BodyKind::kNone);
  EXPECT_EQ(body_of("HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n").kind, BodyKind::kNone);
  EXPECT_EQ(body_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").kind, BodyKind::kChunked);
  EXPECT_EQ(body_of("HTTP/1.1 200 OK\r\nA: b\r\n\r\n").kind, BodyKind::kUntilClose);
}

TEST(Response, KeepAlive) {
  EXPECT_TRUE(parse_response_all_ways("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n").head->keep_alive);
  EXPECT_FALSE(parse_response_all_ways("HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\n").head->keep_alive);
  EXPECT_TRUE(parse_response_all_ways("HTTP/1.0 200 OK\r\nContent-Length: 7\r\nConnection: keep-alive\r\n\r\n")
                  .head->keep_alive);
  EXPECT_FALSE(
      parse_response_all_ways("HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\n").head->keep_alive);
  EXPECT_FALSE(parse_response_all_ways("HTTP/1.1 200 OK\r\n\r\n").head->keep_alive);
}

TEST(Response, ReasonMayBeEmptyOrAnything) {
  EXPECT_EQ(parse_response_all_ways("HTTP/1.1 200 \r\nA: b\r\n\r\n").head->reason, "");
  EXPECT_EQ(parse_response_all_ways("HTTP/1.1 200\r\nA: b\r\n\r\n").head->reason, "");
  EXPECT_EQ(parse_response_all_ways("HTTP/1.1 404 Nicht gefunden\t\xe4!\r\n\r\n").head->reason,
            "Nicht gefunden\t\xe4!");
}

TEST(Response, TornAtEveryByteIsIncomplete) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 7\r\n\r\n";
  for (std::size_t size = 0; size < head.size(); ++size) {
    EXPECT_EQ(parse_response_all_ways(head.substr(0, size)).result.state, ParseState::kIncomplete) << size;
  }
}

// Random changes to good heads: the instruction sets must agree (test_parse.cc compares), whatever the bytes are.
TEST(InstructionSets, AgreeOnMutatedHeads) {
  std::mt19937 random(20240607);
  const std::string seeds[] = {
      "GET /index.html?a=b HTTP/1.1\r\nHost: example.com\r\nUser-Agent: test/1.0\r\nAccept: */*\r\n\r\n",
      "POST http://h:1/p HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\nConnection: close, x-y\r\nX-Y: \t z \r\n\r\n",
      "HTTP/1.1 200 OK\r\nServer: x\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a=b; Path=/\r\n\r\n"};
  const std::string_view bytes("\0\r\n\t :;,?#/*aA0-\x7f\x80\xff\x1f~!\"(", 24);
  for (int round = 0; round < 30'000; ++round) {
    std::string text = seeds[random() % 3];
    for (auto changes = random() % 4; changes-- > 0;) {
      const std::size_t at = random() % text.size();
      const char c = bytes[random() % bytes.size()];
      switch (random() % 3) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, random() % 40, c);
          break;
        default:
          text.erase(at, random() % 4);
      }
    }
    parse_request_all_ways(text);
    parse_response_all_ways(text);
    if (testing::Test::HasFailure()) FAIL() << text;
  }
}

}  // namespace
}  // namespace edge::net::http1
