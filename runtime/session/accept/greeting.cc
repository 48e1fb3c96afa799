#include "runtime/session/accept/greeting.h"

#include <algorithm>

#include "net/proxy_protocol.h"
#include "runtime/match/decide.h"
#include "runtime/session/accept/plain_http.h"
#include "runtime/session/accept/tls_handshake.h"
#include "runtime/session/session.h"
#include "runtime/session/tunnel.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

using net::Transfer;
using net::Wake;
using program::Protocol;

/// For a connection that was accepted just before a drain.
constexpr net::Duration kGreetingGrace = std::chrono::seconds(1);
// Words of the access log.
constexpr std::string_view kNobodyListens = "no-listener";
constexpr std::string_view kBadHeader = "bad-proxy-header";
constexpr std::string_view kBadHello = "bad-client-hello";

}  // namespace

Greeting::Greeting(Worker& worker, ClientConnection connection, net::Fd client)
    : worker_(worker),
      waiter_(worker.loop()),
      connection_(std::move(connection)),
      program_(worker.pin()),
      entrance_(program_->entrances[connection_.slot]),
      began_(worker.loop().now()),
      until_(began_ + worker.options().head_timeout) {
  client_.open(worker.loop(), std::move(client));
}

net::Detached Greeting::run() {
  std::string_view refusal = entrance_.bind == program::kNone ? kNobodyListens : std::string_view();
  if (refusal.empty() && entrance_.proxy_header) refusal = co_await take_header();
  if (refusal.empty() && entrance_.proxy_header && !count_source()) {
    client_.close();
    worker_.forget(*this);
    co_return;
  }
  if (refusal.empty() && entrance_.looks_for_name) refusal = co_await look_for_name();
  if (refusal.empty()) {
    hand_on();
  } else {
    worker_.counters().tunnels_refused.add();
    log(refusal);
    if (refusal == kPlainHttp) refuse_plain_http(worker_, client_.fd(), entrance_.hides_reasons());
    client_.close();
  }
  worker_.forget(*this);
}

// Waits until there are more than `seen` bytes to be looked at; empty when none come any more.
net::Task<std::string_view> Greeting::look(std::size_t seen, std::size_t most) {
  const std::span<char> into = worker_.scratch().client().first(most);
  for (;;) {
    const Transfer got = client_.peek(into, seen);
    if (got.kind == Transfer::Kind::kDone) {
      silent_ = false;
      co_return std::string_view(into.data(), got.bytes);
    }
    if (got.kind != Transfer::Kind::kWouldBlock || client_.hung_up()) co_return std::string_view();
    if (worker_.draining()) until_ = std::min(until_, worker_.loop().now() + kGreetingGrace);
    const Wake wake = co_await waiter_.wait(until_, client_, net::kRead);
    if (wake != Wake::kReady) co_return std::string_view();
  }
}

net::Task<std::string_view> Greeting::take_header() {
  // Anybody may connect; who is not trusted could name any address as its own.
  if (!entrance_.trusts(*program_->program, connection_.peer)) {
    silent_ = false;
    co_return "untrusted-proxy";
  }
  net::ProxyHeader header;
  for (std::size_t seen = 0;;) {
    const std::string_view bytes = co_await look(seen, net::kMaxProxyHeader);
    if (bytes.empty()) co_return kBadHeader;
    seen = bytes.size();
    const net::ProxyHeaderState state = net::parse_proxy_header(bytes, header);
    if (state == net::ProxyHeaderState::kFault) co_return kBadHeader;
    if (state == net::ProxyHeaderState::kComplete) break;
  }
  // What was shown is there to be taken, and nothing beyond it is.
  const Transfer taken = client_.receive(worker_.scratch().client().first(header.size));
  if (taken.kind != Transfer::Kind::kDone || taken.bytes != header.size) co_return kBadHeader;
  if (header.ends) {
    connection_.set_peer(header.ends->source.address);
    connection_.peer_port = header.ends->source.port;
    connection_.local = header.ends->destination;
  }
  co_return std::string_view();
}

// No line is logged of one that is too many: whoever floods a proxy is not to fill its log as well.
bool Greeting::count_source() {
  auto counted = worker_.admit(connection_.peer, connection_.slot);
  if (counted) part() = std::move(*counted);
  return counted.has_value();
}

net::Task<std::string_view> Greeting::look_for_name() {
  for (std::size_t seen = 0;;) {
    const std::string_view bytes = co_await look(seen, kMaxClientHello + 1);
    if (bytes.empty()) co_return kBadHello;
    seen = bytes.size();
    const HelloState state = parse_client_hello(bytes, hello_);
    if (state == HelloState::kComplete) co_return std::string_view();
    if (state != HelloState::kFault) continue;
    const PlainHttp http = begins_as_http(bytes);
    if (http == PlainHttp::kYes && decrypts()) co_return kPlainHttp;
    if (http != PlainHttp::kPerhaps) co_return kBadHello;
  }
}

/// Whether any listener of the port ends TLS here. What passes through is for backends to answer.
bool Greeting::decrypts() const {
  return entrance_.protocol != Protocol::kTcp && program_->tls->sites(entrance_.bind) != nullptr;
}

void Greeting::hand_on() {
  if (entrance_.protocol == Protocol::kHttp) {
    auto* session = new Session(worker_, std::move(connection_), client_.release(), Session::Kind::kConnection);
    worker_.hand_over(*this, *session);
    return session->start();
  }
  const LoadedListener* listener = find_listener(*program_->program, entrance_.bind, hello_.server_name());
  const bool raw =
      entrance_.protocol == Protocol::kTcp || (listener != nullptr && passes_through(*program_->program, *listener));
  if (raw) {
    auto* tunnel = new Tunnel(worker_, std::move(connection_), client_.release(), hello_.server_name());
    worker_.hand_over(*this, *tunnel);
    return tunnel->start();
  }
  const auto& sites = program_->tls->sites(entrance_.bind);
  if (sites == nullptr || (entrance_.looks_for_name && listener == nullptr)) return refuse_name();
  auto* handshake = new TlsHandshake(worker_, std::move(connection_), client_.release().fd, sites);
  worker_.hand_over(*this, *handshake);
  handshake->start();
}

/// No listener speaks for this name, so nobody answers: the connection is reset, as Gateway API's official tests
/// expect, rather than ended by an alert (RFC 6066 §3 leaves the choice).
void Greeting::refuse_name() {
  client_.reset_on_close();
  worker_.counters().tunnels_refused.add();
  log("unknown-name");
}

void Greeting::log(std::string_view reason) {
  if (!silent_) worker_.log_lost(*program_, connection_, {hello_.server_name(), reason, began_});
}

}  // namespace edge::runtime
