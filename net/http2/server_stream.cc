#include "net/http2/server_stream.h"

#include <algorithm>
#include <cstring>

#include "net/http1/chunked.h"
#include "net/http2/errors.h"
#include "net/http2/server_connection.h"

namespace edge::net::http2 {
namespace {

/// Over this, a session's response waits. What it is about to send is taken whole below it, so that nothing is copied
/// into a second queue.
constexpr std::size_t kEnough = std::size_t{16} * 1024;
/// What stands around the data of a chunk.
constexpr std::size_t kChunkFrame = http1::kMaxChunkHead + http1::kChunkEnd.size();

}  // namespace

/// Passes the calls of a channel on; tells the stream when the channel is closed.
class ServerStream::SessionLayer final : public Layer {
 public:
  explicit SessionLayer(ServerStream& stream) : stream_(stream) {}
  ~SessionLayer() override { stream_.detach(); }
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* memory, std::size_t size) { free_frame(memory, size); }

  Transfer receive(Channel& channel, std::span<char> into) override { return stream_.receive(channel, into); }
  Transfer send(Channel& channel, std::span<const iovec> pieces) override { return stream_.send(channel, pieces); }
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
  form_ = form;
  reader_ = ResponseReader(method, form == BodyForm::kRaw);
}

void ServerStream::data_came(std::string_view data) {
  owed_ += data.size();
  if (!attached_ && !opened_) return credit(data.size());
  data_.append(data);
  if (channel_ != nullptr) channel_->signal(kRead);
}

void ServerStream::trailer_came(std::string_view name, std::string_view value) {
  // A body of announced length has no place for them in HTTP/1.1.
  if (form_ != BodyForm::kChunked) return;
  if (trailers_ == nullptr) trailers_ = std::make_unique<std::string>();
  trailers_->append(name).append(": ").append(value).append("\r\n");
}

void ServerStream::request_ended() {
  request_ended_ = true;
  if (channel_ != nullptr) channel_->signal(kRead);
}

void ServerStream::closed(bool whole) {
  connection_ = nullptr;
  if (!whole && channel_ != nullptr) channel_->signal_hang_up();
}

Transfer ServerStream::receive(Channel& channel, std::span<char> into) {
  channel_ = &channel;
  std::size_t size = take_text(into);
  if (text_.empty() && !data_.empty()) size += take_data(into.subspan(size));
  if (text_.empty() && data_.empty() && request_ended_ && !chunks_ended_) {
    end_chunks();
    size += take_text(into.subspan(size));
  }
  if (size != 0) return {Transfer::Kind::kDone, size};
  if (into.empty()) return {Transfer::Kind::kWouldBlock};
  if (request_ended_) return {Transfer::Kind::kEnd};
  return {connection_ == nullptr ? Transfer::Kind::kFailed : Transfer::Kind::kWouldBlock};
}

std::size_t ServerStream::take_text(std::span<char> into) {
  const std::size_t size = std::min(text_.size(), into.size());
  if (size == 0) return 0;
  std::memcpy(into.data(), text_.view().data(), size);
  text_.consume(size);
  if (text_.empty()) text_.release();
  return size;
}

std::size_t ServerStream::take_data(std::span<char> into) {
  std::size_t taken = 0;
  if (form_ != BodyForm::kChunked) {
    taken = std::min(data_.size(), into.size());
    std::memcpy(into.data(), data_.view().data(), taken);
  } else if (into.size() <= kChunkFrame) {
    // No room for a frame around it: by way of text_.
    char head[http1::kMaxChunkHead];
    taken = std::min(data_.size(), kEnough);
    text_.append({head, http1::write_chunk_head(taken, head)});
    text_.append(data_.view().substr(0, taken));
    text_.append(http1::kChunkEnd);
  }
  if (taken != 0) {
    data_.consume(taken);
    if (data_.empty()) data_.release();
    credit(taken);
    return form_ != BodyForm::kChunked ? taken : take_text(into);
  }
  char head[http1::kMaxChunkHead];
  taken = std::min(data_.size(), into.size() - kChunkFrame);
  const std::size_t head_size = http1::write_chunk_head(taken, head);
  std::memcpy(into.data(), head, head_size);
  std::memcpy(into.data() + head_size, data_.view().data(), taken);
  std::memcpy(into.data() + head_size + taken, http1::kChunkEnd.data(), http1::kChunkEnd.size());
  data_.consume(taken);
  if (data_.empty()) data_.release();
  credit(taken);
  return head_size + taken + http1::kChunkEnd.size();
}

void ServerStream::end_chunks() {
  chunks_ended_ = true;
  if (form_ != BodyForm::kChunked) return;
  text_.append(http1::kLastChunkLine);
  if (trailers_ != nullptr) text_.append(*trailers_);
  text_.append(http1::kChunkEnd);
  trailers_.reset();
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
  if (out_.size() > kEnough) {
    full_ = true;
    return {Transfer::Kind::kWouldBlock};
  }
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

void ServerStream::sent(std::size_t size) {
  out_.consume(size);
  if (out_.empty()) out_.release();
  if (!full_ || out_.size() > kEnough) return;
  full_ = false;
  if (channel_ != nullptr) channel_->signal(kWrite);
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
