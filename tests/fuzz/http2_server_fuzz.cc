// Any bytes from a client of HTTP/2, torn anywhere, with sessions that read, write, wait and leave: no crash, no leak,
// no more memory than the windows allow.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http2/server_connection.h"
#include "net/loop.h"

namespace {

using namespace edge::net;

struct Sessions final : http2::ServerConnection::Owner {
  void output_waits() override {}
};

void write(Channel& channel, std::string_view text) {
  const iovec piece{const_cast<char*>(text.data()), text.size()};
  channel.send({&piece, 1});
}

/// One step of a session, as the input says.
void act(Channel& session, std::uint8_t how) {
  char room[100];
  std::size_t read = 0;
  switch (how % 8) {
    case 0:
      return write(session, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody");
    case 1:
      return write(session, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    case 2:
      return write(session, "0\r\nx: y\r\n\r\n");
    case 3:
      return write(session, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nraw");
    case 4:
      session.finish();
      return;
    case 5:
      return session.reset_on_close();
    default:
      while (session.receive({room, how % sizeof room + 1U}).kind == Transfer::Kind::kDone) {
        if (++read > 1 << 20) std::abort();
      }
  }
}

}  // namespace

// Records: how many bytes come, what a session does after them, the bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ManualClock clock;
  Loop loop{&clock};
  http2::ServerSettings settings;
  settings.head.max_bytes = 4096;
  http2::ServerEngine engine(settings, 1);
  Sessions owner;
  std::vector<std::unique_ptr<Channel>> sessions;
  std::vector<char> out(64 * 1024);
  auto connection = std::make_unique<http2::ServerConnection>(engine, owner, clock.now());
  connection->feed("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", clock.now());
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  bool open = true;
  while (open && rest.size() > 2) {
    const auto length = static_cast<std::uint8_t>(rest[0]);
    const auto how = static_cast<std::uint8_t>(rest[1]);
    rest.remove_prefix(2);
    open = connection->feed(rest.substr(0, length), clock.now());
    rest.remove_prefix(std::min<std::size_t>(length, rest.size()));
    while (std::unique_ptr<Layer> layer = connection->next_opened()) {
      sessions.push_back(std::make_unique<Channel>());
      sessions.back()->open(loop, Transport{{}, std::move(layer)});
    }
    if (!sessions.empty()) {
      act(*sessions[how / 8 % sessions.size()], how);
      if (how > 240) sessions.pop_back();
    }
    if (how % 3 != 0) connection->produce(out, clock.now());
    if (how == 200) connection->announce_shutdown();
    if (connection->over()) open = false;
  }
  // Either may go first.
  if (size % 2 == 0) sessions.clear();
  connection.reset();
  return 0;
}
