// Parses the bytes of a connection to an Answer, with the strict parser of net/http1 and the limits of one call. Never
// waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "net/client/http_client.h"
#include "net/http1/chunked.h"
#include "net/http1/parse.h"

namespace edge::net::client {

class AnswerReader {
 public:
  struct Limits {
    std::size_t head = 0;
    std::size_t body = 0;
  };
  enum class State : std::uint8_t { kMore, kDone };

  /// `scratch` is shared: it is used within calls only.
  AnswerReader(http1::Method method, const Limits& limits, http1::ResponseHead& scratch)
      : method_(method), limits_(limits), scratch_(scratch) {}

  /// Takes the unread bytes of the connection; an incomplete head must be passed again, with more. `consumed` bytes are
  /// done.
  State take(std::string_view unread, std::size_t& consumed);
  /// Called when the peer has closed.
  void end();
  /// Ends the answer with a fault, because the caller stops waiting.
  void interrupt(Answer instead) {
    answer_ = std::move(instead);
    finished_ = true;
  }

  /// Whether the answer's head is complete, and its body is being read.
  bool has_head() const { return in_body_ && !finished_; }
  /// Returns a copy of an answer with a head, without the body.
  Answer copy_head() const {
    Answer head;
    head.fault = CallFault::kNone;
    head.status = answer_.status;
    head.fields = answer_.fields;
    return head;
  }
  /// Returns the part of the body received since the last call; it does not count for the limit any more.
  std::string take_body() { return std::exchange(answer_.body, {}); }
  /// Returns the trailer fields of a complete answer, as validated lines.
  std::string_view trailer_lines() const { return chunks_.trailer_lines(); }
  CallFault fault() const { return answer_.fault; }
  const std::string& detail() const { return answer_.detail; }

  /// Whether any byte of an answer was received.
  bool begun() const { return begun_; }
  /// Whether the connection may carry another request, if nothing is left unread.
  bool keeps_alive() const { return keep_alive_ && answer_.ok(); }
  Answer take_answer() { return std::move(answer_); }

 private:
  State take_head(std::string_view unread, std::size_t& consumed);
  State take_body(std::string_view unread, std::size_t& consumed);
  State put(std::string_view data);
  State done(CallFault fault, std::string_view detail = {});

  http1::Method method_;
  Limits limits_;
  http1::ResponseHead& scratch_;
  http1::ParseHint hint_;
  http1::ChunkedDecoder chunks_;
  http1::Body body_;
  std::uint64_t left_ = 0;
  int interims_ = 0;
  bool begun_ = false;
  bool finished_ = false;
  bool in_body_ = false;
  bool keep_alive_ = false;
  Answer answer_;
};

}  // namespace edge::net::client
