// Helpers around nghttp2 for both sides of a connection. For the source files of this folder only; no header includes
// it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "base/field.h"
#include "net/http1/head.h"
#include "net/http2/outgoing_body.h"

namespace edge::net::http2 {

/// Room that a sent head may need beyond a received one: filters add to it.
inline constexpr std::size_t kWrittenRoom = std::size_t{128} * 1024;

/// Frame types from here on are not defined by RFC 9113.
inline constexpr std::uint8_t kFirstExtension = NGHTTP2_CONTINUATION + 1;

template <typename T, typename Make>
T* made(Make make) {
  T* object = nullptr;
  // It fails for want of memory alone.
  if (make(&object) != 0) std::abort();
  return object;
}

/// Callbacks and options shared by the connections of a thread.
class SessionMaker {
 public:
  explicit SessionMaker(void (*set_callbacks)(nghttp2_session_callbacks*))
      : callbacks_(made<nghttp2_session_callbacks>(nghttp2_session_callbacks_new)),
        option_(made<nghttp2_option>(nghttp2_option_new)) {
    set_callbacks(callbacks_);
    // nghttp2 ignores unknown frames silently; to be counted they must be requested.
    const auto unpack = [](nghttp2_session*, void**, const nghttp2_frame_hd*, void*) -> int {
      return NGHTTP2_ERR_CANCEL;
    };
    nghttp2_session_callbacks_set_unpack_extension_callback(callbacks_, unpack);
    for (unsigned type = kFirstExtension; type <= 0xff; ++type) {
      nghttp2_option_set_user_recv_extension_type(option_, static_cast<std::uint8_t>(type));
    }
    nghttp2_option_set_no_auto_window_update(option_, 1);
    // nghttp2's own limit of resets does not consider answered requests; patience.h does.
    constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 62;
    nghttp2_option_set_stream_reset_rate_limit(option_, kUnlimited, kUnlimited);
    nghttp2_option_set_max_send_header_block_length(option_, 2 * kWrittenRoom);
  }
  ~SessionMaker() {
    nghttp2_session_callbacks_del(callbacks_);
    nghttp2_option_del(option_);
  }
  SessionMaker(const SessionMaker&) = delete;
  SessionMaker& operator=(const SessionMaker&) = delete;

  nghttp2_option* option() const { return option_; }
  nghttp2_session* server(void* user) const {
    return made<nghttp2_session>(
        [&](nghttp2_session** session) { return nghttp2_session_server_new2(session, callbacks_, user, option_); });
  }
  nghttp2_session* client(void* user) const {
    return made<nghttp2_session>(
        [&](nghttp2_session** session) { return nghttp2_session_client_new2(session, callbacks_, user, option_); });
  }

 private:
  nghttp2_session_callbacks* callbacks_;
  nghttp2_option* option_;
};

/// The fields for one submission: at most HeadFields::kMax, the pseudo-header fields and `te`.
class Pairs {
 public:
  explicit Pairs(const std::vector<Field>& fields) {
    for (const Field& field : fields) {
      if (count_ < pairs_.size()) pairs_[count_++] = pair_of(field);
    }
  }
  const nghttp2_nv* data() const { return pairs_.data(); }
  std::size_t size() const { return count_; }

 private:
  static nghttp2_nv pair_of(const Field& field) {
    // nghttp2 copies both and lowercases the name; its API is not const-correct.
    const auto bytes = [](std::string_view text) {
      return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
    };
    return {bytes(field.name), bytes(field.value), field.name.size(), field.value.size(), NGHTTP2_NV_FLAG_NONE};
  }

  std::size_t count_ = 0;
  std::array<nghttp2_nv, http1::HeadFields::kMax + 8> pairs_;
};

/// Answers nghttp2's request for the next DATA of a body: the available size, or deferred. `ended`: the body is
/// complete.
inline ssize_t offer(const OutgoingBody& body, bool ended, std::size_t length, std::uint32_t* flags) {
  const std::size_t size = std::min(length, body.size());
  if (size == 0 && !ended) return NGHTTP2_ERR_DEFERRED;
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (ended && size == body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

inline std::string_view view(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

inline bool ends_stream(const nghttp2_frame_hd& head) { return (head.flags & NGHTTP2_FLAG_END_STREAM) != 0; }

/// A malformed message is a stream error (RFC 9113 §8.1.1).
inline int malformed(nghttp2_session* session, std::int32_t id) {
  nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_PROTOCOL_ERROR);
  return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

/// `Side` has a static function for each of nghttp2's calls.
template <typename Side>
void set_callbacks(nghttp2_session_callbacks* callbacks) {
  nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, Side::begin_frame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Side::begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Side::header);
  nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, Side::invalid_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Side::frame_received);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Side::data_chunk);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Side::stream_closed);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, Side::frame_sent);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, Side::frame_not_sent);
  nghttp2_session_callbacks_set_send_data_callback(callbacks, Side::send_body);
}

}  // namespace edge::net::http2
