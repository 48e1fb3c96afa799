// nghttp2's callbacks of a connection to a backend: frames to streams, and streams' data to frames. They never resume a
// session.
#include "net/http2/client_callbacks.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/field_name.h"
#include "net/http2/client_connection.h"
#include "net/http2/client_stream.h"
#include "net/http2/nghttp2.h"
#include "net/http2/response_reader.h"

namespace edge::net::http2 {
namespace {

ClientConnection& connection_of(void* user_data) { return *static_cast<ClientConnection*>(user_data); }

}  // namespace

struct ClientCallbacks {
  using Fault = ResponseText::Fault;

  static ClientStream* find(nghttp2_session* session, std::int32_t id) {
    return static_cast<ClientStream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int begin_frame(nghttp2_session*, const nghttp2_frame_hd* head, void* user_data) {
    if (head->type >= kFirstExtension) connection_of(user_data).spend(1);
    return 0;
  }

  static int begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    ClientStream* stream = find(session, frame->hd.stream_id);
    if (stream == nullptr || stream->has_head_) return 0;
    connection_of(user_data).text_.begin(stream->in_.heads(), stream->accept_.get());
    return 0;
  }

  // nghttp2 would drop such a field and continue; a message with one is rejected instead.
  static int invalid_header(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t*, std::size_t,
                            const std::uint8_t*, std::size_t, std::uint8_t, void*) {
    return malformed(session, frame->hd.stream_id);
  }

  static int header(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                    void* user_data) {
    const std::int32_t id = frame->hd.stream_id;
    ClientStream* stream = find(session, id);
    // Its session has left in the middle of the block: the rest is decoded without being looked at.
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const std::string_view field_name = view(name, name_size);
    const std::string_view field_value = view(value, value_size);
    if (!stream->has_head_) {
      const bool good = connection_of(user_data).text_.add(field_name, field_value) == Fault::kNone;
      return good ? 0 : malformed(session, id);
    }
    return stream->in_.add_trailer(field_name, field_value) ? 0 : malformed(session, id);
  }

