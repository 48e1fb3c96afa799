// Requests against RFC 9112, section by section.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http1/parse.h"
#include "net/http1/test_parse.h"

namespace edge::net::http1 {
namespace {

using testing::TestWithParam;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: a\r\n";

struct Refused {
  std::string name;
  std::string text;
  HeadFault fault;
};

std::string with(std::string_view fields) { return std::string(kGet) + std::string(fields) + "\r\n"; }
std::string line(std::string_view request_line) { return std::string(request_line) + "\r\nHost: a\r\n\r\n"; }

class RefusedRequest : public TestWithParam<Refused> {};

TEST_P(RefusedRequest, HasThisFault) {
  const Parsed<RequestHead> parsed = parse_request_all_ways(GetParam().text);
  EXPECT_EQ(parsed.result.state, ParseState::kFault);
  EXPECT_EQ(parsed.result.fault, GetParam().fault) << fault_reason(parsed.result.fault);
}

std::string name_of(const testing::TestParamInfo<Refused>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    RequestLine, RefusedRequest,
    testing::Values(
        Refused{"lower_case_version", line("GET / http/1.1"), HeadFault::kBadRequestLine},
        Refused{"version_2", line("GET / HTTP/2.0"), HeadFault::kBadVersion},
        Refused{"preface_of_h2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", HeadFault::kBadVersion},
        Refused{"version_1_2", line("GET / HTTP/1.2"), HeadFault::kBadVersion},
        Refused{"version_0_9", "GET /\r\n\r\n", HeadFault::kBadRequestLine},
        Refused{"long_version", line("GET / HTTP/1.10"), HeadFault::kBadRequestLine},
        Refused{"letter_version", line("GET / HTTP/1.x"), HeadFault::kBadRequestLine},
        Refused{"short_version", "GET / HTTP/1\r\n\r\n", HeadFault::kBadRequestLine},
        Refused{"two_spaces_before_target", line("GET  / HTTP/1.1"), HeadFault::kBadRequestLine},
        Refused{"two_spaces_after_target", line("GET /  HTTP/1.1"), HeadFault::kBadRequestLine},
        Refused{"tab_after_method", line("GET\t/ HTTP/1.1"), HeadFault::kBadRequestLine},
        Refused{"tab_after_target", line("GET /\tHTTP/1.1"), HeadFault::kBadTarget},
        Refused{"space_at_end", line("GET / HTTP/1.1 "), HeadFault::kBadRequestLine},
        Refused{"space_at_begin", line(" GET / HTTP/1.1"), HeadFault::kBadRequestLine},
        Refused{"space_in_target", line("GET /a b HTTP/1.1"), HeadFault::kBadRequestLine},
        Refused{"no_target", line("GET HTTP/1.1"), HeadFault::kBadRequestLine},
        Refused{"no_method", line("/ HTTP/1.1"), HeadFault::kBadRequestLine},
        Refused{"colon_in_method", line("GE:T / HTTP/1.1"), HeadFault::kBadRequestLine},
        Refused{"nul_in_method", std::string("GE\0T / HTTP/1.1\r\nHost: a\r\n\r\n", 28), HeadFault::kBadRequestLine},
        Refused{"method_of_65", line(std::string(65, 'M') + " / HTTP/1.1"), HeadFault::kMethodNotImplemented},
        Refused{"connect", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", HeadFault::kMethodNotImplemented},
        Refused{"lf_alone", "GET / HTTP/1.1\nHost: a\r\n\r\n", HeadFault::kBadLineEnd},
        Refused{"cr_alone", "GET / HTTP/1.1\rHost: a\r\n\r\n", HeadFault::kBadLineEnd},
        Refused{"two_empty_lines_before", "\r\n\r\n" + line("GET / HTTP/1.1"), HeadFault::kBadRequestLine},
        Refused{"lf_before", "\n" + line("GET / HTTP/1.1"), HeadFault::kBadRequestLine},
        Refused{"tls_hello", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),
                HeadFault::kBadRequestLine},
        Refused{"response", "HTTP/1.1 200 OK\r\n\r\n", HeadFault::kBadRequestLine}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Target, RefusedRequest,
    testing::Values(Refused{"fragment", line("GET /a#b HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"fragment_in_query", line("GET /a?b#c HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"byte_80", line("GET /\x80 HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"byte_ff_in_query", line("GET /?\xff HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"del", line("GET /\x7f HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"nul", std::string("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 28), HeadFault::kBadTarget},
                    Refused{"asterisk_of_get", line("GET * HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"asterisk_with_query", line("OPTIONS *?a HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"authority_of_get", line("GET a:80 HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"relative", line("GET index.html HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"query_alone", line("GET ?a HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"other_scheme", line("GET ftp://a/ HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"scheme_without_authority", line("GET http:/a HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"empty_authority", line("GET http:///a HTTP/1.1"), HeadFault::kBadTarget},
                    Refused{"userinfo", line("GET http://u@a/ HTTP/1.1"), HeadFault::kBadHost}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Fields, RefusedRequest,
    testing::Values(Refused{"folded", with("A: b\r\n c\r\n"), HeadFault::kFoldedLine},
                    Refused{"folded_by_tab", with("A: b\r\n\tc\r\n"), HeadFault::kFoldedLine},
                    Refused{"blank_before_first", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", HeadFault::kFoldedLine},
                    Refused{"space_before_colon", with("A : b\r\n"), HeadFault::kBadFieldName},
                    Refused{"tab_before_colon", with("A\t: b\r\n"), HeadFault::kBadFieldName},
                    Refused{"empty_name", with(": b\r\n"), HeadFault::kBadFieldName},
                    Refused{"no_colon", with("A\r\n"), HeadFault::kBadFieldName},
                    Refused{"byte_80_in_name", with("A\x80: b\r\n"), HeadFault::kBadFieldName},
                    Refused{"paren_in_name", with("A(: b\r\n"), HeadFault::kBadFieldName},
                    Refused{"nul_in_name", with(std::string("A\0: b\r\n", 7)), HeadFault::kBadFieldName},
                    Refused{"nul_in_value", with(std::string("A: \0\r\n", 6)), HeadFault::kBadFieldValue},
                    Refused{"escape_in_value", with("A: \x1b\r\n"), HeadFault::kBadFieldValue},
                    Refused{"del_in_value", with("A: \x7f\r\n"), HeadFault::kBadFieldValue},
                    Refused{"cr_in_value", with("A: b\rc\r\n"), HeadFault::kBadLineEnd},
                    Refused{"lf_in_value", with("A: b\nc: d\r\n"), HeadFault::kBadLineEnd},
                    Refused{"cr_cr_lf", with("A: b\r\r\n"), HeadFault::kBadLineEnd},
                    Refused{"lf_ends_head", "GET / HTTP/1.1\r\nHost: a\r\n\n", HeadFault::kBadLineEnd},
                    Refused{"cr_ends_head", "GET / HTTP/1.1\r\nHost: a\r\n\rX", HeadFault::kBadLineEnd},
                    Refused{"connection_no_token", with("Connection: a b\r\n"), HeadFault::kBadFieldValue},
                    Refused{"expectation", with("Expect: 200-ok\r\n"), HeadFault::kBadExpectation},
                    Refused{"expectation_twice", with("Expect: 100-continue\r\nExpect: 100-continue\r\n"),
                            HeadFault::kBadExpectation}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Host, RefusedRequest,
    testing::Values(
        Refused{"missing", "GET / HTTP/1.1\r\n\r\n", HeadFault::kMissingHost},
        Refused{"missing_in_absolute_form", "GET http://a/ HTTP/1.1\r\n\r\n", HeadFault::kMissingHost},
        Refused{"twice", with("Host: b\r\n"), HeadFault::kRepeatedHost},
        Refused{"twice_equal", with("hOST: a\r\n"), HeadFault::kRepeatedHost},
        Refused{"twice_in_http10", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", HeadFault::kRepeatedHost},
        Refused{"list", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", HeadFault::kBadHost},
        Refused{"slash", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", HeadFault::kBadHost},
        Refused{"userinfo", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", HeadFault::kBadHost},
        Refused{"bad_beside_absolute_form", "GET http://a/ HTTP/1.1\r\nHost: b/c\r\n\r\n", HeadFault::kBadHost}),
    name_of);

// Each way to frame a body twice, or so that two readers may disagree (RFC 9112 §6.1, §6.3, §11.2).
INSTANTIATE_TEST_SUITE_P(
    Framing, RefusedRequest,
    testing::Values(
        Refused{"length_then_coding", with("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"),
                HeadFault::kLengthAndCoding},
        Refused{"coding_then_length", with("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"),
                HeadFault::kLengthAndCoding},
        Refused{"bad_length_and_coding", with("Transfer-Encoding: chunked\r\nContent-Length: x\r\n"),
                HeadFault::kLengthAndCoding},
        Refused{"length_and_bad_coding", with("Content-Length: 4\r\nTransfer-Encoding: xchunked\r\n"),
                HeadFault::kLengthAndCoding},
        Refused{"two_lengths", with("Content-Length: 4\r\nContent-Length: 5\r\n"), HeadFault::kRepeatedContentLength},
        Refused{"two_equal_lengths", with("Content-Length: 4\r\ncontent-length: 4\r\n"),
                HeadFault::kRepeatedContentLength},
        Refused{"length_list", with("Content-Length: 4, 4\r\n"), HeadFault::kBadContentLength},
        Refused{"length_plus", with("Content-Length: +4\r\n"), HeadFault::kBadContentLength},
        Refused{"length_minus", with("Content-Length: -4\r\n"), HeadFault::kBadContentLength},
        Refused{"length_hex", with("Content-Length: 0x4\r\n"), HeadFault::kBadContentLength},
        Refused{"length_point", with("Content-Length: 4.0\r\n"), HeadFault::kBadContentLength},
        Refused{"length_blank_inside", with("Content-Length: 4 2\r\n"), HeadFault::kBadContentLength},
        Refused{"length_empty", with("Content-Length:\r\n"), HeadFault::kBadContentLength},
        Refused{"length_quoted", with("Content-Length: \"4\"\r\n"), HeadFault::kBadContentLength},
        Refused{"length_2_63", with("Content-Length: 9223372036854775808\r\n"), HeadFault::kBadContentLength},
        Refused{"length_wraps_to_4", with("Content-Length: 18446744073709551620\r\n"), HeadFault::kBadContentLength},
        Refused{"length_of_20_digits", with("Content-Length: 00000000000000000004\r\n"), HeadFault::kBadContentLength},
        Refused{"length_vertical_tab", with("Content-Length: \v4\r\n"), HeadFault::kBadFieldValue},
        Refused{"coding_twice", with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
                HeadFault::kBadTransferEncoding},
        Refused{"coding_and_identity", with("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
                HeadFault::kBadTransferEncoding},
        Refused{"chunked_chunked", with("Transfer-Encoding: chunked, chunked\r\n"), HeadFault::kBadTransferEncoding},
        Refused{"chunked_identity", with("Transfer-Encoding: chunked, identity\r\n"), HeadFault::kBadTransferEncoding},
        Refused{"chunked_empty", with("Transfer-Encoding: chunked,\r\n"), HeadFault::kBadTransferEncoding},
        Refused{"empty_chunked", with("Transfer-Encoding: ,chunked\r\n"), HeadFault::kBadTransferEncoding},
        Refused{"xchunked", with("Transfer-Encoding: xchunked\r\n"), HeadFault::kBadTransferEncoding},
        Refused{"chunked_parameter", with("Transfer-Encoding: chunked;q=1\r\n"), HeadFault::kBadTransferEncoding},
        Refused{"chunked_quoted", with("Transfer-Encoding: \"chunked\"\r\n"), HeadFault::kBadTransferEncoding},
        Refused{"chunked_vertical_tab", with("Transfer-Encoding: \vchunked\r\n"), HeadFault::kBadFieldValue},
        Refused{"identity", with("Transfer-Encoding: identity\r\n"), HeadFault::kBadTransferEncoding},
        Refused{"gzip_alone", with("Transfer-Encoding: gzip\r\n"), HeadFault::kBadTransferEncoding},
        Refused{"coding_empty", with("Transfer-Encoding:\r\n"), HeadFault::kBadTransferEncoding},
        Refused{"gzip_chunked", with("Transfer-Encoding: gzip, chunked\r\n"), HeadFault::kUnknownCoding},
        Refused{"coding_in_http10", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
                HeadFault::kCodingInHttp10},
        Refused{"coding_name_with_space", with("Transfer-Encoding : chunked\r\n"), HeadFault::kBadFieldName},
        Refused{"length_name_with_underscore_is_other", with("Content-Length: 4\r\nTransfer-Encoding:\tchunked\r\n"),
                HeadFault::kLengthAndCoding}),
    name_of);

TEST(Request, PlainGet) {
  const auto parsed =
      parse_request_all_ways("GET /a/b?c=d&e HTTP/1.1\r\nHost: Example.com:80\r\nX-Y:  v \t\r\n\r\nrest");
  ASSERT_EQ(parsed.result.state, ParseState::kComplete);
  const RequestHead& head = *parsed.head;
  EXPECT_EQ(parsed.result.consumed, 60u);
  EXPECT_EQ(head.method, Method::kGet);
  EXPECT_EQ(head.path, "/a/b");
  EXPECT_EQ(head.query, "c=d&e");
  EXPECT_TRUE(head.has_query);
  EXPECT_EQ(head.host, "Example.com:80");
  EXPECT_EQ(head.fields[1].name, "X-Y");
  EXPECT_EQ(head.fields[1].value, "v");
  EXPECT_EQ(head.fields.lines(0, 1), "Host: Example.com:80\r\n");
  EXPECT_EQ(head.fields.lines(1, 2), "X-Y:  v \t\r\n");
  EXPECT_TRUE(head.keep_alive);
  EXPECT_EQ(head.body.kind, BodyKind::kNone);
}

TEST(Request, QueryMayHoldQuestionMarksAndBeEmpty) {
  const auto parsed = parse_request_all_ways(line("GET /?a?b? HTTP/1.1"));
  EXPECT_EQ(parsed.head->query, "a?b?");
  const auto empty = parse_request_all_ways(line("GET /? HTTP/1.1"));
  EXPECT_TRUE(empty.head->has_query);
  EXPECT_EQ(empty.head->query, "");
}

TEST(Request, OneEmptyLineBeforeIsSkipped) {
  const auto parsed = parse_request_all_ways("\r\n" + line("GET / HTTP/1.1"));
  EXPECT_EQ(parsed.result.state, ParseState::kComplete);
  EXPECT_EQ(parsed.head->method_text, "GET");
}

TEST(Request, AbsoluteFormOverridesHost) {
  const auto parsed = parse_request_all_ways("GET HTTP://b.example:8080/x?y HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_EQ(parsed.result.state, ParseState::kComplete);
  EXPECT_EQ(parsed.head->form, TargetForm::kAbsolute);
  EXPECT_EQ(parsed.head->host, "b.example:8080");
  EXPECT_EQ(parsed.head->path, "/x");
  EXPECT_EQ(parsed.head->query, "y");
  EXPECT_EQ(parse_request_all_ways(line("GET http://b HTTP/1.1")).head->path, "/");
  const auto query = parse_request_all_ways(line("GET http://b?q HTTP/1.1"));
  EXPECT_EQ(query.head->path, "/");
  EXPECT_EQ(query.head->query, "q");
  EXPECT_EQ(query.head->host, "b");
  EXPECT_EQ(parse_request_all_ways(line("OPTIONS http://b HTTP/1.1")).head->path, "*");
}

TEST(Request, AsteriskFormOfOptions) {
  const auto parsed = parse_request_all_ways(line("OPTIONS * HTTP/1.1"));
  ASSERT_EQ(parsed.result.state, ParseState::kComplete);
  EXPECT_EQ(parsed.head->form, TargetForm::kAsterisk);
  EXPECT_EQ(parsed.head->path, "*");
}

TEST(Request, AnyTokenIsAMethod) {
  EXPECT_EQ(parse_request_all_ways(line("M-SEARCH / HTTP/1.1")).head->method_text, "M-SEARCH");
  EXPECT_EQ(parse_request_all_ways(line("get / HTTP/1.1")).head->method, Method::kOther);
  EXPECT_EQ(parse_request_all_ways(line(std::string(64, 'M') + " / HTTP/1.1")).result.state, ParseState::kComplete);
}

TEST(Request, Http10NeedsNoHostAndClosesUnlessAsked) {
  const auto parsed = parse_request_all_ways("GET / HTTP/1.0\r\n\r\n");
  ASSERT_EQ(parsed.result.state, ParseState::kComplete);
  EXPECT_EQ(parsed.head->minor, 0);
  EXPECT_FALSE(parsed.head->keep_alive);
  EXPECT_EQ(parsed.head->host, "");
  EXPECT_TRUE(parse_request_all_ways("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").head->keep_alive);
  EXPECT_FALSE(parse_request_all_ways("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n").head->keep_alive);
}

TEST(Request, ConnectionClose) {
  EXPECT_FALSE(parse_request_all_ways(with("Connection: Close\r\n")).head->keep_alive);
  EXPECT_FALSE(parse_request_all_ways(with("Connection: x\r\nA: b\r\nConnection: , close\r\n")).head->keep_alive);
}

TEST(Request, HopByHopFieldsAreMarked) {
  const auto parsed = parse_request_all_ways(
      with("Connection: X-a, Authorization, HOST, x-forwarded-for, Accept\r\nX-A: 1\r\nx-A: 2\r\nAuthorization: 3\r\n"
           "X-Forwarded-For: 4\r\nTE: trailers\r\nX-B: 5\r\nAccept: 6\r\nKeep-Alive: 7\r\n"));
  ASSERT_EQ(parsed.result.state, ParseState::kComplete);
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < parsed.head->fields.size(); ++i) {
    if (!parsed.head->fields.hop_by_hop(i)) kept.emplace_back(parsed.head->fields[i].name);
  }
  EXPECT_THAT(kept, testing::ElementsAre("Host", "Authorization", "X-Forwarded-For", "X-B"));
}

TEST(Request, LookAlikesOfForwardedFieldsAreMarked) {
  const auto parsed = parse_request_all_ways(
      with("X_Forwarded_For: 1\r\nx-forwarded_proto: 2\r\nX_Canary: 3\r\nX_Other: 4\r\nX-: 5\r\nX: 6\r\n"
           "X-Forwarded-Host: 7\r\nX_A_Very_Long_Name_That_Is_Not_Known: 8\r\nX_Forwarded-Prefix: 9\r\n"
           "x-forwarded_ssl: 10\r\nX-Forwarded-Prefix: 11\r\n"));
  ASSERT_EQ(parsed.result.state, ParseState::kComplete);
  std::vector<std::string> kept;
  for (const Field& field : parsed.head->fields.all()) {
    const auto i = static_cast<std::size_t>(&field - parsed.head->fields.all().data());
    if (!parsed.head->fields.hop_by_hop(i)) kept.emplace_back(field.value);
  }
  EXPECT_THAT(kept, testing::ElementsAre("a", "4", "5", "6", "7", "8", "11"));
}

TEST(Request, OtherForwardedFieldsAreSeen) {
  EXPECT_FALSE(parse_request_all_ways(with("X-Forwarded-For: 1\r\nX-Forwarded-: 2\r\nX-Forward: 3\r\n"))
                   .head->fields.has_other_forwarded());
  EXPECT_TRUE(parse_request_all_ways(with("x-forwarded-PREFIX: 1\r\n")).head->fields.has_other_forwarded());
}

TEST(Request, ConnectionOptionsAreBounded) {
  std::string options = "a";
  for (int i = 1; i < 64; ++i) options += ",a";
  EXPECT_EQ(parse_request_all_ways(with("Connection: " + options + "\r\n")).result.state, ParseState::kComplete);
  EXPECT_EQ(parse_request_all_ways(with("Connection: " + options + ",a\r\n")).result.fault, HeadFault::kBadFieldValue);
}

TEST(Request, Upgrade) {
  EXPECT_TRUE(parse_request_all_ways(with("Connection: Upgrade\r\nUpgrade: websocket\r\n")).head->upgrade);
  EXPECT_FALSE(parse_request_all_ways(with("Upgrade: websocket\r\n")).head->upgrade);
  EXPECT_FALSE(parse_request_all_ways(with("Connection: Upgrade\r\n")).head->upgrade);
}

TEST(Request, Bodies) {
  const auto length = parse_request_all_ways(with("Content-Length: \t 0042 \r\n"));
  EXPECT_EQ(length.head->body.kind, BodyKind::kLength);
  EXPECT_EQ(length.head->body.length, 42u);
  EXPECT_EQ(parse_request_all_ways(with("Content-Length: 9223372036854775807\r\n")).head->body.length, INT64_MAX);
  EXPECT_EQ(parse_request_all_ways(with("TRANSFER-ENCODING: Chunked\r\n")).head->body.kind, BodyKind::kChunked);
}

TEST(Request, Expect) {
  EXPECT_TRUE(parse_request_all_ways(with("Expect: 100-Continue\r\nContent-Length: 1\r\n")).head->expect_continue);
  EXPECT_FALSE(parse_request_all_ways(with("Expect: 100-continue\r\nContent-Length: 0\r\n")).head->expect_continue);
  EXPECT_FALSE(parse_request_all_ways(with("Expect: 100-continue\r\n")).head->expect_continue);
  EXPECT_FALSE(parse_request_all_ways("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
                   .head->expect_continue);
}

TEST(Request, KnownFieldsHaveNumbers) {
  const auto parsed = parse_request_all_ways(with("X-CANARY: true\r\nAccept: */*\r\naccept: b\r\n"));
  EXPECT_EQ(parsed.head->fields.value(KnownField::kXCanary), "true");
  EXPECT_EQ(parsed.head->fields.value(KnownField::kAccept), "*/*");
  EXPECT_TRUE(parsed.head->fields.repeated(KnownField::kAccept));
  EXPECT_FALSE(parsed.head->fields.repeated(KnownField::kHost));
  EXPECT_EQ(parsed.head->fields.index(KnownField::kVia), -1);
}

TEST(Request, EveryKnownNameIsRecognisedInAnyCaseAndNoNearMiss) {
  for (std::size_t i = 1; i < kKnownFieldCount; ++i) {
    const auto field = static_cast<KnownField>(i);
    const std::string name(known_field_name(field));
    EXPECT_EQ(recognise_field(name), field) << name;
    std::string upper = name;
    for (char& c : upper) c = static_cast<char>(std::toupper(c));
    EXPECT_EQ(recognise_field(upper), field) << name;
    for (std::size_t k = 0; k < name.size(); ++k) {
      std::string near = name;
      near[k] = near[k] == '-' ? '_' : '-';
      EXPECT_EQ(recognise_field(near), KnownField::kOther) << near;
    }
    EXPECT_EQ(recognise_field(name + "x"), KnownField::kOther);
  }
  EXPECT_EQ(recognise_field(""), KnownField::kOther);
  EXPECT_EQ(recognise_field("h"), KnownField::kOther);
}

ParseResult parse_with(std::string_view text, const HeadLimits& limits) {
  return parse_request_all_ways(text, limits).result;
}

TEST(RequestLimits, WholeHead) {
  const std::string head = with("A: b\r\n");
  HeadLimits limits;
  limits.max_bytes = head.size();
  EXPECT_EQ(parse_with(head, limits).state, ParseState::kComplete);
  EXPECT_EQ(parse_with(head + "more", limits).state, ParseState::kComplete);
  limits.max_bytes = head.size() + 1;
  EXPECT_EQ(parse_with(head, limits).state, ParseState::kComplete);
  limits.max_bytes = head.size() - 1;
  EXPECT_EQ(parse_with(head, limits).fault, HeadFault::kHeadTooLarge);
}

TEST(RequestLimits, Fields) {
  const std::string head = with("A: b\r\nC: d\r\n");
  HeadLimits limits;
  limits.max_fields = 3;
  EXPECT_EQ(parse_with(head, limits).state, ParseState::kComplete);
  limits.max_fields = 4;
  EXPECT_EQ(parse_with(head, limits).state, ParseState::kComplete);
  limits.max_fields = 2;
  EXPECT_EQ(parse_with(head, limits).fault, HeadFault::kTooManyFields);
}

TEST(RequestLimits, FieldsNeverPassTheTable) {
  std::string fields;
  for (std::size_t i = 1; i < HeadFields::kMax; ++i) fields += "A: b\r\n";
  HeadLimits limits;
  limits.max_fields = 100'000;
  EXPECT_EQ(parse_with(with(fields), limits).state, ParseState::kComplete);
  EXPECT_EQ(parse_with(with(fields + "A: b\r\n"), limits).fault, HeadFault::kTooManyFields);
}

TEST(RequestLimits, Target) {
  HeadLimits limits;
  limits.max_target = 10;
  EXPECT_EQ(parse_with(line("GET /23456789 HTTP/1.1"), limits).state, ParseState::kComplete);
  EXPECT_EQ(parse_with(line("GET /234567890 HTTP/1.1"), limits).state, ParseState::kComplete);
  EXPECT_EQ(parse_with(line("GET /2345678901 HTTP/1.1"), limits).fault, HeadFault::kUriTooLong);
  EXPECT_EQ(parse_with(line("GET /2345?78901 HTTP/1.1"), limits).fault, HeadFault::kUriTooLong);
  EXPECT_EQ(parse_with("GET /2345678901", limits).fault, HeadFault::kUriTooLong);
}

TEST(RequestTorn, IsIncompleteAtEveryByteAndThenTheSame) {
  const std::string head =
      "\r\nPOST /some/longer/path/to/fill/vectors?with=a&query=string HTTP/1.1\r\nHost: example.com\r\n"
      "X-Quite-A-Long-Header-Name-That-Needs-Two-Vectors: and a value that is long enough to need several of them\r\n"
      "Content-Length: 5\r\n\r\n";
  for (std::size_t size = 0; size < head.size(); ++size) {
    EXPECT_EQ(parse_request_all_ways(head.substr(0, size)).result.state, ParseState::kIncomplete) << size;
  }
  ParseHint hint;
  const auto out = std::make_unique<RequestHead>();
  for (std::size_t size = 0; size < head.size(); ++size) {
    ASSERT_EQ(parse_request(std::string_view(head).substr(0, size), {}, hint, *out).state, ParseState::kIncomplete);
  }
  const ParseResult last = parse_request(head, {}, hint, *out);
  EXPECT_EQ(last.state, ParseState::kComplete);
  EXPECT_EQ(last.consumed, head.size());
}

TEST(RequestTorn, FaultsAreFoundAtTheLatestWhenTheHeadEnds) {
  for (const std::string& text : {with("A : b\r\n"), std::string("GET / HTTP/1.1\nHost: a\n\n"), with("A: b\r\n c\r\n"),
                                  line("GET /\x80 HTTP/1.1")}) {
    ParseHint hint;
    const auto out = std::make_unique<RequestHead>();
    ParseResult result;
    for (std::size_t size = 1; size <= text.size() && result.state == ParseState::kIncomplete; ++size) {
      result = parse_request(std::string_view(text).substr(0, size), {}, hint, *out);
    }
    EXPECT_EQ(result.state, ParseState::kFault) << text;
  }
}

TEST(RequestTorn, TooLargeIsFoundWithoutAnEnd) {
  const std::string endless = std::string(kGet) + "A: " + std::string(100'000, 'x');
  ParseHint hint;
  const auto out = std::make_unique<RequestHead>();
  std::size_t size = 0;
  while (parse_request(std::string_view(endless).substr(0, size), {}, hint, *out).state == ParseState::kIncomplete) {
    size += 100;
  }
  EXPECT_LE(size, 65'600u);
  EXPECT_GE(size, 65'536u);
}

}  // namespace
}  // namespace edge::net::http1
