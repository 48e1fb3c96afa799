// The client side of one HTTP/2 connection to a backend (RFC 9113), over nghttp2: converts between bytes and one layer
// per stream, on which a session speaks HTTP/1.1. The counterpart of server_connection.h.
//
// Nothing here waits or resumes a coroutine: streams signal their channels, whose sessions wake at the end of the
// batch. Memory is bounded: data from the backend by the stream's window, data to it by one transfer per stream, and
// over all streams (outgoing_body.h). A slow session blocks only its own stream: the connection's window is opened as
// bytes arrive. A stream begins with a small window and gets the large one once its session has read that much; the
// total of large windows is limited, and so are unread bytes on a connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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
  /// Limits of responses.
  http1::HeadLimits head;
  /// Per connection, even if the backend allows more.
  std::uint32_t max_streams = 100;
  /// Bytes that a backend may send ahead of a session: at first, and below, on a stream that is being read. At most
  /// max_streams * first_window + widened are buffered per connection.
  std::uint32_t first_window = 64 * 1024;
  std::uint32_t stream_window = 256 * 1024;
  /// Limit of all streams' windows beyond the first.
  std::uint32_t widened = 4 * 1024 * 1024;
  std::uint32_t connection_window = 16 * 1024 * 1024;
};

/// Shared by the connections of one thread. Must outlive them.
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
  /// Limits of the heads that sessions write.
  http1::HeadLimits written_;
  /// Scratch, not used across suspensions.
  http1::RequestHead head_;
  std::vector<Field> fields_;
  std::unique_ptr<Nghttp2> nghttp2_;
};

/// What every request of one connection carries, in place of fields of these names that its session wrote.
struct RequestLabel {
  std::string name;     ///< lower case
  std::string value;    ///< empty: the connection has no label
  std::string counter;  ///< lower case: a field that counts how often a request was labelled
  /// A request that was labelled so often carries no label any more.
  unsigned most = 0;
};

class ClientConnection {
 public:
  class Owner {
   public:
    /// Called when `produce` has output. May be called often, from within any function but `produce`.
    virtual void output_waits() = 0;
    /// Called when a stream has ended. May be called from within any function.
    virtual void stream_ended() = 0;

   protected:
    ~Owner() = default;
  };

  /// `secure`: over TLS, which sets `:scheme`.
  ClientConnection(ClientEngine& engine, Owner& owner, bool secure, Time now);
  /// Breaks the connection of streams that sessions still use.
  ~ClientConnection();
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  /// Processes all of the bytes. \returns false when they end the connection; `produce` then returns the reason as
  /// frames.
  bool feed(std::string_view bytes, Time now);
  /// Writes frames to `out`, which has at least 32 KiB. \returns their size; 0: nothing can be sent now.
  std::size_t produce(std::span<char> out, Time now);
  bool output_waiting() const;
  /// Returns whether nothing will be received or sent any more.
  bool over() const;

  /// Returns how many more streams the backend accepts now; 0 after its GOAWAY (RFC 9113 §6.8).
  std::size_t room() const;
  /// Returns whether no further stream will ever be possible.
  bool closing() const;
  /// Opens a stream for one request and its response. Precondition: room() > 0.
  std::unique_ptr<Layer> open_stream();
  /// Of all requests from now on.
  void label(RequestLabel label) { label_ = std::move(label); }
  /// Returns the number of streams with an incomplete response, or with a session.
  std::size_t streams() const { return live_; }

  /// Sends a PING (RFC 9113 §6.7).
  void ping();
  /// Returns when the last bytes were received.
  Time heard_at() const { return heard_at_; }
  /// Sends GOAWAY.
  void go_away();

 private:
  friend class ClientStream;
  friend struct ClientCallbacks;

  // Called by streams.
  bool submit(ClientStream& stream, const http1::RequestHead& head);
  /// Returns whether the backend's SETTINGS were received.
  bool settings_known() const { return settings_known_; }
  /// Returns whether the backend supports extended CONNECT (RFC 8441 §3).
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
  /// Bytes of requests, over all streams.
  std::size_t outgoing_ = 0;
  /// Bytes of streams' windows beyond the first.
  std::size_t widened_ = 0;
  Time now_;
  Time heard_at_;
  RequestLabel label_{};
  std::string label_count_;  ///< of the request that is submitted
  bool secure_;
  bool settings_known_ = false;
  bool went_away_ = false;
  bool failed_ = false;
};

}  // namespace edge::net::http2
