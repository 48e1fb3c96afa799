#include "runtime/shape/compressible.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/http1/parse.h"
#include "program/section_builder.h"

namespace edge::runtime {
namespace {

/// Settings as a program has them: the defaults, with a smallest size of 10.
class CompressibleTest : public testing::Test {
 protected:
  CompressibleTest() {
    struct Header {
      program::CompressionRecord settings;
      std::uint64_t reserved;
    };
    program::SectionBuilder builder(sizeof(Header));
    const auto strings = [&](std::vector<std::string> texts) {
      std::vector<program::StringRef> refs;
      for (const std::string& text : texts) refs.push_back(builder.string(text));
      return builder.array(refs);
    };
    Header header{};
    header.settings.min_size = 10;
    header.settings.exclude_types = strings({"image/*", "video/*", "application/zip", "text/event-stream"});
    header.settings.include_types = strings({"image/svg+xml"});
    bytes_ = std::move(builder).finish(header);
    section_ = program::SectionView(bytes_);
    settings_ = section_.header<Header>().settings;
  }

  bool asked(const std::string& fields, int status = 200, std::optional<std::uint64_t> length = 1000) {
    text_ = "HTTP/1.1 " + std::to_string(status) + " X\r\n" + fields + "\r\n";
    net::http1::ParseHint hint;
    EXPECT_EQ(net::http1::parse_response(text_, net::http1::Method::kGet, {}, hint, head_).state,
              net::http1::ParseState::kComplete)
        << text_;
    return compressible(head_, length, settings_, section_);
  }

  std::vector<std::byte> bytes_;
  program::SectionView section_;
  program::CompressionRecord settings_{};
  std::string text_;
  net::http1::ResponseHead head_;
};

TEST_F(CompressibleTest, ByType) {
  EXPECT_TRUE(asked("Content-Type: text/html; charset=utf-8\r\n"));
  EXPECT_TRUE(asked("Content-Type: application/json\r\n"));
  EXPECT_TRUE(asked(""));
  EXPECT_FALSE(asked("Content-Type: image/png\r\n"));
  EXPECT_FALSE(asked("Content-Type: IMAGE/PNG ; x=y\r\n"));
  EXPECT_TRUE(asked("Content-Type: image/svg+xml\r\n"));
  EXPECT_TRUE(asked("Content-Type: Image/SVG+xml;charset=utf-8\r\n"));
  EXPECT_FALSE(asked("Content-Type: application/zip\r\n"));
  EXPECT_TRUE(asked("Content-Type: application/zipx\r\n"));
  EXPECT_FALSE(asked("Content-Type: text/event-stream\r\n"));
  EXPECT_FALSE(asked("Content-Type: application/grpc\r\n"));
  EXPECT_FALSE(asked("Content-Type: application/grpc-web+proto\r\n"));
}

TEST_F(CompressibleTest, BySize) {
  EXPECT_FALSE(asked("", 200, 9));
  EXPECT_TRUE(asked("", 200, 10));
  EXPECT_TRUE(asked("", 200, 11));
  EXPECT_TRUE(asked("", 200, std::nullopt));
  settings_.min_size = 0;
  EXPECT_TRUE(asked("", 200, 1));
  EXPECT_FALSE(asked("", 200, 0));
}

TEST_F(CompressibleTest, ByStatusAndFields) {
  EXPECT_TRUE(asked("", 404));
  EXPECT_TRUE(asked("", 500));
  for (const int status : {204, 206, 304}) EXPECT_FALSE(asked("", status)) << status;
  EXPECT_FALSE(asked("Content-Encoding: gzip\r\n"));
  EXPECT_FALSE(asked("Content-Encoding: identity\r\n"));
  EXPECT_FALSE(asked("Content-Range: bytes */100\r\n", 416));
  EXPECT_FALSE(asked("Cache-Control: public, No-Transform\r\n"));
  EXPECT_TRUE(asked("Cache-Control: public, no-transforms\r\n"));
  EXPECT_FALSE(asked("Cache-Control: public\r\nCache-Control: no-transform\r\n"));
}

TEST_F(CompressibleTest, WhatAHeadSays) {
  asked("Vary: Cookie, accept-encoding\r\n");
  EXPECT_TRUE(varies_by_encoding(head_.fields));
  asked("Vary: Cookie\r\nVary: *\r\n");
  EXPECT_TRUE(varies_by_encoding(head_.fields));
  asked("Vary: Cookie\r\nX-Vary: accept-encoding\r\n");
  EXPECT_FALSE(varies_by_encoding(head_.fields));
  asked("Content-Type: text/event-stream; charset=utf-8\r\n");
  EXPECT_TRUE(is_event_stream(head_.fields));
  asked("Content-Length: 12\r\n");
  EXPECT_EQ(declared_length(head_), 12U);
  asked("");
  EXPECT_EQ(declared_length(head_), std::nullopt);
}

TEST(CompressedFor, WhomNoOtherSiteCouldHaveAsked) {
  using program::CompressedFor;
  const auto compressed = [](const std::string& lines, CompressedFor requests) {
    const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
    net::http1::ParseHint hint;
    const auto head = std::make_unique<net::http1::RequestHead>();
    EXPECT_EQ(parse_request(text, {}, hint, *head).state, net::http1::ParseState::kComplete) << lines;
    return compressed_for(head->fields, requests);
  };
  const std::string cookie = "Cookie: s=1\r\n";
  for (const CompressedFor any :
       {CompressedFor::kAll, CompressedFor::kSameOrigin, CompressedFor::kWithoutCredentials}) {
    EXPECT_TRUE(compressed("", any));
    EXPECT_TRUE(compressed("Sec-Fetch-Site: cross-site\r\n", any));
  }
  EXPECT_TRUE(compressed(cookie, CompressedFor::kAll));
  EXPECT_FALSE(compressed(cookie + "Sec-Fetch-Site: same-origin\r\n", CompressedFor::kWithoutCredentials));
  EXPECT_FALSE(compressed("Authorization: Basic QTpC\r\n", CompressedFor::kWithoutCredentials));
  EXPECT_TRUE(compressed(cookie + "Sec-Fetch-Site: same-origin\r\n", CompressedFor::kSameOrigin));
  EXPECT_TRUE(compressed(cookie + "sec-fetch-site: none\r\n", CompressedFor::kSameOrigin));
  for (const char* other :
       {"", "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n", "Sec-Fetch-Site: x\r\n"}) {
    EXPECT_FALSE(compressed(cookie + other, CompressedFor::kSameOrigin)) << other;
  }
}

}  // namespace
}  // namespace edge::runtime
