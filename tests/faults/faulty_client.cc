#include "tests/faults/faulty_client.h"

namespace edge::test {
namespace {

std::string head_of(const RequestPlan& request) {
  std::string head = (request.post ? "POST /r/" : "GET /r/") + std::to_string(request.id) +
                     " HTTP/1.1\r\nHost: faults.example\r\nX-Plan: " + upstream_part(request) + "\r\n";
  if (request.post && request.request_chunked) head += "Transfer-Encoding: chunked\r\n";
  if (request.post && !request.request_chunked)
    head += "Content-Length: " + std::to_string(request.request_size) + "\r\n";
  return head + "\r\n";
}

std::string sent_body(const RequestPlan& request) {
  const std::string body = body_of("request", request.id, request.request_size);
  if (!request.request_chunked || !request.post) return body;
  char size[24];
  std::snprintf(size, sizeof(size), "%zx\r\n", body.size());
  return body.empty() ? "0\r\n\r\n" : size + body + "\r\n0\r\n\r\n";
}

bool leaves_unanswered(ClientFault fault) {
  return fault == ClientFault::kResetInHead || fault == ClientFault::kResetInBody || fault == ClientFault::kLeaves;
}

}  // namespace

std::string FaultyClient::run() {
  for (std::size_t next = 0; next < plan_.size() && failure_.empty();) {
    const std::uint64_t before = answers_;
    next = play(next);
    if (answers_ > before) ++connections_;
  }
  return failure_;
}

void FaultyClient::fail(const RequestPlan& request, const std::string& what) {
  if (failure_.empty()) failure_ = "request " + std::to_string(request.id) + ": " + what;
}

std::size_t FaultyClient::play(std::size_t first) {
  const auto fd = Connection::dial(port_);
  if (!fd) {
    fail(plan_[first], fd.error().text);
    return plan_.size();
  }
  auto owned = std::make_unique<Connection>(*fd, deadline_);
  Connection& connection = *owned;
  std::size_t last = first;
  for (std::size_t next = first; next < plan_.size(); next = last) {
    // A request and those that follow it without waiting.
    bool over = false;
    for (last = next; last < plan_.size() && !over && (last == next || plan_[last].pipelined); ++last) {
      over = !send(connection, plan_[last]);
    }
    for (std::size_t i = next; i < last; ++i) {
      // What the client gave up itself, with all that was sent on the connection.
      if (leaves_unanswered(plan_[i].client)) return last;
      if (receive(connection, plan_[i]) == After::kNext) continue;
      if (plan_[i].client == ClientFault::kStopsReading) unread_.push_back(std::move(owned));
      return last;
    }
    if (over) return last;
  }
  return last;
}

bool FaultyClient::send(Connection& connection, const RequestPlan& request) {
  const std::string head = head_of(request);
  const std::string body = sent_body(request);
  switch (request.client) {
    case ClientFault::kResetInHead:
      (void)connection.send(head.substr(0, head.size() / 2));
      connection.reset();
      return false;
    case ClientFault::kStallInHead:
      (void)connection.send(head.substr(0, head.size() / 2));
      return false;
    case ClientFault::kResetInBody:
      (void)connection.send(head + body.substr(0, body.size() / 2));
      connection.reset();
      return false;
    case ClientFault::kStallInBody:
      (void)connection.send(head + body.substr(0, body.size() / 2));
      return false;
    case ClientFault::kGarbage:
      (void)connection.send("\x16\x03\x01 no request at all\r\n\r\n");
      return false;
    case ClientFault::kByteByByte:
      for (const char c : head) {
        if (!connection.send({&c, 1})) return true;
      }
      // That the proxy takes no more of it is for its answer, or its end, to say.
      (void)connection.send(body);
      return true;
    default:
      break;
  }
  // One that cannot be sent may have been answered already.
  (void)connection.send(head + body);
  if (request.client == ClientFault::kLeaves) connection.reset();
  if (request.client == ClientFault::kHalfClose) connection.shutdown();
  return request.client != ClientFault::kLeaves && request.client != ClientFault::kHalfClose &&
         request.client != ClientFault::kStopsReading;
}

FaultyClient::After FaultyClient::receive(Connection& connection, const RequestPlan& request) {
  const auto head = connection.receive_head();
  if (!head) {
    if (deadline_.over()) fail(request, "neither answered nor closed");
    return After::kClosed;
  }
  const std::vector<std::string> id = head->values("X-Id");
  const bool own = !head->values("X-Edge-Reason").empty();
  if (own == !id.empty()) {
    fail(request, "an answer of nobody: " + head->start_line);
    return After::kClosed;
  }
  const bool unasked = request.client == ClientFault::kGarbage || request.client == ClientFault::kStallInHead;
  if (!own && (unasked || id[0] != std::to_string(request.id))) {
    fail(request, "the answer to " + id[0]);
    return After::kClosed;
  }
  return request.client == ClientFault::kStopsReading ? After::kClosed : check_body(connection, request, *head);
}

FaultyClient::After FaultyClient::check_body(Connection& connection, const RequestPlan& request, const Message& head) {
  const auto body = connection.receive_body(head);
  if (!body) {
    if (deadline_.over()) fail(request, "the body neither goes on nor ends");
    return After::kClosed;
  }
  ++answers_;
  if (!head.values("X-Id").empty()) {
    const std::string expected = body_of("response", request.id, request.response_size);
    // A body that ends with its connection, cut short by the backend's end, cannot be told from a whole one.
    const bool cut = request.framing == Framing::kUntilClose && request.upstream == UpstreamFault::kCloseInBody;
    const bool more = request.framing == Framing::kUntilClose && request.upstream == UpstreamFault::kSaysMore;
    const bool same =
        *body == expected || (cut && expected.starts_with(*body)) || (more && body->starts_with(expected));
    if (!same) fail(request, "a body of " + std::to_string(body->size()) + " bytes that is not its own");
  }
  return head.values("Connection") == std::vector<std::string>{"close"} ? After::kClosed : After::kNext;
}

}  // namespace edge::test
