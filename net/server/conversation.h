// One connection of HTTP/1.1, or one stream of HTTP/2 as text of the same: requests one after the other, each read
// whole, handed to the handler, and answered whole or bit by bit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/byte_stream.h"
#include "net/http1/parse.h"
#include "net/server/host.h"

namespace edge::net::server {

class Conversation final : public Session {
 public:
  enum class Kind : std::uint8_t { kConnection, kStream };

  Conversation(Host& host, std::shared_ptr<const Peer> peer, Transport transport, Kind kind);

  /// Runs until the connection ends, then has the host forget it.
  void start() { run(); }
  void drain() override;
  void cancel() override { waiter_.cancel(); }

 private:
  enum class HeadState : std::uint8_t { kMore, kComplete, kFault, kHttp2, kGone };
  /// What is done with the connection after an answer.
  enum class Next : std::uint8_t {
    kAgain,
    kClose,
    kLinger,  ///< close, and listen on for a while: the client still sends
    kReset,
  };
  /// What the head says of the message beyond the request.
  struct Framing {
    http1::Body body;
    bool keep_alive = true;
    bool old = false;  ///< HTTP/1.0: no chunks
    bool head_only = false;
    bool expects_continue = false;
  };
  class HeldBody;

  Detached run();
  HeadState read_head();
  Time head_deadline() const;
  void become_http2();
  Task<Next> refuse();

  Task<Next> serve();
  /// \returns the status that it is refused with; 0: the body is there; -1: the client went away.
  Task<int> read_body(const Framing& framing, HeldBody& held, std::string& body);
  Task<Next> answer(Reply reply, Framing framing, Next then);
  /// `announced`: bytes that the head told of.
  Task<bool> send_stream(BodySource& source, bool chunked, std::optional<std::size_t> announced);
  /// Waits until the source has something. \returns false when the client went away.
  Task<bool> await_source();
  /// Sends all of it, as fast as the client takes it. \returns false when the connection is broken.
  Task<bool> put(std::string_view bytes);
  Task<bool> flush();
  Task<void> finish(Next how);

  Host& host_;
  std::shared_ptr<const Peer> peer_;
  Channel client_;
  Waiter waiter_;
  Inlet inlet_;
  Outlet outlet_;
  http1::ParseHint hint_;
  Time head_since_;
  http1::HeadFault fault_ = http1::HeadFault::kNone;
  Kind kind_;
  bool torn_ = false;
  /// Between two requests, or before the first.
  bool idle_ = false;
  bool served_ = false;
  bool awaits_source_ = false;
  bool source_ready_ = false;
};

}  // namespace edge::net::server
