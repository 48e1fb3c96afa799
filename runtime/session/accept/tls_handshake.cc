#include "runtime/session/accept/tls_handshake.h"

#include <algorithm>

#include "runtime/session/accept/client_certificate.h"
#include "runtime/session/accept/plain_http.h"
#include "runtime/session/http2_session.h"
#include "runtime/session/session.h"
#include "runtime/session/tunnel.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

using net::Wake;
using Step = net::tls::RecordLayer::Handshake;

/// Longer than any client needs; a handshake costs more than what comes after it.
constexpr net::Duration kHandshakeTime = std::chrono::seconds(10);
/// For a connection that was accepted just before a drain.
constexpr net::Duration kHandshakeGrace = std::chrono::seconds(1);
/// Of one thread: each may hold some tens of KiB until it is done.
constexpr std::uint64_t kMaxHandshakes = 4096;
constexpr std::string_view kHttp2 = "h2";
/// The access log's word; which fault it was, the daemon's log tells.
constexpr std::string_view kHandshakeFailed = "handshake-failed";
constexpr std::string_view kTls13 = "TLSv1.3";

net::tls::RecordLayer& put_layer(net::Channel& channel, std::unique_ptr<net::tls::RecordLayer> layer) {
  net::tls::RecordLayer& placed = *layer;
  channel.put(std::move(layer));
  return placed;
}

net::Channel& opened(net::Channel& channel, net::Loop& loop, net::Fd client) {
  channel.open(loop, std::move(client));
  return channel;
}

}  // namespace

TlsHandshake::TlsHandshake(Worker& worker, ClientConnection connection, net::Fd client,
                           std::shared_ptr<const net::tls::Sites> sites)
    : worker_(worker),
      waiter_(worker.loop()),
      connection_(std::move(connection)),
      layer_(put_layer(opened(client_, worker.loop(), std::move(client)),
                       net::tls::RecordLayer::accept(sites, worker.record_room()))),
      sites_(std::move(sites)),
      began_(worker.loop().now()),
      until_(began_ + std::min<net::Duration>(kHandshakeTime, worker.options().head_timeout)) {}

void TlsHandshake::drain() {
  until_ = std::min(until_, worker_.loop().now() + kHandshakeGrace);
  waiter_.wake(Wake::kReady);
}

net::Detached TlsHandshake::run() {
  Counters& counters = worker_.counters();
  if (counters.tls_handshaking.value() >= kMaxHandshakes) {
    counters.refused.add();
    client_.close();
    worker_.forget(*this);
    co_return;
  }
  counters.tls_handshaking.add();
  const std::string_view failure = co_await shake_hands();
  counters.tls_handshaking.subtract();
  if (failure.empty()) {
    hand_on();
  } else {
    counters.tls_failures.add();
    tell_failure(failure);
    if (failure == kPlainHttp) {
      refuse_plain_http(worker_, client_.fd(), worker_.pin()->entrances[connection_.slot].hides_reasons());
    }
    client_.close();
  }
  worker_.forget(*this);
}

net::Task<std::string_view> TlsHandshake::shake_hands() {
  // Nothing is there as a rule when a connection has just been accepted.
  client_.exhausted();
  Step step = Step::kRead;
  while (step == Step::kRead || step == Step::kWrite || step == Step::kAwaits) {
    if (step == Step::kAwaits) {
      const bool goes_on = co_await await_certificate();
      if (!goes_on) co_return "cancelled";
      step = layer_.handshake(client_);
      continue;
    }
    const std::uint8_t interest = step == Step::kRead ? net::kRead : net::kRead | net::kWrite;
    const Wake wake = co_await waiter_.wait(until_, client_, interest);
    if (wake == Wake::kCancelled) co_return "cancelled";
    if (wake != Wake::kReady) co_return "handshake-timeout";
    step = layer_.handshake(client_);
    if (client_.hung_up() && step != Step::kDone) co_return layer_.fault().empty() ? "client-gone" : kHandshakeFailed;
  }
  if (step == Step::kDone) co_return std::string_view();
  co_return layer_.spoke_http() ? kPlainHttp : kHandshakeFailed;
}

