#include "runtime/session/http2_session.h"

#include "runtime/session/session.h"
#include "runtime/session/worker.h"

namespace edge::runtime {

Http2Session::Http2Session(Worker& worker, ClientConnection connection, net::Transport transport,
                           std::string_view unread)
    : worker_(worker),
      connection_(std::move(connection)),
      link_(worker.loop(), worker.http2(), *this,
            {worker.options().head_timeout, worker.options().keep_alive_timeout, is_of_cluster(connection_)},
            {worker.scratch().client(), worker.scratch().upstream()}, std::move(transport)) {
  connection_.http = 2;
  unread_.append(unread);
}

net::Detached Http2Session::run() {
  if (worker_.draining()) link_.drain();
  co_await link_.run(std::move(unread_));
  worker_.forget(*this);
}

bool Http2Session::admits(std::size_t streams) {
  return part().admits(streams, worker_.pin()->entrances[connection_.slot].max_streams_per_source);
}

void Http2Session::stream_opened(std::unique_ptr<net::Layer> stream) {
  auto* session = new Session(worker_, connection_, {net::Fd(), std::move(stream)}, Session::Kind::kStream);
  worker_.keep(*session);
  session->start();
}

}  // namespace edge::runtime
