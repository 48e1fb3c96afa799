// The server's side of one HTTP/2 connection (RFC 9113), over nghttp2: bytes in, bytes out, and a layer for each stream
// that a session of HTTP/1.1 can be put on.
//
// Nothing here waits or resumes anybody: streams signal their channels, whose sessions wake at the end of the batch.
// Memory is bounded: what clients send by the windows, which open again only as sessions take the bytes; what they are
// sent by one session's transfer a stream, and over all streams (outgoing_body.h). Frames that carry nothing use up
// patience; at its end, and at every other flood, stands GOAWAY with ENHANCE_YOUR_CALM.
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
  /// Bytes that a client may send ahead of its session, on a stream and on all of them.
  std::uint32_t stream_window = 64 * 1024;
  std::uint32_t connection_window = 1024 * 1024;
};

/// What the connections of one thread share. Outlives them.
class ServerEngine {
 public:
  /// `seed`: for the keys of WebSockets.
  ServerEngine(const ServerSettings& settings, std::uint64_t seed);
  ~ServerEngine();
  ServerEngine(const ServerEngine&) = delete;
  ServerEngine& operator=(const ServerEngine&) = delete;

 private:
  friend class ServerConnection;
  friend class ServerStream;
  struct Nghttp2;

  ServerSettings settings_;
  /// Of the heads that sessions write.
  http1::HeadLimits written_;
  std::uint64_t seed_;
  /// Written between two waits, and used by nobody across one.
  http1::ResponseHead head_;
  std::vector<Field> fields_;
  std::unique_ptr<Nghttp2> nghttp2_;
};

class ServerConnection {
 public:
  class Owner {
   public:
    /// `produce` has something to give. May be called often, from within anything but `produce`.
    virtual void output_waits() = 0;

   protected:
    ~Owner() = default;
  };

  ServerConnection(ServerEngine& engine, Owner& owner, Time now);
  ~ServerConnection() { close(); }
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  /// Takes all of the bytes. \returns false when they end the connection; what `produce` then gives says why.
  bool feed(std::string_view bytes, Time now);
  /// Streams whose requests have come since, in order; each is to be read by a session. Null: there are none.
  std::unique_ptr<Layer> next_opened();
  bool opened_waits() const { return opened_first_ != nullptr; }
  /// In the place of `next_opened`: nothing is done with the request, and the client may send it again.
  void refuse_opened();
  /// Writes frames to `out`, at least 32 KiB. \returns their size; 0: nothing can be sent now.
  std::size_t produce(std::span<char> out, Time now);
  bool output_waiting() const;

  /// Streams whose end was not sent, or not received, yet.
  std::size_t streams() const { return live_; }
  /// Those of them that were given to sessions.
  std::size_t given() const { return given_; }
  /// Requests that came so far.
  std::uint64_t requests() const { return requests_; }
  /// When the header block began that is not complete; kNever: there is none.
  Time head_since() const { return head_since_; }
  /// Since when streams that their sessions have left have sent nothing; kNever: there are none.
  Time stalled_since() const { return left_ == 0 ? kNever : progress_at_; }

  /// RFC 9113 §6.8: says that no further streams are welcome; what is on its way is still served.
  void announce_shutdown();
  /// The client has heard of it, by its answer to a PING.
  bool shutdown_heard() const { return shutdown_heard_; }
  /// No further stream is served.
  void go_away();
  /// Ends the connection: ENHANCE_YOUR_CALM.
  void give_up();
  /// Forgets all. Streams that sessions still hold see their connection broken; nothing is produced any more.
  void close();
  /// Nothing will come and nothing is to be sent any more.
  bool over() const;

 private:
  friend class ServerStream;
  friend struct ServerCallbacks;

  // From streams.
  void respond(ServerStream& stream, const http1::ResponseHead& head);
  void inform(ServerStream& stream, const http1::ResponseHead& head);
  void submit_trailers(ServerStream& stream);
  void resume(ServerStream& stream);
  void consumed(ServerStream& stream, std::size_t bytes);
  void reset(ServerStream& stream, std::uint32_t error);
  void released(ServerStream& stream);

  ServerStream* take_opened();
  void spend(Patience& patience, unsigned cost);
  /// Every `size` of a field counts, whatever becomes of it.
  void decoded(std::size_t size);
  void unlink(ServerStream& stream);

  ServerEngine& engine_;
  Owner& owner_;
  nghttp2_session* session_ = nullptr;
  RequestText text_;
  /// For frames that carry nothing, and for streams that come to nothing.
  Patience frames_;
  Patience resets_;
  /// Of the header block that comes, not paid for yet.
  std::size_t decoded_ = 0;
  StreamIds ids_;
  FrameOutput output_;
  /// All that are open, and those opened but not asked for yet.
  ServerStream* all_ = nullptr;
  ServerStream* opened_first_ = nullptr;
  ServerStream* opened_last_ = nullptr;
  std::size_t live_ = 0;
  std::size_t given_ = 0;
  std::size_t left_ = 0;
  /// Of responses, over all streams.
  std::size_t outgoing_ = 0;
  std::uint64_t requests_ = 0;
  Time now_;
  Time progress_at_;
  Time head_since_ = kNever;
  bool shutdown_heard_ = false;
  bool failed_ = false;
};

}  // namespace edge::net::http2
