#include "net/http2/client_stream.h"

#include <utility>

#include "base/text/ascii.h"
#include "net/http2/client_connection.h"
#include "net/http2/tcp_tunnel.h"
#include "net/http2/web_socket.h"

namespace edge::net::http2 {
namespace {

/// Of a request: calls of gRPC with all they send in one message mostly come to less.
constexpr std::size_t kMostKept = std::size_t{64} * 1024;

bool asks_for_web_socket(const http1::RequestHead& head) {
  return head.upgrade && head.method == http1::Method::kGet && head.body.kind == http1::BodyKind::kNone &&
         equals_ignoring_case(head.fields.value(http1::KnownField::kUpgrade), "websocket");
}

}  // namespace

ClientStream::~ClientStream() {
  if (connection_ != nullptr) connection_->released(*this);
}

// ---- The request --------------------------------------------------------------------------------------------------

Transfer ClientStream::send(Channel& channel, std::span<const iovec> pieces) {
  channel_ = &channel;
  if (connection_ == nullptr) return {Transfer::Kind::kFailed};
  if (out_.appetite() == 0) return {Transfer::Kind::kWouldBlock};
  if (keeps_) keep(pieces);
  std::size_t size = 0;
  for (const iovec& one : pieces) {
    if (!take_request({static_cast<const char*>(one.iov_base), one.iov_len})) {
      reset(channel);
      return {Transfer::Kind::kFailed};
    }
    size += one.iov_len;
  }
  if (deferred_ && (!out_.empty() || reader_.ended())) connection_->resume(*this);
  return {Transfer::Kind::kDone, size};
}

void ClientStream::keep(std::span<const iovec> pieces) {
  std::size_t size = kept_.size();
  for (const iovec& one : pieces) size += one.iov_len;
  keeps_ = size <= kMostKept;
  if (!keeps_) return kept_.release();
  for (const iovec& one : pieces) kept_.append({static_cast<const char*>(one.iov_base), one.iov_len});
}

bool ClientStream::take_request(std::string_view text) {
  using Event = RequestReader::Event;
  ClientEngine& engine = connection_->engine_;
  while (!text.empty()) {
    const RequestReader::Step step = reader_.next(text, engine.written_, engine.head_);
    if (step.event == Event::kFault) return false;
    if (step.event == Event::kHead && !begin(engine.head_)) return false;
    if (step.event == Event::kData) out_.append(step.data);
    text.remove_prefix(step.consumed);
  }
  return true;
}

bool ClientStream::begin(const http1::RequestHead& head) {
  if (head.upgrade && asks_for_tcp(head)) {
    reader_.begin_tunnel();
    accept_ = std::make_unique<const std::string>();
    return connection_->submit(*this, head);
  }
  // One that is too large to be kept cannot wait.
  if (!asks_for_web_socket(head) || !keeps_) return connection_->submit(*this, head);
  waits_for_settings_ = !connection_->settings_known();
  if (waits_for_settings_) return true;
  if (connection_->takes_tunnels()) {
    reader_.begin_tunnel();
    accept_ = std::make_unique<const std::string>(web_socket_accept(web_socket_key(head)));
  }
  return connection_->submit(*this, head);
}

void ClientStream::settings_came() {
  if (!std::exchange(waits_for_settings_, false)) return;
  ClientEngine& engine = connection_->engine_;
  http1::ParseHint hint;
  const auto parsed = http1::parse_request(kept_.view(), engine.written_, hint, engine.head_);
  if (parsed.state == http1::ParseState::kComplete && begin(engine.head_)) return;
  connection_->released(*this);
  closed(false);
}

// A broken one is for `send` to tell of.
std::size_t ClientStream::appetite() { return connection_ == nullptr ? OutgoingBody::kLeast : out_.appetite(); }

void ClientStream::sent(std::size_t size) {
  if (out_.took(size) && channel_ != nullptr) channel_->signal(kWrite);
}

// ---- The response -------------------------------------------------------------------------------------------------

void ClientStream::data_came(std::string_view data) {
  owed_ += data.size();
  in_.add_data(data);
  if (channel_ != nullptr) channel_->signal(kRead);
}

void ClientStream::response_ended() {
  in_.end();
  if (channel_ != nullptr) channel_->signal(kRead);
}

// Final or not: the backend has looked at the request.
void ClientStream::head_came() {
  keeps_ = false;
  kept_.release();
  if (channel_ != nullptr) channel_->signal(kRead);
}

void ClientStream::closed(bool refused) {
  connection_ = nullptr;
  out_.drop();
  untouched_ = refused && !has_head_;
  if (channel_ == nullptr) return;
  if (in_.ended()) {
    // Who still sends shall see that nobody listens.
    channel_->signal(kRead | kWrite);
  } else {
    channel_->signal_hang_up();
  }
}

Transfer ClientStream::receive(Channel& channel, std::span<char> into) {
  channel_ = &channel;
  const IncomingText::Taken taken = in_.take(into);
  if (taken.data != 0 && connection_ != nullptr) {
    owed_ -= taken.data;
    connection_->consumed(*this, taken.data);
  }
  if (taken.text != 0) return {Transfer::Kind::kDone, taken.text};
  if (into.empty()) return {Transfer::Kind::kWouldBlock};
  if (in_.ended()) return {Transfer::Kind::kEnd};
  return {connection_ == nullptr ? Transfer::Kind::kFailed : Transfer::Kind::kWouldBlock};
}

// ---- Ends ---------------------------------------------------------------------------------------------------------

// A request says itself where it ends; a tunnel does not.
bool ClientStream::finish(Channel& /*channel*/) {
  if (connection_ == nullptr) return false;
  reader_.end_tunnel();
  if (deferred_ && reader_.ended()) connection_->resume(*this);
  return true;
}

void ClientStream::reset(Channel& /*channel*/) {
  if (connection_ == nullptr) return;
  connection_->released(*this);
  connection_ = nullptr;
  out_.drop();
}

}  // namespace edge::net::http2
