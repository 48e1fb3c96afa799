// Connects the channel of one HTTP/2 client connection with its streams, and applies all deadlines. The owner provides
// the sessions for the streams.
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

/// The client connection preface (RFC 9113 §3.4).
inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Returns whether a connection that begins with `bytes` may be HTTP/2. No HTTP/1.1 request begins so.
inline bool begins_http2(std::string_view bytes) {
  const std::size_t size = std::min(bytes.size(), kPreface.size());
  return size != 0 && bytes.substr(0, size) == kPreface.substr(0, size);
}

struct LinkSettings {
  /// For the first request, and for each field block from its beginning to its end.
  Duration head_time;
  /// Without a stream; and for streams that a client does not read.
  Duration idle_time;
  /// Takes requests of CONNECT: of a peer that may tunnel.
  bool takes_connect = false;
};

/// For its loop's thread. Must live until `run` has ended.
class ServerLink final : Deferred, ServerConnection::Owner {
 public:
  class Host {
   public:
    /// Called for a new request, to be read from this layer by a session, which may begin at once.
    virtual void stream_opened(std::unique_ptr<Layer> stream) = 0;
    /// Returns whether the connection may have so many concurrent streams; further ones are refused (RFC 9113 §8.7).
    virtual bool admits(std::size_t /*streams*/) { return true; }
    /// Called when the connection has no stream any more.
    virtual void rests() {}

   protected:
    ~Host() = default;
  };
  /// Memory of the thread, not used across suspensions: `in` may be shared with sessions, `out` has at least 32 KiB.
  struct Scratch {
    std::span<char> in;
    std::span<char> out;
  };

  ServerLink(Loop& loop, ServerEngine& engine, Host& host, const LinkSettings& settings, Scratch scratch,
             Transport transport);

  /// Runs until the connection has ended. `unread`: bytes that were received already, beginning with the preface.
  Task<void> run(Buffer unread);
  /// Sends GOAWAY; ends when the streams have ended.
  void drain();
  /// Ends now.
  void cancel() { waiter_.cancel(); }

 private:
  Task<void> finish();
  /// Reads from the socket. \returns false when the connection has ended.
  bool take_input();
  void start_streams();
  /// \returns false when the shutdown is complete.
  bool follow_shutdown();
  Time wait_until() const;
  /// Returns how long the connection may be without a stream.
  Duration idle_time() const;
  /// Called at the deadline. \returns false when the connection must be closed at once.
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
  /// When the last stream ended.
  Time idle_since_;
  /// Since when the socket accepts no data.
  Time blocked_since_ = kNever;
  /// The deadline of the current wait.
  Time until_ = kNever;
  Time announced_at_ = kNever;
  bool busy_ = false;
  bool gone_away_ = false;
  bool broken_ = false;
};

}  // namespace edge::net::http2
