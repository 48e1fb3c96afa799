#include "tests/faults/faulty_upstream.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <stdexcept>

#include <poll.h>
#include <unistd.h>

namespace edge::test {
namespace {

constexpr std::size_t kPiece = 16 * 1024;

std::string chunked(const std::string& body) {
  std::string out;
  for (std::size_t at = 0; at < body.size(); at += kPiece) {
    const std::string piece = body.substr(at, kPiece);
    char size[24];
    std::snprintf(size, sizeof(size), "%zx\r\n", piece.size());
    out += size + piece + "\r\n";
  }
  return out + "0\r\n\r\n";
}

/// Until the proxy ends the connection, whatever it sends meanwhile.
void wait_for_end(Connection& connection) { (void)connection.receive_all(); }

}  // namespace

FaultyUpstream::FaultyUpstream() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 1024) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("listen");
  }
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { accept_all(); });
}

FaultyUpstream::~FaultyUpstream() {
  ending_ = true;
  accepting_.join();
  for (std::thread& thread : serving_) thread.join();
  ::close(listener_);
}

std::string FaultyUpstream::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void FaultyUpstream::fail(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = "upstream: " + what;
}

void FaultyUpstream::accept_all() {
  while (!ending_) {
    pollfd wait{listener_, POLLIN, 0};
    if (::poll(&wait, 1, 20) <= 0) continue;
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) serving_.emplace_back([this, fd] { serve(fd); });
  }
}

void FaultyUpstream::serve(int fd) {
  Connection connection(fd, {std::chrono::steady_clock::now() + std::chrono::minutes(10), &ending_});
  for (;;) {
    const auto head = connection.receive_head();
    if (!head || !answer(connection, *head)) return;
  }
}

bool FaultyUpstream::answer(Connection& connection, const Message& head) {
  const std::vector<std::string> written = head.values("X-Plan");
  RequestPlan plan;
  if (written.size() != 1 || !read_upstream_part(written[0], plan)) {
    fail("a head that nobody sent: " + head.start_line);
    return false;
  }
  ++requests_;
  if (head.start_line.find(" /r/" + std::to_string(plan.id) + " ") == std::string::npos) {
    fail("request " + written[0] + " under another's line: " + head.start_line);
    return false;
  }
  switch (plan.upstream) {
    case UpstreamFault::kResetAtOnce:
      connection.reset();
      return false;
    case UpstreamFault::kCloseAtOnce:
      return false;
    case UpstreamFault::kAnswersEarly:
      (void)respond(connection, plan);
      return false;
    default:
      break;
  }
  const auto body = connection.receive_body(head);
  if (!body) return false;
  if (*body != body_of("request", plan.id, plan.request_size)) {
    fail("request " + std::to_string(plan.id) + " has another body: " + body->substr(0, 100));
    return false;
  }
  return respond(connection, plan);
}

bool FaultyUpstream::respond(Connection& connection, const RequestPlan& plan) {
  std::string head = "HTTP/1.1 200 OK\r\nX-Id: " + std::to_string(plan.id) + "\r\n";
  std::string body = body_of("response", plan.id, plan.response_size);
  if (plan.framing == Framing::kLength) head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  if (plan.framing == Framing::kChunked) {
    head += "Transfer-Encoding: chunked\r\n";
    body = chunked(body);
  }
  if (plan.framing == Framing::kUntilClose) head += "Connection: close\r\n";
  head += "\r\n";
  const std::string half_head = head.substr(0, head.size() / 2);
  const std::string half_body = body.substr(0, body.size() / 2);
  switch (plan.upstream) {
    case UpstreamFault::kResetInHead:
      (void)connection.send(half_head);
      connection.reset();
      return false;
    case UpstreamFault::kGarbageHead:
      (void)connection.send("HTTP/1.1 2x0 \x01\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc");
      wait_for_end(connection);
      return false;
    case UpstreamFault::kStallInHead:
      (void)connection.send(half_head);
      wait_for_end(connection);
      return false;
    case UpstreamFault::kResetInBody:
      (void)connection.send(head + half_body);
      connection.reset();
      return false;
    case UpstreamFault::kCloseInBody:
      (void)connection.send(head + half_body);
      return false;
    case UpstreamFault::kStallInBody:
      (void)connection.send(head + half_body);
      wait_for_end(connection);
      return false;
    case UpstreamFault::kByteByByte:
      for (const char c : head) {
        if (!connection.send({&c, 1})) return false;
      }
      head.clear();
      break;
    case UpstreamFault::kSaysMore:
      body += "HTTP/1.1 200 OK\r\nX-Id: 0\r\nContent-Length: 0\r\n\r\n";
      break;
    default:
      break;
  }
  if (!connection.send(head + body)) return false;
  if (plan.upstream == UpstreamFault::kHalfClose) {
    connection.shutdown();
    wait_for_end(connection);
    return false;
  }
  return plan.framing != Framing::kUntilClose;
}

}  // namespace edge::test
