// A ClientConnection over its socket. It drives itself by the loop's events: nobody waits on this channel, so that its
// streams' sessions need no coroutine beside them.
#pragma once

#include <memory>
#include <optional>

#include "net/buffer.h"
#include "net/http2/client_connection.h"
#include "net/loop.h"
#include "net/timer_wheel.h"

namespace edge::net::http2 {

class ClientChannel final : public Channel, private Deferred, private TimerNode, private ClientConnection::Owner {
 public:
  class Owner {
   public:
    /// Streams ended, or the backend takes no more of them. Called at the end of a batch; may `shut` the channel.
    virtual void changed(ClientChannel& channel) = 0;
    /// The connection is closed, all its streams are. Called once, and not from within open_stream.
    virtual void ended(ClientChannel& channel) = 0;

   protected:
    ~Owner() = default;
  };

  ClientChannel(Loop& loop, ClientEngine& engine, Owner& owner) : loop_(loop), engine_(engine), owner_(owner) {}

  /// Takes the connection over, on which nothing was sent yet. `secure`: it is TLS.
  void start(Transport transport, bool secure);
  /// How many more streams it takes now.
  std::size_t room() const { return connection_ ? connection_->room() : 0; }
  /// It takes none any more.
  bool closing() const { return !connection_ || connection_->closing(); }
  std::size_t streams() const { return connection_ ? connection_->streams() : 0; }
  /// Precondition: room() > 0.
  std::unique_ptr<Layer> open_stream();
  /// Says farewell and closes.
  void shut();

 private:
  void output_waits() override;
  void stream_ended() override;
  void unattended(std::uint8_t events) override;
  void run_deferred() override;
  void expired() override;
  void receive_all();
  void flush();
  void end();

  Loop& loop_;
  ClientEngine& engine_;
  Owner& owner_;
  std::optional<ClientConnection> connection_;
  /// What the socket did not take.
  Buffer out_;
  /// Until when a sign of life has to come; kNever: none was asked for.
  Time answer_until_ = kNever;
  bool changed_ = false;
  bool ended_ = false;
};

/// A connection for one request: over `transport`, which is at its beginning, as a transport that text of HTTP/1.1 is
/// written to and read from. `engine` outlives it.
Transport over_http2(Loop& loop, ClientEngine& engine, Transport transport, bool secure);

}  // namespace edge::net::http2
