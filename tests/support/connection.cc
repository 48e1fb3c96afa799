#include "tests/support/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <unistd.h>

#include "base/text/ascii.h"

namespace edge::test {

namespace {

Error connection_failure(std::string text) { return Error{ErrorCode::kAborted, std::move(text)}; }

}  // namespace

std::vector<std::string> Message::values(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& [field, value] : fields) {
    if (equals_ignoring_case(field, name)) out.push_back(value);
  }
  return out;
}

std::string pattern(std::size_t size) {
  std::string out(size, '\0');
  std::uint32_t state = 1;
  for (char& c : out) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24);
  }
  return out;
}

Status wait_for(int fd, short events, const Deadline& deadline) {
  for (;;) {
    if (deadline.over()) return connection_failure("the case's time is over");
    pollfd poll_fd{fd, events, 0};
    // In slices, to notice that another party has given up.
    if (::poll(&poll_fd, 1, 50) > 0) return {};
  }
}

Result<int> Connection::dial(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    ::close(fd);
    return connection_failure(std::string("cannot connect: ") + std::strerror(errno));
  }
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

Status Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (Status ready = wait_for(fd_, POLLOUT, deadline_); !ready) return ready;
    const ssize_t sent = send_some(bytes);
    if (sent < 0) {
      if (errno == EAGAIN) continue;
      return connection_failure(std::string("cannot send: ") + std::strerror(errno));
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

ssize_t Connection::send_some(std::string_view bytes) {
  if (tls_ != nullptr) return tls_->send(bytes.data(), bytes.size());
  return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t Connection::receive_some(char* into, std::size_t size) {
  return tls_ != nullptr ? tls_->receive(into, size) : ::recv(fd_, into, size, MSG_DONTWAIT);
}

Status Connection::encrypt(std::unique_ptr<TlsEnd> tls) {
  tls_ = std::move(tls);
  int done;
  while ((done = tls_->handshake()) < 0) {
    if (Status ready = wait_for(fd_, POLLIN, deadline_); !ready) return ready;
  }
  refused_ = done == 0;
  return {};
}

Result<bool> Connection::fill() {
  if (fd_ < 0) return connection_failure("not connected");
  if (refused_) return false;
  if (tls_ == nullptr || !tls_->holds_bytes()) {
    if (Status ready = wait_for(fd_, POLLIN, deadline_); !ready) return ready.error();
  }
  char bytes[65536];
  const ssize_t size = receive_some(bytes, sizeof(bytes));
  if (size < 0 && errno == EAGAIN) return true;
  if (size < 0 && errno != ECONNRESET)
    return connection_failure(std::string("cannot receive: ") + std::strerror(errno));
  was_reset_ |= size < 0;
  if (size <= 0) return false;
  buffer_.append(bytes, static_cast<std::size_t>(size));
  return true;
}

Result<std::string> Connection::receive(std::size_t size) {
  while (buffer_.size() < size) {
    const Result<bool> more = fill();
    if (!more) return connection_failure(more.error().text + "; got " + buffer_.substr(0, 2000));
    if (!*more)
      return connection_failure("closed after " + std::to_string(buffer_.size()) +
                                " bytes: " + buffer_.substr(0, 2000));
  }
  std::string out = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return out;
}

Result<std::string> Connection::receive_until(std::string_view end) {
  std::size_t at;
  while ((at = buffer_.find(end)) == std::string::npos) {
    const Result<bool> more = fill();
    if (!more) return connection_failure(more.error().text + "; got `" + buffer_.substr(0, 2000) + "`");
    if (!*more) return connection_failure("closed after `" + buffer_.substr(0, 2000) + "`");
  }
  return receive(at + end.size());
}

Result<std::string> Connection::receive_all() {
  for (;;) {
    const Result<bool> more = fill();
    if (!more) return more.error();
    if (!*more) return std::exchange(buffer_, {});
  }
}

Result<Message> Connection::receive_head() {
  Result<std::string> text = receive_until("\r\n\r\n");
  if (!text) return text.error();
  Message out;
  std::size_t at = text->find("\r\n");
  out.start_line = text->substr(0, at);
  for (at += 2; at + 2 < text->size();) {
    const std::size_t end = text->find("\r\n", at);
    const std::string line = text->substr(at, end - at);
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) return connection_failure("a field line without a colon: " + line);
    const std::size_t value = line.find_first_not_of(' ', colon + 1);
    out.fields.emplace_back(line.substr(0, colon), value == std::string::npos ? "" : line.substr(value));
    at = end + 2;
  }
  return out;
}

Result<std::string> Connection::receive_body(const Message& head) {
  if (head.bodiless) return std::string();
  const std::vector<std::string> length = head.values("Content-Length");
  const std::vector<std::string> coding = head.values("Transfer-Encoding");
  if (length.size() + coding.size() > 1) return connection_failure("the body is framed twice");
  if (!length.empty()) return receive(std::stoul(length[0]));
  if (coding.empty()) return head.start_line.starts_with("HTTP/") ? receive_all() : Result<std::string>(std::string());
  std::string out;
  for (;;) {
    Result<std::string> data = receive_chunk();
    if (!data) return data;
    if (data->empty()) break;
    out += *data;
  }
  // The trailer section is the script's to read, when it expects one.
  Result<std::string> end = receive(2);
  if (!end) return end;
  if (*end != "\r\n") buffer_.insert(0, *end);
  return out;
}

Result<std::string> Connection::receive_chunk() {
  Result<std::string> line = receive_until("\r\n");
  if (!line) return line;
  const std::size_t size = std::strtoul(line->c_str(), nullptr, 16);
  if (size == 0) return std::string();
  Result<std::string> data = receive(size + 2);
  if (data) data->resize(size);
  return data;
}

Status Connection::expect_closed() {
  const Result<std::string> rest = receive_all();
  if (!rest) return rest.error();
  if (!rest->empty()) return connection_failure("expected the end, got `" + rest->substr(0, 2000) + "`");
  return {};
}

Status Connection::expect_reset() {
  if (Status closed = expect_closed(); !closed) return closed;
  return was_reset_ ? Status() : connection_failure("the peer ended the connection, and did not reset it");
}

Status Connection::expect_quiet() {
  if (fd_ >= 0) {
    char bytes[4096];
    const ssize_t size = receive_some(bytes, sizeof(bytes));
    if (size > 0) buffer_.append(bytes, static_cast<std::size_t>(size));
  }
  if (!buffer_.empty()) return connection_failure("unexpected bytes: `" + buffer_.substr(0, 2000) + "`");
  return {};
}

void Connection::shutdown() {
  if (tls_ != nullptr) tls_->finish();
  ::shutdown(fd_, SHUT_WR);
}

void Connection::reset() {
  const linger at_once{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  tls_.reset();
  close();
}

void Connection::close() {
  buffer_.clear();
  if (tls_ != nullptr && !refused_) tls_->finish();
  tls_.reset();
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace edge::test
