#include "edgectl/agents/access_log.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edge::edgectl {
namespace {

const LogDefaults kDefaults{"default.example", 8080};

std::string read(const std::string& line, const LogDefaults& defaults = kDefaults) {
  const auto request = read_log_line(line, defaults);
  return request ? witness_text(*request) : "not read";
}

TEST(AccessLog, JsonLinesTellARequest) {
  EXPECT_EQ(read(R"({"method":"GET","host":"a.example","path":"/x","query":"q=1","source_ip":"192.0.2.7","port":80})"),
            "GET http://a.example/x?q=1 from 192.0.2.7");
  EXPECT_EQ(read(R"({"method":"POST","path":"/x","user_agent":"curl/8","referer":"-"})"),
            "POST http://default.example:8080/x -H 'user-agent: curl/8'");
}

TEST(AccessLog, JsonOfOtherProgramsIsRead) {
  EXPECT_EQ(
      read(R"({"request_method":"GET","http_host":"a.example","request_uri":"/x?q=1","remote_addr":"192.0.2.7"})"),
      "GET http://a.example:8080/x?q=1 from 192.0.2.7");
  EXPECT_EQ(read(R"({"method":"GET","url":"https://b.example/y","client":"[2001:db8::1]:4711","server_port":"443"})"),
            "GET http://b.example:443/y from 2001:db8::1");
  EXPECT_EQ(read(R"({"method":"GET","host":"a.example","path":"/x","client_ip":"192.0.2.7:4711"})"),
            "GET http://a.example:8080/x from 192.0.2.7");
}

TEST(AccessLog, CommonAndCombinedLinesAreRead) {
  EXPECT_EQ(read(R"(192.0.2.7 - alice [21/Nov/2026:10:00:00 +0000] "GET /x?q=1 HTTP/1.1" 200 12)"),
            "GET http://default.example:8080/x?q=1 from 192.0.2.7");
  EXPECT_EQ(
      read(R"(192.0.2.7 - - [21/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 12 "https://r.example/" "a \"b\"")"),
      R"(GET http://default.example:8080/x -H 'referer: https://r.example/' -H 'user-agent: a "b"' from 192.0.2.7)");
  EXPECT_EQ(read(R"(a.example 192.0.2.7 - - [21/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 12 "-" "-")"),
            "GET http://a.example:8080/x from 192.0.2.7");
}

TEST(AccessLog, ALineWithoutAHostNeedsADefault) {
  const std::string line = R"(192.0.2.7 - - [21/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 12)";
  EXPECT_EQ(read(line, {"", 80}), "not read");
  EXPECT_EQ(read(R"({"method":"GET","host":"-","path":"/x"})", {"", 80}), "not read");
}

TEST(AccessLog, WhatIsNoRequestIsNotRead) {
  const std::vector<std::string> lines = {
      "",
      " ",
      "{",
      "{}",
      "[]",
      "null",
      R"({"method":"GET"})",
      R"({"method":"GET","host":"a.example","path":5})",
      R"({"method":["GET"],"host":"a.example","path":"/x"})",
      R"({"method":"G T","host":"a.example","path":"/x"})",
      R"({"method":"GET","host":"a example","path":"/x"})",
      R"({"method":"GET","host":"a.example","path":"/../x"})",
      R"({"method":"GET","host":"a.example","path":"/%00"})",
      R"(192.0.2.7 - - [21/Nov/2026:10:00:00 +0000] "GET" 400 0)",
      R"(192.0.2.7 - - [21/Nov/2026:10:00:00 +0000] "\x16\x03\x01" 400 0)",
      R"(192.0.2.7 - - [21/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1)",
      R"(192.0.2.7 - - [21/Nov/2026:10:00:00)",
      std::string(10'000, '"'),
      std::string(10'000, '['),
      "{\"method\":" + std::string(20'000, '[') + "}",
  };
  for (const std::string& line : lines) EXPECT_EQ(read(line), "not read") << line.substr(0, 100);
}

TEST(AccessLog, AnAddressThatIsNoneIsLeftOut) {
  EXPECT_EQ(read(R"({"method":"GET","host":"a.example","path":"/x","client":"unix:"})"), "GET http://a.example:8080/x");
  EXPECT_EQ(read(R"({"method":"GET","host":"a.example","path":"/x","port":"70000"})"), "GET http://a.example:8080/x");
}

/// Lines with a few bytes changed: read or not, never a crash.
TEST(AccessLog, BrokenLinesDoNoHarm) {
  std::mt19937 random(1);
  const std::vector<std::string> lines = {
      R"({"method":"GET","host":"a.example","path":"/x","query":"q=1","source_ip":"192.0.2.7","port":80})",
      R"(a.example 192.0.2.7 - - [21/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 12 "r" "a \"b\"")"};
  for (int i = 0; i < 20'000; ++i) {
    std::string line = lines[random() % lines.size()];
    for (std::uint32_t changes = random() % 4 + 1; changes > 0; --changes) {
      line[random() % line.size()] = static_cast<char>(random());
    }
    line.resize(random() % (line.size() + 1));
    const auto request = read_log_line(line, kDefaults);
    if (request) EXPECT_TRUE(request->path.starts_with('/')) << line;
  }
}

}  // namespace
}  // namespace edge::edgectl
