// An HTTP/2 connection: each of its streams is a Conversation with one request.
#pragma once

#include <memory>
#include <string_view>

#include "net/http2/server_link.h"
#include "net/server/host.h"

namespace edge::net::server {

class Http2Connection final : public Session, http2::ServerLink::Host {
 public:
  /// `unread`: bytes that were received already, beginning with the preface.
  Http2Connection(server::Host& host, std::shared_ptr<const Peer> peer, Transport transport, std::string_view unread);

  /// Runs until the connection ends, then has the host free it.
  void start() { run(); }
  void drain() override { link_.drain(); }
  void cancel() override { link_.cancel(); }

 private:
  Detached run();
  void stream_opened(std::unique_ptr<Layer> stream) override;

  server::Host& host_;
  std::shared_ptr<const Peer> peer_;
  Buffer unread_;
  http2::ServerLink link_;
};

}  // namespace edge::net::server
