#include "net/server/http2_connection.h"

#include <utility>

#include "net/server/conversation.h"

namespace edge::net::server {

Http2Connection::Http2Connection(server::Host& host, std::shared_ptr<const Peer> peer, Transport transport,
                                 std::string_view unread)
    : host_(host),
      peer_(std::move(peer)),
      link_(host.loop(), host.http2(), *this, {host.options().head_time, host.options().idle_time},
            {host.scratch_in(), host.scratch_out()}, std::move(transport)) {
  unread_.append(unread);
}

Detached Http2Connection::run() {
  if (host_.draining()) link_.drain();
  co_await link_.run(std::move(unread_));
  host_.forget(*this);
}

void Http2Connection::stream_opened(std::unique_ptr<Layer> stream) {
  auto* conversation = new Conversation(host_, peer_, {Fd(), std::move(stream)}, Conversation::Kind::kStream);
  host_.keep(*conversation);
  conversation->start();
}

}  // namespace edge::net::server
