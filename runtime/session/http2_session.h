// A client connection of HTTP/2: moves its bytes between the socket and the streams, each of which a Session serves.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>

#include "net/byte_stream.h"
#include "net/http2/server_connection.h"
#include "net/loop.h"
#include "net/task.h"
#include "runtime/session/client_connection.h"
#include "runtime/session/client_session.h"

namespace edge::runtime {

class Worker;

/// What a client of prior knowledge says first (RFC 9113 §3.4).
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Whether a connection that begins with `bytes` speaks HTTP/2, as far as they tell. No request of HTTP/1.1 begins so.
inline bool begins_http2(std::string_view bytes) {
  const std::size_t size = std::min(bytes.size(), kHttp2Preface.size());
  return size != 0 && bytes.substr(0, size) == kHttp2Preface.substr(0, size);
}

class Http2Session final : public ClientSession, net::Deferred, net::http2::ServerConnection::Owner {
 public:
  /// `unread`: bytes that were received already, the preface first of them.
  Http2Session(Worker& worker, ClientConnection connection, net::Transport transport, std::string_view unread);

  /// Runs until the connection ends, then has the worker forget it.
  void start() { run(); }
  /// Says GOAWAY; ends when the streams have.
  void drain() override;
  void cancel() override { waiter_.cancel(); }

 private:
  net::Detached run();
  net::Task<void> finish();
  /// Takes what the socket has. \returns false when the connection is at its end.
  bool take_input();
  void start_streams();
  /// \returns false when the shutdown is complete.
  bool follow_shutdown();
  net::Time wait_until() const;
  /// How long the connection may be without a stream.
  net::Duration idle_time() const;
  /// The deadline has come. \returns false when the connection has to go at once.
  bool timed_out();

  void output_waits() override;
  void run_deferred() override;
  void flush();

  Worker& worker_;
  ClientConnection connection_;
  net::Channel client_;
  net::Waiter waiter_;
  net::Outlet outlet_;
  net::Buffer unread_;
  net::http2::ServerConnection http2_;
  /// Since when no stream has been open.
  net::Time idle_since_;
  /// Since when the socket takes nothing.
  net::Time blocked_since_ = net::kNever;
  /// What is waited until.
  net::Time until_ = net::kNever;
  net::Time announced_at_ = net::kNever;
  bool busy_ = false;
  bool gone_away_ = false;
  bool broken_ = false;
};

}  // namespace edge::runtime
