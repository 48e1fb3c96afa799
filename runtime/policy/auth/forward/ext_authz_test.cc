#include "runtime/policy/auth/forward/ext_authz.h"

#include <gtest/gtest.h>

namespace edge::runtime::auth {
namespace {

using namespace std::string_literals;

/// A field of bytes, short enough for one byte of length.
std::string field(unsigned number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) + bytes;
}

std::string frame(const std::string& message) { return "\0\0\0\0"s + static_cast<char>(message.size()) + message; }

std::string header(const std::string& name, const std::string& value) {
  return field(1, field(1, name) + field(2, value));
}

TEST(ExtAuthz, ARequestIsWrittenByTheProtocolsNumbers) {
  const std::string request = check_request({.source = "10.0.0.1",
                                             .unix_now = 5,
                                             .id = "i",
                                             .method = "GET",
                                             .path = "/x?q",
                                             .host = "h",
                                             .scheme = "https",
                                             .protocol = "HTTP/1.1",
                                             .headers = {{"a", "b"}},
                                             .body = {}});
  const std::string http = field(1, "i") + field(2, "GET") + field(3, field(1, "a") + field(2, "b")) +
                           field(4, "/x?q") + field(5, "h") + field(6, "https") + field(10, "HTTP/1.1");
  const std::string source = field(1, field(1, field(2, "10.0.0.1")));
  EXPECT_EQ(request, frame(field(1, field(1, source) + field(4, field(1, "\x08\x05") + field(2, http)))));
}

TEST(ExtAuthz, WhatIsNotUtf8IsNoText) {
  const std::string request = check_request({.headers = {{"a", "b\xff"}}, .body = "\xc3\x28"});
  EXPECT_NE(request.find(field(2, "b!")), std::string::npos);
  EXPECT_NE(request.find(field(12, "\xc3\x28")), std::string::npos);
}

TEST(ExtAuthz, AnAnswerThatPassesSaysWhatTheBackendIsSent) {
  const auto result = read_check_response(
      frame(field(1, "") +
            field(3, field(2, header("X-User", "alice")) + field(5, "X-Old") + field(6, header("Set-Cookie", "s=1")))),
      "0");
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->passes);
  ASSERT_EQ(result->headers.size(), 1u);
  EXPECT_EQ(result->headers[0].name, "x-user");
  EXPECT_EQ(result->headers[0].value, "alice");
  EXPECT_EQ(result->removed, std::vector<std::string>{"x-old"});
  ASSERT_EQ(result->response_headers.size(), 1u);
  EXPECT_EQ(result->response_headers[0].name, "set-cookie");
}

TEST(ExtAuthz, ADenialHasTheStatusFieldsAndBodyOfTheService) {
  const std::string status = field(1, "\x08\x91\x03");  // 401
  const auto result = read_check_response(
      frame(field(1, "\x08\x10") + field(2, status + field(2, header("www-authenticate", "Bearer")) + field(3, "no"))),
      "0");
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->passes);
  EXPECT_EQ(result->status, 401);
  EXPECT_EQ(result->body, "no");
  ASSERT_EQ(result->headers.size(), 1u);
  // A status alone; one that says that all is well; one that contradicts itself.
  EXPECT_EQ(read_check_response(frame(field(1, "\x08\x07")), "0")->status, 403);
  EXPECT_EQ(read_check_response(frame(field(1, "\x08\x07") + field(2, field(1, "\x08\xc8\x01"))), "0")->status, 403);
  EXPECT_FALSE(read_check_response(frame(field(1, "") + field(2, "")), "0")->passes);
}

TEST(ExtAuthz, NothingElseIsADecision) {
  const std::string sound = frame(field(1, "") + field(3, field(2, header("x-user", "alice"))));
  ASSERT_TRUE(read_check_response(sound, "0"));
  for (const std::string_view status : {"", "2", "16", "00"})
    EXPECT_FALSE(read_check_response(sound, status)) << status;
  EXPECT_FALSE(read_check_response(frame(""), "0"));
  EXPECT_FALSE(read_check_response("", "0"));
  EXPECT_FALSE(read_check_response(frame(field(1, field(1, "x"))), "0")) << "a code that is no number";
  EXPECT_FALSE(read_check_response(sound + sound, "0"));
  EXPECT_FALSE(read_check_response("\1" + sound.substr(1), "0"));
  for (std::size_t size = 0; size < sound.size(); ++size) {
    EXPECT_FALSE(read_check_response(std::string_view(sound).substr(0, size), "0")) << size;
  }
}

TEST(ExtAuthz, NoFieldCanEndItsLine) {
  const auto result = read_check_response(
      frame(field(1, "") + field(3, field(2, header("x-a", "1\r\nX-B: 2")) + field(2, header("a b", "1")) +
                                        field(2, header(":path", "/")))),
      "0");
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->headers.empty());
}

}  // namespace
}  // namespace edge::runtime::auth
