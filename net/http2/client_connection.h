// The client's side of one HTTP/2 connection to a backend (RFC 9113), over nghttp2: bytes in, bytes out, and a layer
// for each stream, on which a session speaks HTTP/1.1. The mirror image of server_connection.h.
//
// Nothing here waits or resumes anybody: streams signal their channels, whose sessions wake at the end of the batch.
// Memory is bounded: what a backend sends ahead of a session by the stream's window, what it is sent by one transfer a
// stream, and over all streams (outgoing_body.h). A session that is slow holds up its own stream alone: the
// connection's window opens as bytes come. A stream begins with a small window and gets the large one once its session
// has read that much; how many may have it at a time is bounded, and so is what nobody reads on a connection.
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
#include "net/http2/response_text.h"
#include "net/layer.h"

struct nghttp2_session;

namespace edge::net::http2 {

class ClientStream;
struct ClientCallbacks;

struct ClientSettings {
  /// Of responses.
  http1::HeadLimits head;
  /// On one connection, however many more the backend allows.
  std::uint32_t max_streams = 100;
  /// Bytes that a backend may send ahead of a session: at first, and on a stream that is read. At most
  /// max_streams * first_window + widened lie on a connection.
  std::uint32_t first_window = 64 * 1024;
  std::uint32_t stream_window = 256 * 1024;
  /// What the windows of all streams may have beyond the first.
  std::uint32_t widened = 4 * 1024 * 1024;
  std::uint32_t connection_window = 16 * 1024 * 1024;
};

/// What the connections of one thread share. Outlives them.
class ClientEngine {
 public:
  explicit ClientEngine(const ClientSettings& settings);
  ~ClientEngine();
  ClientEngine(const ClientEngine&) = delete;
  ClientEngine& operator=(const ClientEngine&) = delete;

 private:
  friend class ClientConnection;
  friend class ClientStream;
  struct Nghttp2;

  ClientSettings settings_;
  /// Of the heads that sessions write.
  http1::HeadLimits written_;
  /// Written between two waits, and used by nobody across one.
  http1::RequestHead head_;
  std::vector<Field> fields_;
  std::unique_ptr<Nghttp2> nghttp2_;
};

class ClientConnection {
 public:
  class Owner {
   public:
    /// `produce` has something to give. May be called often, from within anything but `produce`.
    virtual void output_waits() = 0;
    /// A stream has ended. May be called from within anything.
    virtual void stream_ended() = 0;

   protected:
    ~Owner() = default;
  };

  /// `secure`: over TLS, which `:scheme` tells.
  ClientConnection(ClientEngine& engine, Owner& owner, bool secure, Time now);
  /// Streams that sessions still hold see their connection broken.
  ~ClientConnection();
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  /// Takes all of the bytes. \returns false when they end the connection; what `produce` then gives says why.
  bool feed(std::string_view bytes, Time now);
  /// Writes frames to `out`, at least 32 KiB. \returns their size; 0: nothing can be sent now.
  std::size_t produce(std::span<char> out, Time now);
  bool output_waiting() const;
  /// Nothing will come and nothing is to be sent any more.
  bool over() const;

  /// How many more streams the backend takes now; 0 for ever after its GOAWAY (RFC 9113 §6.8).
  std::size_t room() const;
  /// No further stream will ever be possible.
  bool closing() const;
  /// For one request and its response. Precondition: room() > 0.
  std::unique_ptr<Layer> open_stream();
  /// Streams whose response has not come to its end, or whose session has not left.
  std::size_t streams() const { return live_; }

  /// Asks the backend for a sign of life (RFC 9113 §6.7).
  void ping();
  /// When the last bytes came from it.
  Time heard_at() const { return heard_at_; }
  /// Says that no further streams will be opened.
  void go_away();

 private:
  friend class ClientStream;
  friend struct ClientCallbacks;

  // From streams.
  bool submit(ClientStream& stream, const http1::RequestHead& head);
  /// The backend's settings have come, and so it is known what it takes.
  bool settings_known() const { return settings_known_; }
  /// RFC 8441 §3.
  bool takes_tunnels() const;
  void submit_trailers(ClientStream& stream);
  void resume(ClientStream& stream);
  void consumed(ClientStream& stream, std::size_t bytes);
  void released(ClientStream& stream);

  void widen(ClientStream& stream);
  void settings_came();
  void spend(unsigned cost);
  void unlink(ClientStream& stream);

  ClientEngine& engine_;
  Owner& owner_;
  nghttp2_session* session_ = nullptr;
  ResponseText text_;
  Patience patience_;
  FrameOutput output_;
  ClientStream* all_ = nullptr;
  std::size_t live_ = 0;
  /// Of requests, over all streams.
  std::size_t outgoing_ = 0;
  /// Of the windows of streams, beyond the first.
  std::size_t widened_ = 0;
  Time now_;
  Time heard_at_;
  bool secure_;
  bool settings_known_ = false;
  bool went_away_ = false;
  bool failed_ = false;
};

}  // namespace edge::net::http2
