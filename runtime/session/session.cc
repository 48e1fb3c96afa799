#include "runtime/session/session.h"

#include "runtime/session/http2_session.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

/// For a client that does not take an answer of ours.
constexpr net::Duration kFlushTime = std::chrono::seconds(10);

}  // namespace

Session::Session(Worker& worker, ClientConnection connection, net::Transport transport, Kind kind)
    : Http1Conversation(worker.loop(), std::move(transport), kind),
      worker_(worker),
      connection_(std::move(connection)) {}

net::Loop& Session::loop() { return worker_.loop(); }
std::span<char> Session::room() { return worker_.scratch().client(); }
const net::http1::HeadLimits& Session::head_limits() const { return worker_.scratch().limits; }
net::http1::RequestHead& Session::head() { return worker_.scratch().request; }
bool Session::draining() const { return worker_.draining(); }
net::Duration Session::head_time() const { return worker_.options().head_timeout; }

net::Duration Session::rest_time() const {
  return rest_time_ != net::Duration{} ? rest_time_ : net::Duration(worker_.options().keep_alive_timeout);
}

void Session::start() { run(); }

void Session::drain() {
  if (idle_) waiter_.wake(net::Wake::kReady);
}

void Session::become_http2() {
  auto* session = new Http2Session(worker_, std::move(connection_), client_.release(), inlet_.unread());
  worker_.hand_over(*this, *session);
  worker_.forget(*this);
  session->start();
}

void Session::forget() { worker_.forget(*this); }

net::Task<bool> Session::flush() {
  const net::Time until = worker_.loop().now() + kFlushTime;
  while (outlet_.blocked()) {
    const net::Wake wake = co_await waiter_.wait(until, client_, net::kWrite);
    if (wake != net::Wake::kReady || !outlet_.flush(client_)) co_return false;
  }
  co_return true;
}

}  // namespace edge::runtime
