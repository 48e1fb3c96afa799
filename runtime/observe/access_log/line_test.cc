#include "runtime/observe/access_log/line.h"

#include <string>

#include <gtest/gtest.h>

#include "runtime/observe/access_log/escape.h"
#include "runtime/observe/access_log/test_entry.h"

namespace edge::runtime {
namespace {

std::string line(const LogEntry& entry) {
  std::string out;
  LineWriter().write(entry, out);
  return out;
}

std::string line_by(std::string_view format, void (*change)(LogEntry&) = [](LogEntry&) {}) {
  const LogFormat read(format);
  LogEntry entry = sample_entry(read);
  change(entry);
  return line(entry);
}

std::string escaped(std::string_view text, LogEscape how) {
  std::string out(text.size() * kMostEscaped, '\0');
  out.resize(static_cast<std::size_t>(write_escaped(text, how, out.data()) - out.data()));
  return out;
}

TEST(LogLine, JsonHasEveryField) {
  EXPECT_EQ(line_by("json"),
            "{\"time\":\"2026-11-21T02:30:45.007Z\",\"client\":\"203.0.113.7\",\"client_port\":50001,"
            "\"method\":\"GET\",\"scheme\":\"https\",\"host\":\"shop.example\",\"path\":\"/cart\",\"query\":\"item=7\","
            "\"protocol\":\"HTTP/2.0\",\"status\":200,\"bytes_in\":12,\"bytes_out\":2326,\"gateway\":\"shop/web\","
            "\"listener\":\"https\",\"route\":\"shop/cart\",\"rule\":1,\"backend\":\"shop/cart\","
            "\"endpoint\":\"[2001:db8::5]:8080\",\"attempts\":2,\"head_ms\":0.041,\"policy_ms\":0.000,"
            "\"connect_ms\":1.500,\"answer_ms\":20.000,\"total_ms\":23.456,\"tls_version\":\"TLSv1.3\","
            "\"tls_cipher\":\"TLS_AES_128_GCM_SHA256\",\"server_name\":\"shop.example\","
            "\"request_id\":\"01900000-0000-7000-8000-000000000001\","
            "\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\",\"referer\":\"https://shop.example/\","
            "\"user_agent\":\"curl/8.0\"}\n");
}

TEST(LogLine, CommonAndCombinedAreApaches) {
  EXPECT_EQ(line_by("common"), "203.0.113.7 - - [21/Nov/2026:02:30:45 +0000] \"GET /cart?item=7 HTTP/2.0\" 200 2326\n");
  EXPECT_EQ(line_by("combined"),
            "203.0.113.7 - - [21/Nov/2026:02:30:45 +0000] \"GET /cart?item=7 HTTP/2.0\" 200 2326 "
            "\"https://shop.example/\" \"curl/8.0\"\n");
}

TEST(LogLine, ATemplateIsWrittenAsItStands) {
  EXPECT_EQ(line_by("100%% %{status} [%{route}] %{total_ms}ms %{reason}"), "100% 200 [shop/cart] 23.456ms -\n");
}

TEST(LogLine, WhatIsNotThereIsADashOrLeftOut) {
  const auto bare = [](LogEntry& entry) {
    const LogFormat* const format = entry.facts.format;
    entry = LogEntry{};
    entry.facts.format = format;
    entry.facts.client = *parse_ip("::1");
    entry.facts.total = 0;
    entry[LogText::kReason] = "head-timeout";
  };
  EXPECT_EQ(line_by("%{method} %{target} %{route} %{rule} %{endpoint} %{connect_ms} %{reason}", bare),
            "- - - - - - head-timeout\n");
  EXPECT_EQ(line_by("json", bare),
            "{\"time\":\"1970-01-01T00:00:00.000Z\",\"client\":\"::1\",\"client_port\":0,\"scheme\":\"http\","
            "\"protocol\":\"HTTP/1.1\",\"status\":0,\"reason\":\"head-timeout\",\"bytes_in\":0,\"bytes_out\":0,"
            "\"attempts\":0,\"total_ms\":0.000}\n");
}

TEST(LogLine, NoTextEndsALineOrAField) {
  const auto hostile = [](LogEntry& entry) {
    entry[LogText::kUserAgent] = "x\" 200 0\r\n1.2.3.4 - - \"GET / \x1b[2J\\";
    entry[LogText::kPath] = "/\xff\xfe\"";
  };
  EXPECT_EQ(line_by("\"%{path}\" \"%{user_agent}\"", hostile),
            "\"/\\xff\\xfe\\x22\" \"x\\x22 200 0\\x0d\\x0a1.2.3.4 - - \\x22GET / \\x1b[2J\\x5c\"\n");
  const std::string json = line_by("json", hostile);
  EXPECT_NE(json.find("\"path\":\"/\xef\xbf\xbd\xef\xbf\xbd\\\"\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"user_agent\":\"x\\\" 200 0\\u000d\\u000a1.2.3.4 - - \\\"GET / \\u001b[2J\\\\\""),
            std::string::npos)
      << json;
  EXPECT_EQ(json.find('\n'), json.size() - 1);
}

TEST(LogLine, EveryByteIsEscapedInEveryPlace) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = "a" + std::string(1, static_cast<char>(byte)) + "b";
    for (const LogEscape how : {LogEscape::kJson, LogEscape::kPlain}) {
      const std::string out = escaped(text, how);
      for (const char c : out) {
        EXPECT_GE(static_cast<unsigned char>(c), 0x20) << byte;
        EXPECT_NE(c, '\x7f') << byte;
      }
      if (how == LogEscape::kPlain) EXPECT_EQ(out.find('"'), std::string::npos) << byte;
    }
  }
}

