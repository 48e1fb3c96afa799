// Starts TLS on a new connection to an endpoint.
#include "net/tls/record_layer.h"
#include "runtime/upstream/pool/backend_pool.h"

namespace edge::runtime {

using net::Wake;
using net::tls::RecordLayer;
using Step = RecordLayer::Handshake;

bool UpstreamConnection::silent() {
  if (layer() == nullptr) return false;
  char byte;
  return receive({&byte, 1}).kind == net::Transfer::Kind::kWouldBlock;
}

net::Task<AcquireFault> BackendPool::secure(net::Waiter& waiter, UpstreamConnection& connection, net::Time until) {
  // Whom to trust is not known: nothing is sent rather than sent to a stranger.
  const bool remote = !connection.endpoint().state->cluster.empty();
  const std::shared_ptr<const ClusterWay> way = connection.endpoint().way;
  const std::shared_ptr<const net::tls::ClientContext> tls = remote ? (way != nullptr ? way->tls : nullptr) : tls_;
  if (tls == nullptr) co_return AcquireFault::kTls;
  auto& resumption = connection.endpoint_->resumption;
  if (resumption == nullptr) resumption = std::make_shared<net::tls::Resumption>();
  auto made = RecordLayer::connect(tls, resumption, records_);
  RecordLayer& layer = *made;
  connection.put(std::move(made));
  Step step = layer.handshake(connection);
  while (step == Step::kRead || step == Step::kWrite) {
    const std::uint8_t interest = step == Step::kRead ? net::kRead : net::kRead | net::kWrite;
    const Wake wake = co_await waiter.wait(until, connection, interest);
    if (wake == Wake::kCancelled) co_return AcquireFault::kCancelled;
    if (wake == Wake::kTimeout) co_return AcquireFault::kConnect;
    step = layer.handshake(connection);
    if (connection.hung_up() && step != Step::kDone) step = Step::kFailed;
  }
  // What is not agreed on would be spoken past the server.
  const bool agreed = !connection.endpoint().shares || layer.protocol() == "h2";
  if (step == Step::kDone && agreed) {
    if (!remote) co_return AcquireFault::kNone;
    // A certificate that was revoked is valid all the same.
    if (peers_ != nullptr && peers_->allows(layer.peer_certificate().get())) co_return AcquireFault::kNone;
  }
  counts_.tls_failures.add();
  co_return AcquireFault::kTls;
}

void BackendPool::encrypt(std::shared_ptr<const net::tls::ClientContext> context) {
  if (tls_ == context) return;
  tls_ = std::move(context);
  // What they were checked by does not hold any more.
  close_idle();
}

}  // namespace edge::runtime
