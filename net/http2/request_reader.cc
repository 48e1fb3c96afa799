#include "net/http2/request_reader.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "net/http2/web_socket.h"

namespace edge::net::http2 {

using http1::BodyKind;
using http1::ChunkedDecoder;
using http1::KnownField;
using http1::ParseState;

RequestReader::Step RequestReader::next(std::string_view text, const http1::HeadLimits& limits,
                                        http1::RequestHead& head) {
  if (text.empty()) return {};
  switch (state_) {
    case State::kHead:
      return read_head(text, limits, head);
    case State::kLength:
      return read_length(text);
    case State::kChunked:
      return read_chunks(text);
    case State::kTunnel:
      return {Event::kData, text.size(), text};
    case State::kEnded:
      break;
  }
  // A stream has one request.
  return {Event::kFault, 0, {}};
}

RequestReader::Step RequestReader::read_head(std::string_view text, const http1::HeadLimits& limits,
                                             http1::RequestHead& head) {
  const std::size_t before = torn_.size();
  if (before != 0) {
    torn_.append(text);
    text = torn_.view();
  }
  const http1::ParseResult parsed = http1::parse_request(text, limits, hint_, head);
  if (parsed.state == ParseState::kFault) return {Event::kFault, 0, {}};
  if (parsed.state == ParseState::kIncomplete) {
    if (before == 0) torn_.append(text);
    return {Event::kMore, text.size() - before, {}};
  }
  // The views of `head` may point into torn_, which is not touched again.
  left_ = head.body.length;
  switch (head.body.kind) {
    case BodyKind::kLength:
      state_ = left_ == 0 ? State::kEnded : State::kLength;
      break;
    case BodyKind::kChunked:
      state_ = State::kChunked;
      break;
    case BodyKind::kNone:
    case BodyKind::kUntilClose:
      state_ = State::kEnded;
      break;
  }
  return {Event::kHead, parsed.consumed - before, {}};
}

RequestReader::Step RequestReader::read_length(std::string_view text) {
  const std::string_view data = text.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(text.size(), left_)));
  left_ -= data.size();
  if (left_ == 0) state_ = State::kEnded;
  return {Event::kData, data.size(), data};
}

RequestReader::Step RequestReader::read_chunks(std::string_view text) {
  const ChunkedDecoder::Step step = chunks_.next(text);
  if (step.state == ChunkedDecoder::State::kFault) return {Event::kFault, 0, {}};
  if (step.state == ChunkedDecoder::State::kEnd) {
    state_ = State::kEnded;
    return {Event::kEnd, step.consumed, {}};
  }
  return {step.data.empty() ? Event::kMore : Event::kData, step.consumed, step.data};
}

namespace {

void add_target(const http1::RequestHead& head, std::string_view scheme, std::vector<Field>& out) {
  out.push_back({":scheme", scheme});
  if (!head.host.empty()) out.push_back({":authority", head.host});
  out.push_back({":path", head.target});
}

bool passes(const http1::HeadFields& fields, std::size_t i) {
  return !fields.hop_by_hop(i) && fields.known(i) != KnownField::kHost;
}

}  // namespace

void request_fields(const http1::RequestHead& head, std::string_view scheme, std::vector<Field>& out) {
  out.clear();
  out.push_back({":method", head.method_text});
  add_target(head, scheme, out);
  for (std::size_t i = 0; i < head.fields.size(); ++i) {
    if (passes(head.fields, i)) out.push_back(head.fields[i]);
  }
  out.push_back({"te", "trailers"});
}

void tunnel_fields(const http1::RequestHead& head, std::string_view scheme, std::vector<Field>& out) {
  out.clear();
  out.push_back({":method", "CONNECT"});
  out.push_back({":protocol", "websocket"});
  add_target(head, scheme, out);
  for (std::size_t i = 0; i < head.fields.size(); ++i) {
    if (passes(head.fields, i) && !equals_ignoring_case(head.fields[i].name, kWebSocketKey)) {
      out.push_back(head.fields[i]);
    }
  }
}

void connect_fields(const http1::RequestHead& head, std::vector<Field>& out) {
  out.clear();
  out.push_back({":method", "CONNECT"});
  out.push_back({":authority", head.host});
  for (std::size_t i = 0; i < head.fields.size(); ++i) {
    if (passes(head.fields, i)) out.push_back(head.fields[i]);
  }
}

}  // namespace edge::net::http2
