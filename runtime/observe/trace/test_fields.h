// For tests: a head with the given field lines.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "net/http1/parse.h"

namespace edge::runtime::trace::testing {

class TestFields {
 public:
  /// Each line with its CRLF.
  explicit TestFields(std::string_view lines) : text_("GET / HTTP/1.1\r\nHost: a\r\n" + std::string(lines) + "\r\n") {
    net::http1::ParseHint hint;
    const auto parsed = net::http1::parse_request(text_, {}, hint, *head_);
    EXPECT_EQ(parsed.state, net::http1::ParseState::kComplete) << lines;
  }
  const net::http1::HeadFields& get() const { return head_->fields; }

 private:
  std::string text_;
  std::unique_ptr<net::http1::RequestHead> head_ = std::make_unique<net::http1::RequestHead>();
};

}  // namespace edge::runtime::trace::testing
