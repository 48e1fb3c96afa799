// The server side of one HTTP/2 connection (RFC 9113), over nghttp2: converts between bytes and one layer per stream,
// on which an HTTP/1.1 session runs.
//
// Nothing here waits or resumes a coroutine: streams signal their channels, whose sessions wake at the end of the
// batch. Memory is bounded: data from clients by the windows, which open only as sessions read; data to them by one
// session's transfer per stream, and over all streams (outgoing_body.h). Frames without content are limited
// (patience.h); beyond it, and for every other flood, the connection ends with GOAWAY and ENHANCE_YOUR_CALM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/field.h"
#include "net/clock.h"
#include "net/http1/head.h"
#include "net/http1/parse.h"
#include "net/http2/frame_output.h"
#include "net/http2/patience.h"
#include "net/http2/request_text.h"
#include "net/http2/stream_ids.h"
#include "net/layer.h"

struct nghttp2_session;

namespace edge::net::http2 {

class ServerStream;
struct ServerCallbacks;

struct ServerSettings {
  http1::HeadLimits head;
  std::uint32_t max_streams = 100;
  /// Bytes that a client may send ahead of its session, per stream and over all of them.
  std::uint32_t stream_window = 64 * 1024;
  std::uint32_t connection_window = 1024 * 1024;
};

/// Shared by the connections of one thread. Must outlive them.
class ServerEngine {
 public:
  /// `seed`: for WebSocket keys.
  ServerEngine(const ServerSettings& settings, std::uint64_t seed);
  ~ServerEngine();
  ServerEngine(const ServerEngine&) = delete;
  ServerEngine& operator=(const ServerEngine&) = delete;

 private:
  friend class ServerConnection;
  friend class ServerStream;
  struct Nghttp2;

  ServerSettings settings_;
  /// Limits of the heads that sessions write.
  http1::HeadLimits written_;
  std::uint64_t seed_;
  /// Scratch, not used across suspensions.
  http1::ResponseHead head_;
  std::vector<Field> fields_;
  std::unique_ptr<Nghttp2> nghttp2_;
};

class ServerConnection {
 public:
  class Owner {
   public:
    /// Called when `produce` has output. May be called often, from within any function but `produce`.
    virtual void output_waits() = 0;

   protected:
    ~Owner() = default;
  };

  ServerConnection(ServerEngine& engine, Owner& owner, Time now);
  ~ServerConnection() { close(); }
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  /// Takes requests of CONNECT (RFC 9113 §8.5), as request_text.h has them. To be called before `feed`.
  void take_connect() { text_.take_connect(); }

  /// Processes all of the bytes. \returns false when they end the connection; `produce` then returns the reason as
  /// frames.
  bool feed(std::string_view bytes, Time now);
  /// Returns the next stream with a new request, in order, to be read by a session. Null: there is none.
  std::unique_ptr<Layer> next_opened();
  bool opened_waits() const { return opened_first_ != nullptr; }
  /// Replaces `next_opened`: refuses the request unprocessed, so that the client may send it again.
  void refuse_opened();
  /// Writes frames to `out`, which has at least 32 KiB. \returns their size; 0: nothing can be sent now.
  std::size_t produce(std::span<char> out, Time now);
  bool output_waiting() const;

  /// Returns the number of streams not ended in both directions.
  std::size_t streams() const { return live_; }
  /// Returns how many of them were given to sessions.
  std::size_t given() const { return given_; }
  /// Returns the number of requests so far.
  std::uint64_t requests() const { return requests_; }
  /// Returns when the incomplete field block began; kNever: there is none.
  Time head_since() const { return head_since_; }
  /// Returns since when streams without a session have sent nothing; kNever: there are none.
  Time stalled_since() const { return left_ == 0 ? kNever : progress_at_; }

  /// Sends a first GOAWAY (RFC 9113 §6.8): streams already on their way are still served.
  void announce_shutdown();
  /// Returns whether the client has received it, by the answer to a PING.
  bool shutdown_heard() const { return shutdown_heard_; }
  /// Sends the final GOAWAY: no further stream is served.
  void go_away();
  /// Ends the connection with ENHANCE_YOUR_CALM.
  void give_up();
  /// Ends everything. Streams that sessions still use see their connection broken; nothing is sent any more.
  void close();
  /// Returns whether nothing will be received or sent any more.
  bool over() const;

 private:
  friend class ServerStream;
  friend struct ServerCallbacks;

  // Called by streams.
  void respond(ServerStream& stream, const http1::ResponseHead& head);
  void inform(ServerStream& stream, const http1::ResponseHead& head);
  void submit_trailers(ServerStream& stream);
  void resume(ServerStream& stream);
  void consumed(ServerStream& stream, std::size_t bytes);
  void reset(ServerStream& stream, std::uint32_t error);
  void released(ServerStream& stream);

  ServerStream* take_opened();
  void spend(Patience& patience, unsigned cost);
  /// Adds a field's `size`, whatever happens to the field.
  void decoded(std::size_t size);
  void unlink(ServerStream& stream);

  ServerEngine& engine_;
  Owner& owner_;
  nghttp2_session* session_ = nullptr;
  RequestText text_;
  /// For frames without content, and for streams that do not complete.
  Patience frames_;
  Patience resets_;
  /// Bytes of the current field block that were not charged yet.
  std::size_t decoded_ = 0;
  StreamIds ids_;
  FrameOutput output_;
  /// All open streams, and below, those opened and not returned by next_opened yet.
  ServerStream* all_ = nullptr;
  ServerStream* opened_first_ = nullptr;
  ServerStream* opened_last_ = nullptr;
  std::size_t live_ = 0;
  std::size_t given_ = 0;
  std::size_t left_ = 0;
  /// Bytes of responses, over all streams.
  std::size_t outgoing_ = 0;
  std::uint64_t requests_ = 0;
  Time now_;
  Time progress_at_;
  Time head_since_ = kNever;
  bool shutdown_heard_ = false;
  bool failed_ = false;
};

}  // namespace edge::net::http2