  static int frame_received(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    ClientConnection& connection = connection_of(user_data);
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
        return headers_received(connection, session, *frame);
      case NGHTTP2_DATA:
        if (ends_stream(frame->hd)) {
          if (ClientStream* stream = find(session, frame->hd.stream_id)) stream->response_ended();
        } else if (frame->hd.length == frame->data.padlen) {
          connection.spend(1);
          break;
        }
        connection.patience_.earn_bytes(frame->hd.length - frame->data.padlen);
        break;
      case NGHTTP2_SETTINGS:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) break;
        connection.spend(1);
        connection.settings_came();
        break;
      case NGHTTP2_GOAWAY:
        connection.owner_.stream_ended();
        break;
      default:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) connection.spend(1);
        break;
    }
    return 0;
  }

  static int headers_received(ClientConnection& connection, nghttp2_session* session, const nghttp2_frame& frame) {
    ClientStream* stream = find(session, frame.hd.stream_id);
    if (stream == nullptr) return 0;
    connection.patience_.earn(2);
    const bool last = ends_stream(frame.hd);
    if (!stream->has_head_) {
      if (connection.text_.finish(last, stream->method_) != Fault::kNone) {
        malformed(session, frame.hd.stream_id);
        return 0;
      }
      stream->has_head_ = !connection.text_.interim();
      // Many interim heads are counted by who relays them; here they may not grow without bound.
      if (!stream->has_head_) connection.spend(Patience::kReset);
      stream->in_.set_chunked(connection.text_.chunked());
      stream->head_came();
    }
    if (last) stream->response_ended();
    return 0;
  }

  static int data_chunk(nghttp2_session* session, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                        std::size_t size, void*) {
    // One stream's session that takes nothing must not hold up the others.
    nghttp2_session_consume_connection(session, size);
    if (ClientStream* stream = find(session, id)) stream->data_came(view(data, size));
    return 0;
  }

  static int stream_closed(nghttp2_session* session, std::int32_t id, std::uint32_t error, void* user_data) {
    ClientStream* stream = find(session, id);
    if (stream == nullptr) return 0;
    ClientConnection& connection = connection_of(user_data);
    nghttp2_session_set_stream_user_data(session, id, nullptr);
    connection.unlink(*stream);
    stream->closed(error == NGHTTP2_REFUSED_STREAM || !stream->head_sent_);
    connection.owner_.stream_ended();
    return 0;
  }

  static int frame_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    ClientStream* stream = find(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS) stream->head_sent_ = true;
    if (frame->hd.type == NGHTTP2_DATA) {
      connection_of(user_data).patience_.earn_sent(frame->hd.length, !stream->out_.empty());
    }
    return 0;
  }

  // After GOAWAY, or a head that is too large for nghttp2. The stream never came to be.
  static int frame_not_sent(nghttp2_session* session, const nghttp2_frame* frame, int, void* user_data) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    return stream_closed(session, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM, user_data);
  }

  // A stream whose session has left may still be asked for, until its reset was sent.
  static ssize_t read_body(nghttp2_session* session, std::int32_t id, std::uint8_t*, std::size_t length,
                           std::uint32_t* flags, nghttp2_data_source*, void* user_data) {
    ClientStream* stream = find(session, id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const ssize_t size = offer(stream->out_, stream->reader_.ended(), length, flags);
    stream->deferred_ = size == NGHTTP2_ERR_DEFERRED;
    if ((*flags & NGHTTP2_DATA_FLAG_EOF) != 0 && !stream->reader_.trailer_lines().empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      connection_of(user_data).submit_trailers(*stream);
    }
    return size;
  }

  static int send_body(nghttp2_session* session, nghttp2_frame* frame, const std::uint8_t* head, std::size_t size,
                       nghttp2_data_source*, void* user_data) {
    ClientStream* stream = find(session, frame->hd.stream_id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (!connection_of(user_data).output_.write_data(head, stream->out_.front(size))) return NGHTTP2_ERR_WOULDBLOCK;
    stream->sent(size);
    return 0;
  }
};

namespace {

/// Sets the label and its counter, whose text must outlive the fields.
void set_label(const RequestLabel& label, std::string& count_text, std::vector<Field>& fields) {
  unsigned count = 0;
  for (const Field& field : fields) {
    if (!same_field(field.name, label.counter)) continue;
    unsigned counted = label.most;  // what is no number counts as enough
    const char* const end = field.value.data() + field.value.size();
    const auto read = std::from_chars(field.value.data(), end, counted);
    count = std::max(count, read.ec == std::errc() && read.ptr == end ? counted : label.most);
  }
  std::erase_if(fields, [&](const Field& field) {
    return same_field(field.name, label.name) || same_field(field.name, label.counter);
  });
  if (count >= label.most) return;
  count_text = std::to_string(count + 1);
  fields.push_back({label.name, label.value});
  fields.push_back({label.counter, count_text});
}

}  // namespace

bool ClientConnection::submit(ClientStream& stream, const http1::RequestHead& head) {
  const std::string_view scheme = secure_ ? "https" : "http";
  if (stream.accept_ != nullptr) {
    stream.accept_->empty() ? connect_fields(head, engine_.fields_) : tunnel_fields(head, scheme, engine_.fields_);
  } else {
    request_fields(head, scheme, engine_.fields_);
  }
  if (!label_.value.empty()) [[unlikely]] {
    set_label(label_, label_count_, engine_.fields_);
  }
  const Pairs pairs(engine_.fields_);
  nghttp2_data_provider body{};
  body.read_callback = ClientCallbacks::read_body;
  stream.method_ = head.method;
  const std::int32_t id = nghttp2_submit_request(session_, nullptr, pairs.data(), pairs.size(),
                                                 stream.reader_.ended() ? nullptr : &body, &stream);
  if (id < 0) return false;
  stream.id_ = id;
  owner_.output_waits();
  return true;
}

void ClientConnection::submit_trailers(ClientStream& stream) {
  trailer_fields(stream.reader_.trailer_lines(), engine_.fields_);
  const Pairs pairs(engine_.fields_);
  nghttp2_submit_trailer(session_, stream.id_, pairs.data(), pairs.size());
}

void set_client_callbacks(nghttp2_session_callbacks* callbacks) { set_callbacks<ClientCallbacks>(callbacks); }

}  // namespace edge::net::http2
