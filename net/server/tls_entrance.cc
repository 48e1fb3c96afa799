#include "net/server/tls_entrance.h"

#include <utility>

#include "net/server/conversation.h"
#include "net/server/http2_connection.h"

namespace edge::net::server {
namespace {

using Step = tls::RecordLayer::Handshake;

tls::RecordLayer& put_layer(Channel& channel, Host& host, Fd client, std::shared_ptr<const tls::Sites> sites) {
  channel.open(host.loop(), std::move(client));
  std::unique_ptr<tls::RecordLayer> layer = tls::RecordLayer::accept(std::move(sites), host.records());
  tls::RecordLayer& placed = *layer;
  channel.put(std::move(layer));
  return placed;
}

}  // namespace

TlsEntrance::TlsEntrance(Host& host, Peer peer, Fd client, std::shared_ptr<const tls::Sites> sites)
    : host_(host),
      peer_(std::move(peer)),
      waiter_(host.loop()),
      layer_(put_layer(client_, host, std::move(client), std::move(sites))) {
  peer_.tls = true;
}

Detached TlsEntrance::run() {
  const bool done = co_await shake_hands();
  if (done) {
    hand_on();
  } else {
    const HandshakeRefused& tell = host_.options().handshake_refused;
    if (tell && !layer_.fault().empty()) tell(peer_.address, layer_.fault());
    client_.close();
  }
  host_.forget(*this);
}

Task<bool> TlsEntrance::shake_hands() {
  const Time until = host_.loop().now() + host_.options().head_time;
  // Nothing is there as a rule when a connection has just been accepted.
  client_.exhausted();
  Step step = Step::kRead;
  while (step == Step::kRead || step == Step::kWrite) {
    const std::uint8_t interest = step == Step::kRead ? kRead : kRead | kWrite;
    const Wake wake = co_await waiter_.wait(until, client_, interest);
    if (wake != Wake::kReady) co_return false;
    step = layer_.handshake(client_);
    if (client_.hung_up() && step != Step::kDone) co_return false;
  }
  co_return step == Step::kDone;
}

void TlsEntrance::hand_on() {
  if (std::optional<tls::SubjectNames> name = layer_.subject_names()) {
    peer_.name = ClientName{std::move(name->common_name), std::move(name->organizations), std::move(name->serial)};
  }
  auto peer = std::make_shared<const Peer>(std::move(peer_));
  const auto go_on = [this](auto* next) {
    host_.hand_over(*this, *next);
    next->start();
  };
  if (layer_.protocol() == "h2") {
    go_on(new Http2Connection(host_, std::move(peer), client_.release(), {}));
  } else {
    go_on(new Conversation(host_, std::move(peer), client_.release(), Conversation::Kind::kConnection));
  }
}

}  // namespace edge::net::server
