#include "net/http2/server_connection.h"

#include <array>

#include "net/http2/errors.h"
#include "net/http2/nghttp2.h"
#include "net/http2/server_callbacks.h"
#include "net/http2/server_stream.h"

namespace edge::net::http2 {
namespace {

constexpr std::array<std::uint8_t, 8> kShutdownPing = {'s', 'h', 'u', 't', 'd', 'o', 'w', 'n'};

}  // namespace

struct ServerEngine::Nghttp2 : SessionMaker {
  Nghttp2() : SessionMaker(set_server_callbacks) {}
};

ServerEngine::ServerEngine(const ServerSettings& settings, std::uint64_t seed)
    : settings_(settings),
      written_{settings.head.max_bytes + kWrittenRoom, http1::HeadFields::kMax, 0},
      seed_(seed),
      nghttp2_(std::make_unique<Nghttp2>()) {}

ServerEngine::~ServerEngine() = default;

// ---- The connection -----------------------------------------------------------------------------------------------

ServerConnection::ServerConnection(ServerEngine& engine, Owner& owner, Time now)
    : engine_(engine),
      owner_(owner),
      text_(engine.settings_.head.max_bytes, ++engine.seed_),
      frames_(now),
      resets_(now),
      now_(now),
      progress_at_(now) {
  session_ = engine.nghttp2_->server(this);
  const ServerSettings& settings = engine.settings_;
  const std::array<nghttp2_settings_entry, 4> entries = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.max_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(settings.head.max_bytes)},
      {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, entries.data(), entries.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<std::int32_t>(settings.connection_window));
}

void ServerConnection::close() {
  while (all_ != nullptr) {
    ServerStream* stream = all_;
    unlink(*stream);
    stream->closed(false);
    if (!stream->attached_) delete stream;
  }
  opened_first_ = opened_last_ = nullptr;
  nghttp2_session_del(session_);
  session_ = nullptr;
}

bool ServerConnection::feed(std::string_view bytes, Time now) {
  now_ = now;
  if (failed_ || session_ == nullptr) return false;
  const auto taken =
      nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0) {
    failed_ = true;
    // What it gives up on is a flood (of frames to acknowledge, of CONTINUATION), or no HTTP/2 at all.
    const bool stranger = taken == NGHTTP2_ERR_BAD_CLIENT_MAGIC;
    nghttp2_session_terminate_session(session_, stranger ? NGHTTP2_PROTOCOL_ERROR : NGHTTP2_ENHANCE_YOUR_CALM);
  }
  if (output_waiting()) owner_.output_waits();
  return !failed_;
}

// Null: reset before anybody looked at it.
ServerStream* ServerConnection::take_opened() {
  ServerStream* stream = opened_first_;
  opened_first_ = stream->next_opened_;
  if (opened_first_ == nullptr) opened_last_ = nullptr;
  stream->opened_ = false;
  if (stream->connection_ != nullptr) return stream;
  delete stream;
  return nullptr;
}

std::unique_ptr<Layer> ServerConnection::next_opened() {
  while (opened_first_ != nullptr) {
    ServerStream* stream = take_opened();
    if (stream == nullptr) continue;
    stream->counted_given_ = true;
    ++given_;
    return stream->attach();
  }
  return nullptr;
}

void ServerConnection::refuse_opened() {
  ServerStream* stream = take_opened();
  if (stream == nullptr) return;
  if (const std::size_t unread = stream->in_.drop(); unread != 0) stream->credit(unread);
  reset(*stream, kRefusedStream);
}

std::size_t ServerConnection::produce(std::span<char> out, Time now) {
  now_ = now;
  return session_ == nullptr ? 0 : output_.produce(session_, out, failed_);
}

bool ServerConnection::output_waiting() const {
  return session_ != nullptr && nghttp2_session_want_write(session_) != 0;
}

bool ServerConnection::over() const {
  if (session_ == nullptr) return true;
  return !output_waiting() && (failed_ || nghttp2_session_want_read(session_) == 0);
}

void ServerConnection::spend(Patience& patience, unsigned cost) {
  if (!patience.spend(cost, now_)) give_up();
}

void ServerConnection::decoded(std::size_t size) {
  decoded_ += size;
  for (; decoded_ >= Patience::kDecodedAFrame; decoded_ -= Patience::kDecodedAFrame) spend(frames_, 1);
}

// ---- Streams ------------------------------------------------------------------------------------------------------

void ServerConnection::unlink(ServerStream& stream) {
  (stream.previous_ != nullptr ? stream.previous_->next_ : all_) = stream.next_;
  if (stream.next_ != nullptr) stream.next_->previous_ = stream.previous_;
  stream.previous_ = stream.next_ = nullptr;
  --live_;
  if (stream.counted_left_) --left_;
  if (stream.counted_given_) --given_;
}

void ServerConnection::resume(ServerStream& stream) {
  stream.deferred_ = false;
  nghttp2_session_resume_data(session_, stream.id_);
  owner_.output_waits();
}

void ServerConnection::consumed(ServerStream& stream, std::size_t bytes) {
  nghttp2_session_consume(session_, stream.id_, bytes);
  if (output_waiting()) owner_.output_waits();
}

void ServerConnection::reset(ServerStream& stream, std::uint32_t error) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id_, error);
  owner_.output_waits();
}

// Its session has left. What it wrote is still to be sent, what it did not read is passed over.
void ServerConnection::released(ServerStream& stream) {
  if (!stream.reader_.ended()) stream.reset();
  if (const std::size_t unread = stream.in_.drop(); unread != 0) stream.credit(unread);
  stream.counted_left_ = true;
  if (left_++ == 0) progress_at_ = now_;
}

// ---- Ends ---------------------------------------------------------------------------------------------------------

void ServerConnection::announce_shutdown() {
  nghttp2_submit_shutdown_notice(session_);
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, kShutdownPing.data());
  owner_.output_waits();
}

void ServerConnection::go_away() {
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
                        NGHTTP2_NO_ERROR, nullptr, 0);
  owner_.output_waits();
}

void ServerConnection::give_up() {
  nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  owner_.output_waits();
}

}  // namespace edge::net::http2