// Text is looked at in blocks.
TEST(LogLine, AQuoteIsFoundAtEveryPlace) {
  for (std::size_t size = 1; size < 70; ++size) {
    EXPECT_EQ(escaped(std::string(size, 'a'), LogEscape::kJson), std::string(size, 'a'));
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      text[at] = '"';
      EXPECT_EQ(escaped(text, LogEscape::kJson), std::string(at, 'a') + "\\\"" + std::string(size - at - 1, 'a'));
    }
  }
}

TEST(LogLine, TextThatTurnsOrPartsLinesIsEscaped) {
  EXPECT_EQ(escaped("caf\xc3\xa9 \xf0\x9f\x8d\xb5", LogEscape::kJson), "caf\xc3\xa9 \xf0\x9f\x8d\xb5");
  EXPECT_EQ(escaped("\xe2\x80\xae", LogEscape::kJson), "\\u202e");
  EXPECT_EQ(escaped("\xd8\x9c", LogEscape::kJson), "\\u061c");
  EXPECT_EQ(escaped("\xe2\x80\xa8", LogEscape::kPlain), "\\xe2\\x80\\xa8");
  EXPECT_EQ(escaped("\xc2\x9b", LogEscape::kJson), "\\u009b");
  // Overlong, surrogate, beyond Unicode, cut short.
  EXPECT_EQ(escaped("\xc0\xaf", LogEscape::kPlain), "\\xc0\\xaf");
  EXPECT_EQ(escaped("\xed\xa0\x80", LogEscape::kPlain), "\\xed\\xa0\\x80");
  EXPECT_EQ(escaped("\xf4\x90\x80\x80", LogEscape::kPlain), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(escaped("a\xe2\x80", LogEscape::kPlain), "a\\xe2\\x80");
}

TEST(LogLine, TheDateFollowsTheTime) {
  const LogFormat format("%{time} %{time_common}");
  LineWriter writer;
  LogEntry entry = sample_entry(format);
  std::string out;
  for (const std::uint64_t at : {std::uint64_t{951'782'399'999}, std::uint64_t{951'782'400'000}}) {
    entry.facts.unix_milliseconds = at;
    writer.write(entry, out);
  }
  EXPECT_EQ(out,
            "2000-02-28T23:59:59.999Z 28/Feb/2000:23:59:59 +0000\n"
            "2000-02-29T00:00:00.000Z 29/Feb/2000:00:00:00 +0000\n");
}

}  // namespace
}  // namespace edge::runtime
