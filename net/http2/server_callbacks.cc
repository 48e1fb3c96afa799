// nghttp2's callbacks of a client's connection: frames to streams, and streams' data to frames. They never resume a
// session.
#include "net/http2/server_callbacks.h"

#include "net/http2/errors.h"
#include "net/http2/field_rules.h"
#include "net/http2/nghttp2.h"
#include "net/http2/server_connection.h"
#include "net/http2/server_stream.h"

namespace edge::net::http2 {
namespace {

ServerConnection& connection_of(void* user_data) { return *static_cast<ServerConnection*>(user_data); }

}  // namespace

struct ServerCallbacks {
  static ServerStream* find(nghttp2_session* session, std::int32_t id) {
    return static_cast<ServerStream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  // nghttp2 passes over HEADERS on a stream that it does not know, if a larger one was opened.
  static int begin_frame(nghttp2_session* session, const nghttp2_frame_hd* head, void* user_data) {
    ServerConnection& connection = connection_of(user_data);
    // Behind a head, wherever it ended.
    if (head->type != NGHTTP2_CONTINUATION) connection.head_since_ = kNever;
    if (head->type >= kFirstExtension) connection.spend(connection.frames_, 1);
    if (head->type != NGHTTP2_HEADERS || head->stream_id % 2 == 0) return 0;
    if (!connection.ids_.take(head->stream_id)) {
      nghttp2_session_terminate_session(session, NGHTTP2_PROTOCOL_ERROR);
    }
    return 0;
  }

  static int begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    ServerConnection& connection = connection_of(user_data);
    connection.head_since_ = connection.now_;
    connection.decoded_ = 0;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    auto* stream = new ServerStream(connection, connection.outgoing_, frame->hd.stream_id);
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
    stream->next_ = connection.all_;
    if (connection.all_ != nullptr) connection.all_->previous_ = stream;
    connection.all_ = stream;
    ++connection.live_;
    connection.text_.begin(stream->in_.heads());
    return 0;
  }

  /// The rest of a head that is refused is decoded without being looked at, and nghttp2 does not tell of its end. In
  /// its last frame it is not waited for; one that needs more frames has its time until a frame comes that is none of
  /// it.
  static void head_refused(ServerConnection& connection, const nghttp2_frame& frame) {
    if ((frame.hd.flags & NGHTTP2_FLAG_END_HEADERS) != 0) connection.head_since_ = kNever;
  }
  static int refuse_head(ServerConnection& connection, nghttp2_session* session, const nghttp2_frame& frame) {
    head_refused(connection, frame);
    return malformed(session, frame.hd.stream_id);
  }

  // nghttp2 would drop such a field and continue; a message with one is rejected instead.
  static int invalid_header(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t*, std::size_t,
                            const std::uint8_t*, std::size_t, std::uint8_t, void* user_data) {
    return refuse_head(connection_of(user_data), session, *frame);
  }

  // nghttp2 has reset its stream: a field that is refused, a head without a path, or trailers that do not end the
  // stream.
  static int invalid_frame(nghttp2_session*, const nghttp2_frame* frame, int, void* user_data) {
    if (frame->hd.type == NGHTTP2_HEADERS) head_refused(connection_of(user_data), *frame);
    return 0;
  }

  static int header(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                    void* user_data) {
    ServerConnection& connection = connection_of(user_data);
    const std::int32_t id = frame->hd.stream_id;
    const std::string_view field_name = view(name, name_size);
    const std::string_view field_value = view(value, value_size);
    connection.decoded(section_size(field_name, field_value));
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
      ServerStream* stream = find(session, id);
      if (stream == nullptr) return 0;
      return stream->in_.add_trailer(field_name, field_value) ? 0 : refuse_head(connection, session, *frame);
    }
    switch (connection.text_.add(field_name, field_value)) {
      case RequestText::Fault::kNone:
        return 0;
      case RequestText::Fault::kMalformed:
        return refuse_head(connection, session, *frame);
      case RequestText::Fault::kBomb:
        connection.give_up();
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    return 0;
  }