/// The thread goes on with others meanwhile. Without a certificate in the end the client is refused by an alert.
/// \returns false when the connection ends.
net::Task<bool> TlsHandshake::await_certificate() {
  constexpr net::Duration kLookAgain = std::chrono::milliseconds(100);
  const net::tls::OnDemand by = *layer_.wanted_by();
  WantedNames& names = worker_.wanted_names();
  const net::Time until = std::min(until_, began_ + net::Duration(WantedNames::kWait));
  bool there = false;
  if (names.want(by, layer_.server_name(), connection_.peer, worker_.loop().now())) {
    while (!there && worker_.loop().now() < std::min(until, until_)) {
      const Wake wake = co_await waiter_.wait(worker_.loop().now() + kLookAgain);
      if (wake == Wake::kCancelled) {
        names.leave(by, connection_.peer);
        co_return false;
      }
      const ProgramPin pin = worker_.pin();
      const std::uint32_t bind = pin->entrances[connection_.slot].bind;
      if (bind == program::kNone) break;  // the listener has gone meanwhile
      const auto& now_sites = pin->tls->sites(bind);
      const net::tls::Site* const site = now_sites != nullptr ? now_sites->find(layer_.server_name()) : nullptr;
      there = site != nullptr && !site->find(layer_.server_name()).empty();
      if (there) sites_ = now_sites;
    }
    names.leave(by, connection_.peer);
  }
  layer_.go_on(there ? sites_ : nullptr);
  co_return true;
}

void TlsHandshake::note_use(const net::tls::Site* site) {
  if (site == nullptr || site->on_demand() == nullptr) return;
  if (!site->on_demand()->allows(layer_.server_name())) return;
  worker_.wanted_names().use(*site->on_demand(), layer_.server_name(), worker_.loop().now());
}

void TlsHandshake::tell_failure(std::string_view reason) {
  // Who says nothing only looks whether somebody is there.
  if (layer_.heard()) worker_.log_lost(*worker_.pin(), connection_, {layer_.server_name(), reason, began_});
  const auto held_back = worker_.handshake_lines().admit();
  if (!held_back) return;
  const std::string& fault = layer_.fault();
  LogFields fields = {{"client", std::string(connection_.peer_text())},
                      {"reason", fault.empty() ? "the client went away, or took too long" : fault}};
  if (*held_back != 0) fields.push_back({"not_told", std::to_string(*held_back)});
  worker_.options().log.info("a TLS handshake failed", std::move(fields));
}

// The name is looked up once more: the site that the handshake was made with says what it is about.
void TlsHandshake::hand_on() {
  worker_.counters().tls_handshakes.add();
  // A CA has seen what it wanted; nothing is served to it (RFC 8737 §3).
  if (layer_.protocol() == net::tls::kChallengeProtocol) return client_.close();
  if (layer_.resumed()) worker_.counters().tls_resumed.add();
  auto facts = std::make_shared<TlsFacts>();
  facts->server_name = layer_.server_name();
  facts->version = layer_.version();
  if (facts->version == kTls13) {
    worker_.counters().tls13_handshakes.add();
    if (layer_.resumed()) worker_.counters().tls13_resumed.add();
  }
  facts->cipher = layer_.cipher();
  const net::tls::Site* const site = sites_->find(facts->server_name);
  if (site != nullptr && site->context().settings().client_certificate != net::tls::ClientCertificate::kNone) {
    facts->client_verification = client_verification(layer_.peer_verification());
    facts->client = layer_.peer_identity();
    const auto& authorities = site->context().settings().client_authorities;
    if (authorities != nullptr && authorities->is_limited()) facts->cluster_certificate = layer_.peer_certificate();
  }
  note_use(site);
  const bool raw = site == nullptr || !site->context().settings().offers_http1;
  const bool http2 = layer_.protocol() == kHttp2;
  connection_.tls = facts;
  // It may have been revoked since the handshake began.
  if (facts->cluster_certificate != nullptr && !worker_.believes(connection_)) return client_.close();
  const auto go_on = [this](auto* next) {
    worker_.hand_over(*this, *next);
    next->start();
  };
  if (raw) {
    go_on(new Tunnel(worker_, std::move(connection_), client_.release(), facts->server_name));
  } else if (http2) {
    go_on(new Http2Session(worker_, std::move(connection_), client_.release(), {}));
  } else {
    go_on(new Session(worker_, std::move(connection_), client_.release(), Session::Kind::kConnection));
  }
}

}  // namespace edge::runtime
