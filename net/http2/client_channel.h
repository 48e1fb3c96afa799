// A ClientConnection with its socket. Driven by the loop's events without a coroutine of its own.
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
    /// Called at the end of a batch when streams have ended, or the backend accepts no more. May `shut` the channel.
    virtual void changed(ClientChannel& channel) = 0;
    /// Called once when the connection and all its streams are closed, and not from within open_stream.
    virtual void ended(ClientChannel& channel) = 0;

   protected:
    ~Owner() = default;
  };

  ClientChannel(Loop& loop, ClientEngine& engine, Owner& owner) : loop_(loop), engine_(engine), owner_(owner) {}

  /// Takes a connection on which nothing was sent yet. `secure`: it uses TLS.
  void start(Transport transport, bool secure);
  /// Of all its requests from now on. Called after `start`.
  void label(RequestLabel label) {
    if (connection_) connection_->label(std::move(label));
  }
  /// Returns how many more streams it accepts now.
  std::size_t room() const { return connection_ ? connection_->room() : 0; }
  /// Returns whether it will never accept a stream again.
  bool closing() const { return !connection_ || connection_->closing(); }
  std::size_t streams() const { return connection_ ? connection_->streams() : 0; }
  /// Precondition: room() > 0.
  std::unique_ptr<Layer> open_stream();
  /// Sends GOAWAY and closes.
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
  /// Bytes that the socket did not accept.
  Buffer out_;
  /// The deadline for the answer to a PING; kNever: none was sent.
  Time answer_until_ = kNever;
  bool changed_ = false;
  bool ended_ = false;
};

/// Returns a transport for one request over an HTTP/2 connection that is at its beginning: HTTP/1.1 text is written to
/// it and read from it. `engine` must outlive it.
Transport over_http2(Loop& loop, ClientEngine& engine, Transport transport, bool secure);

}  // namespace edge::net::http2
