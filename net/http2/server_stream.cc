#include "net/http2/server_stream.h"

#include "net/http2/errors.h"
#include "net/http2/server_connection.h"

namespace edge::net::http2 {

/// Forwards the calls of a channel; notifies the stream when the channel is closed.
class ServerStream::SessionLayer final : public Layer {
 public:
  explicit SessionLayer(ServerStream& stream) : stream_(stream) {}
  ~SessionLayer() override { stream_.detach(); }
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* memory, std::size_t size) { free_frame(memory, size); }

  Transfer receive(Channel& channel, std::span<char> into) override { return stream_.receive(channel, into); }
  Transfer send(Channel& channel, std::span<const iovec> pieces) override { return stream_.send(channel, pieces); }
  std::size_t appetite() override { return stream_.appetite(); }
  bool finish(Channel&) override { return stream_.finish(); }
  void reset(Channel&) override { stream_.reset(); }

 private:
  ServerStream& stream_;
};

std::unique_ptr<Layer> ServerStream::attach() {
  attached_ = true;
  return std::make_unique<SessionLayer>(*this);
}

void ServerStream::detach() {
  attached_ = false;
  channel_ = nullptr;
  if (connection_ != nullptr) {
    connection_->released(*this);
  } else {
    delete this;
  }
}

// ---- The request --------------------------------------------------------------------------------------------------

void ServerStream::request_came(BodyForm form, http1::Method method) {
  in_.set_chunked(form == BodyForm::kChunked);
  reader_ = ResponseReader(method, form == BodyForm::kRaw);
}

void ServerStream::data_came(std::string_view data) {
  owed_ += data.size();
  if (!attached_ && !opened_) return credit(data.size());
  in_.add_data(data);
  if (channel_ != nullptr) channel_->signal(kRead);
}

void ServerStream::request_ended() {
  in_.end();
  if (channel_ != nullptr) channel_->signal(kRead);
}

void ServerStream::closed(bool whole) {
  connection_ = nullptr;
  out_.drop();
  if (!whole && channel_ != nullptr) channel_->signal_hang_up();
}

Transfer ServerStream::receive(Channel& channel, std::span<char> into) {
  channel_ = &channel;
  const IncomingText::Taken taken = in_.take(into);
  if (taken.data != 0) credit(taken.data);
  if (taken.text != 0) return {Transfer::Kind::kDone, taken.text};
  if (into.empty()) return {Transfer::Kind::kWouldBlock};
  if (in_.ended()) return {Transfer::Kind::kEnd};
  return {connection_ == nullptr ? Transfer::Kind::kFailed : Transfer::Kind::kWouldBlock};
}

// Once the stream is closed, the connection's window was opened for all of it already.
void ServerStream::credit(std::size_t taken) {
  if (connection_ == nullptr) return;
  owed_ -= taken;
  connection_->consumed(*this, taken);
}

// ---- The response -------------------------------------------------------------------------------------------------

Transfer ServerStream::send(Channel& channel, std::span<const iovec> pieces) {
  channel_ = &channel;
  if (connection_ == nullptr || was_reset_) return {Transfer::Kind::kFailed};
  if (out_.appetite() == 0) return {Transfer::Kind::kWouldBlock};
  std::size_t size = 0;
  const bool waited = deferred_;
  for (const iovec& one : pieces) {
    if (!take_response({static_cast<const char*>(one.iov_base), one.iov_len})) {
      reset();
      return {Transfer::Kind::kFailed};
    }
    size += one.iov_len;
  }
  if (waited && (!out_.empty() || reader_.ended())) connection_->resume(*this);
  return {Transfer::Kind::kDone, size};
}

bool ServerStream::take_response(std::string_view text) {
  using Event = ResponseReader::Event;
  ServerEngine& engine = connection_->engine_;
  for (;;) {
    const ResponseReader::Step step = reader_.next(text, engine.written_, engine.head_);
    switch (step.event) {
      case Event::kFault:
        return false;
      case Event::kInterim:
        connection_->inform(*this, engine.head_);
        break;
      case Event::kHead:
        connection_->respond(*this, engine.head_);
        break;
      case Event::kData:
        out_.append(step.data);
        break;
      case Event::kEnd:
      case Event::kMore:
        break;
    }
    if (connection_ == nullptr) return true;
    if (step.consumed == 0 && step.event != Event::kInterim && step.event != Event::kHead) return text.empty();
    text.remove_prefix(step.consumed);
  }
}

// A broken one is for `send` to tell of.
std::size_t ServerStream::appetite() {
  return connection_ == nullptr || was_reset_ ? OutgoingBody::kLeast : out_.appetite();
}

void ServerStream::sent(std::size_t size) {
  if (out_.took(size) && channel_ != nullptr) channel_->signal(kWrite);
}

bool ServerStream::finish() {
  if (connection_ == nullptr) return response_sent_;
  if (!reader_.close()) {
    reset();
    return false;
  }
  if (deferred_) connection_->resume(*this);
  return true;
}

void ServerStream::reset() {
  if (connection_ == nullptr || was_reset_ || output_done()) return;
  was_reset_ = true;
  connection_->reset(*this, kInternalError);
}

}  // namespace edge::net::http2
