// An HTTP/2 client connection; a Session serves each of its streams.
#pragma once

#include <memory>
#include <string_view>

#include "net/buffer.h"
#include "net/http2/server_link.h"
#include "net/task.h"
#include "runtime/phase/client_connection.h"
#include "runtime/session/client_session.h"

namespace edge::runtime {

class Worker;

class Http2Session final : public ClientSession, net::http2::ServerLink::Host {
 public:
  /// `unread`: bytes that were received already, beginning with the preface.
  Http2Session(Worker& worker, ClientConnection connection, net::Transport transport, std::string_view unread);

  /// Runs until the connection ends, then has the worker free it.
  void start() { run(); }
  /// Sends GOAWAY; ends when the streams have ended.
  void drain() override { link_.drain(); }
  void cancel() override { link_.cancel(); }
  const ClientConnection* connection() const override { return &connection_; }

 private:
  net::Detached run();
  void stream_opened(std::unique_ptr<net::Layer> stream) override;
  bool admits(std::size_t streams) override;
  void rests() override { part().rest(); }

  Worker& worker_;
  ClientConnection connection_;
  net::Buffer unread_;
  net::http2::ServerLink link_;
};

}  // namespace edge::runtime