  static int frame_received(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    ServerConnection& connection = connection_of(user_data);
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
        return headers_received(connection, session, *frame);
      case NGHTTP2_DATA:
        if (ends_stream(frame->hd)) {
          if (ServerStream* stream = find(session, frame->hd.stream_id)) stream->request_ended();
        } else if (frame->hd.length == frame->data.padlen) {
          connection.spend(connection.frames_, 1);
          break;
        }
        connection.frames_.earn_bytes(frame->hd.length - frame->data.padlen);
        break;
      case NGHTTP2_RST_STREAM:
        connection.spend(connection.resets_, Patience::kReset);
        break;
      case NGHTTP2_PING:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) {
          connection.shutdown_heard_ = true;
        } else {
          connection.spend(connection.frames_, 1);
        }
        break;
      default:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) connection.spend(connection.frames_, 1);
        break;
    }
    return 0;
  }

  static int headers_received(ServerConnection& connection, nghttp2_session* session, const nghttp2_frame& frame) {
    connection.head_since_ = kNever;
    ServerStream* stream = find(session, frame.hd.stream_id);
    if (stream == nullptr) return 0;
    if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
      if (connection.text_.finish(ends_stream(frame.hd)) != RequestText::Fault::kNone) {
        malformed(session, frame.hd.stream_id);
        return 0;
      }
      stream->request_came(connection.text_.body(),
                           connection.text_.head_only() ? http1::Method::kHead : http1::Method::kGet);
      stream->opened_ = true;
      (connection.opened_last_ == nullptr ? connection.opened_first_ : connection.opened_last_->next_opened_) = stream;
      connection.opened_last_ = stream;
      ++connection.requests_;
    }
    if (ends_stream(frame.hd)) stream->request_ended();
    return 0;
  }

  static int data_chunk(nghttp2_session* session, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                        std::size_t size, void*) {
    if (ServerStream* stream = find(session, id)) {
      stream->data_came(view(data, size));
    } else {
      nghttp2_session_consume(session, id, size);
    }
    return 0;
  }

  static int stream_closed(nghttp2_session* session, std::int32_t id, std::uint32_t, void* user_data) {
    ServerStream* stream = find(session, id);
    if (stream == nullptr) return 0;
    ServerConnection& connection = connection_of(user_data);
    if (stream->owed_ != 0) nghttp2_session_consume_connection(session, stream->owed_);
    stream->owed_ = 0;
    connection.unlink(*stream);
    stream->closed(stream->response_sent_);
    if (!stream->attached_ && !stream->opened_) delete stream;
    return 0;
  }

  // RFC 9113 §8.1: a response that is complete before its request asks the client to stop, without a fault.
  static int frame_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    ServerConnection& connection = connection_of(user_data);
    const std::uint8_t type = frame->hd.type;
    if (type == NGHTTP2_RST_STREAM) {
      // Our resets that a client provoked count as its own (CVE-2025-8671).
      const std::uint32_t error = frame->rst_stream.error_code;
      if (error != kNoError && error != kInternalError) connection.spend(connection.resets_, Patience::kReset);
      return 0;
    }
    if (type != NGHTTP2_HEADERS && type != NGHTTP2_DATA) return 0;
    connection.progress_at_ = connection.now_;
    ServerStream* stream = find(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    if (type == NGHTTP2_HEADERS) {
      connection.frames_.earn(8);
    } else {
      connection.frames_.earn_sent(frame->hd.length, !stream->out_.empty());
    }
    if (!ends_stream(frame->hd)) return 0;
    stream->response_sent_ = true;
    if (stream->in_.ended()) {
      connection.resets_.earn(Patience::kCompleted);
    } else {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }

  // A head that is too large for nghttp2.
  static int frame_not_sent(nghttp2_session* session, const nghttp2_frame* frame, int, void*) {
    if (frame->hd.type == NGHTTP2_HEADERS) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_INTERNAL_ERROR);
    }
    return 0;
  }

  static ssize_t read_body(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t length, std::uint32_t* flags,
                           nghttp2_data_source* source, void* user_data) {
    ServerStream& stream = *static_cast<ServerStream*>(source->ptr);
    const ssize_t size = offer(stream.out_, stream.reader_.ended(), length, flags);
    stream.deferred_ = size == NGHTTP2_ERR_DEFERRED;
    if ((*flags & NGHTTP2_DATA_FLAG_EOF) != 0 && !stream.reader_.trailer_lines().empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      connection_of(user_data).submit_trailers(stream);
    }
    return size;
  }

  static int send_body(nghttp2_session*, nghttp2_frame*, const std::uint8_t* head, std::size_t size,
                       nghttp2_data_source* source, void* user_data) {
    ServerStream& stream = *static_cast<ServerStream*>(source->ptr);
    if (!connection_of(user_data).output_.write_data(head, stream.out_.front(size))) return NGHTTP2_ERR_WOULDBLOCK;
    stream.sent(size);
    return 0;
  }
};

void ServerConnection::respond(ServerStream& stream, const http1::ResponseHead& head) {
  char status[3];
  response_fields(head, status, engine_.fields_);
  const Pairs pairs(engine_.fields_);
  nghttp2_data_provider body{};
  body.source.ptr = &stream;
  body.read_callback = ServerCallbacks::read_body;
  nghttp2_submit_response(session_, stream.id_, pairs.data(), pairs.size(), stream.reader_.ended() ? nullptr : &body);
  owner_.output_waits();
}

void ServerConnection::inform(ServerStream& stream, const http1::ResponseHead& head) {
  char status[3];
  response_fields(head, status, engine_.fields_);
  const Pairs pairs(engine_.fields_);
  nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream.id_, nullptr, pairs.data(), pairs.size(), nullptr);
  owner_.output_waits();
}

void ServerConnection::submit_trailers(ServerStream& stream) {
  trailer_fields(stream.reader_.trailer_lines(), engine_.fields_);
  const Pairs pairs(engine_.fields_);
  nghttp2_submit_trailer(session_, stream.id_, pairs.data(), pairs.size());
}

void set_server_callbacks(nghttp2_session_callbacks* callbacks) {
  set_callbacks<ServerCallbacks>(callbacks);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, ServerCallbacks::invalid_frame);
}

}  // namespace edge::net::http2
