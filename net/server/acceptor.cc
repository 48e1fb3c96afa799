#include "net/server/acceptor.h"

#include <cerrno>
#include <chrono>
#include <utility>

namespace edge::net::server {
namespace {

constexpr int kAcceptsATurn = 64;
constexpr Duration kPause = std::chrono::milliseconds(100);

bool out_of_means(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }
/// A connection that went away before it was accepted is no reason to stop.
bool passing(int error) { return error == ECONNABORTED || error == EINTR || error == EPROTO; }

}  // namespace

Acceptor::Acceptor(Loop& loop, Fd socket, Accepted accepted)
    : loop_(loop), accepted_(std::move(accepted)), pause_(*this) {
  open(loop, std::move(socket));
}

void Acceptor::unattended(std::uint8_t) {
  if (accept_some()) report_again();
}

void Acceptor::resume() {
  if (is_open()) report_again();
}

bool Acceptor::accept_some() {
  for (int i = 0; i < kAcceptsATurn; ++i) {
    // Who is told of a client may have closed this.
    if (!is_open()) return false;
    SocketAddress peer;
    int error = 0;
    Fd client = accept_tcp(fd(), peer, error);
    if (client.valid()) {
      accepted_(std::move(client), peer);
      continue;
    }
    if (out_of_means(error)) loop_.timers().set(pause_, loop_.now() + kPause);
    if (!passing(error)) return false;
  }
  return true;
}

}  // namespace edge::net::server
