#include "net/http2/client_connection.h"

#include <algorithm>
#include <array>
#include <utility>

#include "net/http2/client_callbacks.h"
#include "net/http2/client_stream.h"
#include "net/http2/nghttp2.h"

namespace edge::net::http2 {

struct ClientEngine::Nghttp2 : SessionMaker {
  Nghttp2() : SessionMaker(set_client_callbacks) { nghttp2_option_set_no_closed_streams(option(), 1); }
};

ClientEngine::ClientEngine(const ClientSettings& settings)
    : settings_(settings),
      written_{settings.head.max_bytes + kWrittenRoom, http1::HeadFields::kMax, settings.head.max_bytes + kWrittenRoom},
      nghttp2_(std::make_unique<Nghttp2>()) {}

ClientEngine::~ClientEngine() = default;

// ---- The connection -----------------------------------------------------------------------------------------------

ClientConnection::ClientConnection(ClientEngine& engine, Owner& owner, bool secure, Time now)
    : engine_(engine),
      owner_(owner),
      text_(engine.settings_.head.max_bytes),
      patience_(now),
      now_(now),
      heard_at_(now),
      secure_(secure) {
  session_ = engine.nghttp2_->client(this);
  const ClientSettings& settings = engine.settings_;
  const std::array<nghttp2_settings_entry, 3> entries = {{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.first_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(settings.head.max_bytes)},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, entries.data(), entries.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<std::int32_t>(settings.connection_window));
}

ClientConnection::~ClientConnection() {
  while (all_ != nullptr) {
    ClientStream* stream = all_;
    unlink(*stream);
    stream->closed(!stream->head_sent_);
  }
  nghttp2_session_del(session_);
}

bool ClientConnection::feed(std::string_view bytes, Time now) {
  now_ = heard_at_ = now;
  if (failed_) return false;
  const auto taken =
      nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0) {
    failed_ = true;
    // What it gives up on is a flood (of frames to acknowledge, of CONTINUATION), or no HTTP/2 at all.
    nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  }
  if (output_waiting()) owner_.output_waits();
  return !failed_;
}

std::size_t ClientConnection::produce(std::span<char> out, Time now) {
  now_ = now;
  return output_.produce(session_, out, failed_);
}

bool ClientConnection::output_waiting() const { return nghttp2_session_want_write(session_) != 0; }

bool ClientConnection::over() const {
  return !output_waiting() && (failed_ || nghttp2_session_want_read(session_) == 0);
}

void ClientConnection::spend(unsigned cost) {
  if (patience_.spend(cost, now_)) return;
  nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  owner_.output_waits();
}

// ---- Streams ------------------------------------------------------------------------------------------------------

bool ClientConnection::closing() const {
  return failed_ || went_away_ || nghttp2_session_check_request_allowed(session_) == 0;
}

std::size_t ClientConnection::room() const {
  if (closing()) return 0;
  const std::size_t allowed = nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  const std::size_t most = std::min<std::size_t>(allowed, engine_.settings_.max_streams);
  return most > live_ ? most - live_ : 0;
}

std::unique_ptr<Layer> ClientConnection::open_stream() {
  auto stream = std::make_unique<ClientStream>(*this, outgoing_);
  stream->next_ = all_;
  if (all_ != nullptr) all_->previous_ = stream.get();
  all_ = stream.get();
  ++live_;
  return stream;
}

void ClientConnection::unlink(ClientStream& stream) {
  (stream.previous_ != nullptr ? stream.previous_->next_ : all_) = stream.next_;
  if (stream.next_ != nullptr) stream.next_->previous_ = stream.previous_;
  stream.previous_ = stream.next_ = nullptr;
  --live_;
  if (stream.wide_) widened_ -= engine_.settings_.stream_window - engine_.settings_.first_window;
}

void ClientConnection::resume(ClientStream& stream) {
  stream.deferred_ = false;
  nghttp2_session_resume_data(session_, stream.id_);
  owner_.output_waits();
}

void ClientConnection::consumed(ClientStream& stream, std::size_t bytes) {
  nghttp2_session_consume_stream(session_, stream.id_, bytes);
  if (!stream.wide_ && (stream.read_ += bytes) >= engine_.settings_.first_window) widen(stream);
  if (output_waiting()) owner_.output_waits();
}

// A session that reads is worth more bytes in flight; what is promised to a stream cannot be taken back from it.
void ClientConnection::widen(ClientStream& stream) {
  const ClientSettings& settings = engine_.settings_;
  const std::uint32_t more = settings.stream_window - settings.first_window;
  if (widened_ + more > settings.widened) return;
  stream.wide_ = true;
  widened_ += more;
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, stream.id_,
                                        static_cast<std::int32_t>(settings.stream_window));
}

// Its session has left before the stream was closed: what is not complete is not wanted any more.
void ClientConnection::released(ClientStream& stream) {
  unlink(stream);
  if (stream.id_ != 0) {
    nghttp2_session_set_stream_user_data(session_, stream.id_, nullptr);
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id_, NGHTTP2_CANCEL);
    owner_.output_waits();
  }
  owner_.stream_ended();
}

bool ClientConnection::takes_tunnels() const {
  return nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1;
}

void ClientConnection::settings_came() {
  if (std::exchange(settings_known_, true)) return;
  for (ClientStream* stream = all_; stream != nullptr;) {
    ClientStream* const next = stream->next_;
    stream->settings_came();
    stream = next;
  }
}

// ---- Signs of life and ends ---------------------------------------------------------------------------------------

void ClientConnection::ping() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  owner_.output_waits();
}

void ClientConnection::go_away() {
  went_away_ = true;
  nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
  owner_.output_waits();
}

}  // namespace edge::net::http2
