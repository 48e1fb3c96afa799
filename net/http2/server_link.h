// Moves the bytes of one client connection of HTTP/2 between its channel and its streams, with every deadline that a
// client can be held to. Whose sessions serve the streams is the owner's business.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

#include "net/byte_stream.h"
#include "net/http2/server_connection.h"
#include "net/loop.h"
#include "net/task.h"

namespace edge::net::http2 {

/// What a client of prior knowledge says first (RFC 9113 §3.4).
inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Whether a connection that begins with `bytes` speaks HTTP/2, as far as they tell. No request of HTTP/1.1 begins so.
inline bool begins_http2(std::string_view bytes) {
  const std::size_t size = std::min(bytes.size(), kPreface.size());
  return size != 0 && bytes.substr(0, size) == kPreface.substr(0, size);
}

struct LinkSettings {
  /// For the first request of all, and for each header block from its begin to its end.
  Duration head_time;
  /// Without a stream; and for streams that a client leaves standing.
  Duration idle_time;
};

/// On its loop's thread alone. Lives until `run` has ended.
class ServerLink final : Deferred, ServerConnection::Owner {
 public:
  class Host {
   public:
    /// A request has come, to be read from this layer by a session; it may begin at once.
    virtual void stream_opened(std::unique_ptr<Layer> stream) = 0;
    /// Whether the connection may have so many streams at once; one that may not be is refused (RFC 9113 §8.7).
    virtual bool admits(std::size_t /*streams*/) { return true; }
    /// It has no stream any more.
    virtual void rests() {}

   protected:
    ~Host() = default;
  };
  /// Memory of the thread, used between two waits: `in` as a session's own may be, `out` of at least 32 KiB.
  struct Scratch {
    std::span<char> in;
    std::span<char> out;
  };

  ServerLink(Loop& loop, ServerEngine& engine, Host& host, const LinkSettings& settings, Scratch scratch,
             Transport transport);

  /// Until the connection has ended. `unread`: bytes that were received already, the preface first of them.
  Task<void> run(Buffer unread);
  /// Says GOAWAY; ends when the streams have.
  void drain();
  /// Ends now.
  void cancel() { waiter_.cancel(); }

 private:
  Task<void> finish();
  /// Takes what the socket has. \returns false when the connection is at its end.
  bool take_input();
  void start_streams();
  /// \returns false when the shutdown is complete.
  bool follow_shutdown();
  Time wait_until() const;
  /// How long the connection may be without a stream.
  Duration idle_time() const;
  /// The deadline has come. \returns false when the connection has to go at once.
  bool timed_out();

  void output_waits() override { loop_.defer(*this); }
  void run_deferred() override;
  void flush();

  Loop& loop_;
  Host& host_;
  const LinkSettings settings_;
  Scratch scratch_;
  Channel client_;
  Waiter waiter_;
  Outlet outlet_;
  ServerConnection http2_;
  /// Since when no stream has been open.
  Time idle_since_;
  /// Since when the socket takes nothing.
  Time blocked_since_ = kNever;
  /// What is waited until.
  Time until_ = kNever;
  Time announced_at_ = kNever;
  bool busy_ = false;
  bool gone_away_ = false;
  bool broken_ = false;
};

}  // namespace edge::net::http2
