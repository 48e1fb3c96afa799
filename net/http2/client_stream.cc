#include "net/http2/client_stream.h"

#include "net/http2/client_connection.h"

namespace edge::net::http2 {
namespace {

/// Over this, a session's request waits. What it is about to send is taken whole below it, so that nothing is copied
/// into a second queue.
constexpr std::size_t kEnough = std::size_t{16} * 1024;
/// Of a request: calls of gRPC with all they send in one message mostly come to less.
constexpr std::size_t kMostKept = std::size_t{64} * 1024;

}  // namespace

ClientStream::~ClientStream() {
  if (connection_ != nullptr) connection_->released(*this);
}

// ---- The request --------------------------------------------------------------------------------------------------

Transfer ClientStream::send(Channel& channel, std::span<const iovec> pieces) {
  channel_ = &channel;
  if (connection_ == nullptr) return {Transfer::Kind::kFailed};
  if (out_.size() > kEnough) {
    full_ = true;
    return {Transfer::Kind::kWouldBlock};
  }
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
    if (step.event == Event::kHead && !connection_->submit(*this, engine.head_)) return false;
    if (step.event == Event::kData) out_.append(step.data);
    text.remove_prefix(step.consumed);
  }
  return true;
}

void ClientStream::sent(std::size_t size) {
  out_.consume(size);
  if (out_.empty()) out_.release();
  if (!full_ || out_.size() > kEnough) return;
  full_ = false;
  if (channel_ != nullptr) channel_->signal(kWrite);
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
  out_.release();
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

// A request says itself where it ends.
bool ClientStream::finish(Channel& /*channel*/) { return connection_ != nullptr; }

void ClientStream::reset(Channel& /*channel*/) {
  if (connection_ == nullptr) return;
  connection_->released(*this);
  connection_ = nullptr;
}

}  // namespace edge::net::http2
