#include "net/client/answer_reader.h"

#include <algorithm>

#include "base/text/ascii.h"

namespace edge::net::client {
namespace {

using http1::BodyKind;
using http1::ChunkedDecoder;
using http1::ParseState;

/// 100, 103 and their like before an answer.
constexpr int kMostInterims = 8;

}  // namespace

AnswerReader::State AnswerReader::take(std::string_view unread, std::size_t& consumed) {
  consumed = 0;
  begun_ |= !unread.empty();
  State state = State::kMore;
  if (!in_body_) state = take_head(unread, consumed);
  if (state == State::kMore && in_body_) {
    std::size_t of_body = 0;
    state = take_body(unread.substr(consumed), of_body);
    consumed += of_body;
  }
  return state;
}

AnswerReader::State AnswerReader::take_head(std::string_view unread, std::size_t& consumed) {
  const http1::HeadLimits limits{.max_bytes = limits_.head, .max_fields = 100, .max_target = 1};
  while (!in_body_) {
    const auto parsed = http1::parse_response(unread.substr(consumed), method_, limits, hint_, scratch_);
    if (parsed.state == ParseState::kIncomplete) return State::kMore;
    if (parsed.state == ParseState::kFault) {
      const bool large =
          parsed.fault == http1::HeadFault::kHeadTooLarge || parsed.fault == http1::HeadFault::kTooManyFields;
      return done(large ? CallFault::kTooLarge : CallFault::kMalformed, http1::fault_reason(parsed.fault));
    }
    hint_ = {};
    consumed += parsed.consumed;
    if (scratch_.status == 101) return done(CallFault::kMalformed, "it switches to another protocol, unasked");
    if (scratch_.status < 200) {
      if (++interims_ > kMostInterims) return done(CallFault::kMalformed, "too many interim answers");
      continue;
    }
    in_body_ = true;
  }
  answer_.status = scratch_.status;
  for (std::size_t i = 0; i < scratch_.fields.size(); ++i) {
    if (scratch_.fields.hop_by_hop(i)) continue;
    answer_.fields.push_back({ascii_lower(scratch_.fields[i].name), std::string(scratch_.fields[i].value)});
  }
  keep_alive_ = scratch_.keep_alive;
  body_ = scratch_.body;
  left_ = body_.kind == BodyKind::kLength ? body_.length : 0;
  if (left_ > limits_.body) return done(CallFault::kTooLarge, "its body is larger than allowed");
  const bool none = body_.kind == BodyKind::kNone || (body_.kind == BodyKind::kLength && left_ == 0);
  return none ? done(CallFault::kNone) : State::kMore;
}

AnswerReader::State AnswerReader::take_body(std::string_view unread, std::size_t& consumed) {
  if (body_.kind != BodyKind::kChunked) {
    const bool bounded = body_.kind == BodyKind::kLength;
    consumed = bounded ? static_cast<std::size_t>(std::min<std::uint64_t>(left_, unread.size())) : unread.size();
    if (put(unread.substr(0, consumed)) == State::kDone) return State::kDone;
    if (!bounded) return State::kMore;
    left_ -= consumed;
    return left_ == 0 ? done(CallFault::kNone) : State::kMore;
  }
  while (consumed < unread.size()) {
    const ChunkedDecoder::Step step = chunks_.next(unread.substr(consumed));
    consumed += step.consumed;
    if (put(step.data) == State::kDone) return State::kDone;
    if (step.state == ChunkedDecoder::State::kEnd) return done(CallFault::kNone);
    if (step.state == ChunkedDecoder::State::kFault) return done(CallFault::kMalformed, "its chunks are malformed");
  }
  return State::kMore;
}

AnswerReader::State AnswerReader::put(std::string_view data) {
  if (data.size() > limits_.body - answer_.body.size()) {
    return done(CallFault::kTooLarge, "its body is larger than allowed");
  }
  answer_.body.append(data);
  return State::kMore;
}

void AnswerReader::end() {
  if (in_body_ && body_.kind == BodyKind::kUntilClose) {
    done(CallFault::kNone);
  } else {
    done(CallFault::kClosed, "the connection was closed before the whole answer");
  }
}

AnswerReader::State AnswerReader::done(CallFault fault, std::string_view detail) {
  // Nothing is taken for an answer of what is none.
  if (fault != CallFault::kNone) answer_ = {};
  finished_ = true;
  answer_.fault = fault;
  answer_.detail = detail;
  return State::kDone;
}

}  // namespace edge::net::client
