// Heads from text, for tests of the cache.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "net/http1/parse.h"
#include "runtime/shape/cache/entry.h"
#include "runtime/shape/cache/message.h"

namespace edge::runtime::cache::testing {

/// Sun, 06 Nov 1994 08:49:37 GMT, which RFC 9110 uses for all its dates.
inline constexpr Seconds kNow = 784111777;
inline constexpr std::string_view kNowText = "Sun, 06 Nov 1994 08:49:37 GMT";

/// A request head and its facts. `lines`: `name: value`, each ended by a line feed.
class Ask {
 public:
  explicit Ask(const std::string& lines = {}, const std::string& method = "GET") {
    text_ = method + " / HTTP/1.1\r\nHost: a\r\n";
    for (const char c : lines) text_ += c == '\n' ? "\r\n" : std::string(1, c);
    text_ += "\r\n";
    net::http1::ParseHint hint;
    if (parse_request(text_, {}, hint, *head_).state != net::http1::ParseState::kComplete) {
      throw std::runtime_error("no request: " + text_);
    }
    facts = read_request(head_->method, head_->fields);
  }
  const net::http1::RequestHead& head() const { return *head_; }
  // So that a test reads as the call that it is about.
  operator const Request&() const { return facts; }  // NOLINT(google-explicit-constructor)

  Request facts;

 private:
  std::string text_;
  std::unique_ptr<net::http1::RequestHead> head_ = std::make_unique<net::http1::RequestHead>();
};

/// A response head and its facts, as if it came at `now`.
class Answer {
 public:
  explicit Answer(const std::string& lines, int status = 200, Seconds now = kNow) {
    text_ = "HTTP/1.1 " + std::to_string(status) + " Word\r\n";
    for (const char c : lines) text_ += c == '\n' ? "\r\n" : std::string(1, c);
    text_ += "\r\n";
    net::http1::ParseHint hint;
    const auto parsed = parse_response(text_, net::http1::Method::kGet, {}, hint, *head_);
    if (parsed.state != net::http1::ParseState::kComplete) throw std::runtime_error("no response: " + text_);
    facts = read_response(head_->status, head_->fields, now);
  }
  const net::http1::ResponseHead& head() const { return *head_; }
  // As above.
  operator const Response&() const { return facts; }  // NOLINT(google-explicit-constructor)

  Response facts;

 private:
  std::string text_;
  std::unique_ptr<net::http1::ResponseHead> head_ = std::make_unique<net::http1::ResponseHead>();
};

}  // namespace edge::runtime::cache::testing
