#include "net/http2/response_reader.h"

#include <algorithm>

#include "base/text/ascii.h"

namespace edge::net::http2 {
namespace {

using http1::BodyKind;
using http1::ChunkedDecoder;
using http1::HeadFields;
using http1::ParseState;

}  // namespace

ResponseReader::Step ResponseReader::next(std::string_view text, const http1::HeadLimits& limits,
                                          http1::ResponseHead& head) {
  switch (state_) {
    case State::kHead:
      if (text.empty()) return {};
      return read_head(text, limits, head);
    case State::kLength: {
      const std::string_view data =
          text.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(text.size(), left_)));
      if (left_ == 0) {
        state_ = State::kEnded;
        return {Event::kEnd, 0, {}};
      }
      left_ -= data.size();
      return {data.empty() ? Event::kMore : Event::kData, data.size(), data};
    }
    case State::kChunked: {
      if (text.empty()) return {};
      const ChunkedDecoder::Step step = chunks_.next(text);
      if (step.state == ChunkedDecoder::State::kFault) return {Event::kFault, 0, {}};
      if (step.state == ChunkedDecoder::State::kEnd) {
        state_ = State::kEnded;
        return {Event::kEnd, step.consumed, {}};
      }
      return {step.data.empty() ? Event::kMore : Event::kData, step.consumed, step.data};
    }
    case State::kUntilClose:
      return {text.empty() ? Event::kMore : Event::kData, text.size(), text};
    case State::kEnded:
      break;
  }
  // A stream has one response; a session that writes another has lost its way.
  return {text.empty() ? Event::kMore : Event::kFault, 0, {}};
}

ResponseReader::Step ResponseReader::read_head(std::string_view text, const http1::HeadLimits& limits,
                                               http1::ResponseHead& head) {
  const std::size_t before = torn_.size();
  if (before != 0) {
    torn_.append(text);
    text = torn_.view();
  }
  const http1::ParseResult parsed = http1::parse_response(text, method_, limits, hint_, head);
  if (parsed.state == ParseState::kFault) return {Event::kFault, 0, {}};
  if (parsed.state == ParseState::kIncomplete) {
    if (before == 0) torn_.append(text);
    return {Event::kMore, text.size() - before, {}};
  }
  hint_ = {};
  const std::size_t consumed = parsed.consumed - before;
  // The views of `head` point into torn_, which is not touched again before the next head.
  if (before != 0) torn_.consume(torn_.size());
  if (head.status == 101 && tunnel_) {
    state_ = State::kUntilClose;
    return {Event::kHead, consumed, {}};
  }
  if (head.status == 101) return {Event::kFault, 0, {}};
  if (head.status < 200) return {Event::kInterim, consumed, {}};
  left_ = head.body.length;
  switch (head.body.kind) {
    case BodyKind::kNone:
      state_ = State::kEnded;
      break;
    case BodyKind::kLength:
      state_ = left_ == 0 ? State::kEnded : State::kLength;
      break;
    case BodyKind::kChunked:
      state_ = State::kChunked;
      break;
    case BodyKind::kUntilClose:
      state_ = State::kUntilClose;
      break;
  }
  return {Event::kHead, consumed, {}};
}

bool ResponseReader::close() {
  if (state_ == State::kUntilClose || (state_ == State::kLength && left_ == 0)) state_ = State::kEnded;
  return ended();
}

void response_fields(const http1::ResponseHead& head, char (&status_text)[3], std::vector<Field>& out) {
  out.clear();
  // RFC 8441 §5: what 101 is to HTTP/1.1, a 2xx is to CONNECT.
  const unsigned status = head.status == 101 ? 200 : head.status;
  status_text[0] = static_cast<char>('0' + status / 100);
  status_text[1] = static_cast<char>('0' + status / 10 % 10);
  status_text[2] = static_cast<char>('0' + status % 10);
  out.push_back({":status", {status_text, 3}});
  const HeadFields& fields = head.fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.hop_by_hop(i)) continue;
    if (head.status == 101 && equals_ignoring_case(fields[i].name, "sec-websocket-accept")) continue;
    out.push_back(fields[i]);
  }
}

void trailer_fields(std::string_view lines, std::vector<Field>& out) {
  out.clear();
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    out.push_back({line.substr(0, colon), trim_blanks(line.substr(colon + 1))});
  }
}

}  // namespace edge::net::http2
