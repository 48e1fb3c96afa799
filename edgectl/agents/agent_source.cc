#include "edgectl/agents/agent_source.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <netdb.h>
#include <unistd.h>

#include "base/field.h"
#include "base/os/file.h"
#include "base/os/operator_files.h"
#include "base/owned.h"
#include "base/text/ascii.h"
#include "net/http1/parse.h"
#include "program/format/format.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr const char* kUsualPort = "9091";
constexpr int kTimeoutSeconds = 10;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

Error unavailable(const std::string& url, const std::string& what) {
  return {ErrorCode::kUnavailable, url + ": " + what};
}

Result<Socket> connect_to(const std::string& url, const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int fault = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list); fault != 0) {
    return unavailable(url, ::gai_strerror(fault));
  }
  const Owned<addrinfo, ::freeaddrinfo> owner(list);
  std::string why = "no address";
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    const timeval timeout{.tv_sec = kTimeoutSeconds, .tv_usec = 0};
    if (socket.fd() >= 0) {
      ::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
      ::setsockopt(socket.fd(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
      if (::connect(socket.fd(), at->ai_addr, at->ai_addrlen) == 0) return socket;
    }
    why = std::strerror(errno);
  }
  return unavailable(url, why);
}

Status send_all(const std::string& url, const Socket& socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket.fd(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return unavailable(url, std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

/// The file that a 401 names, where it is a token of an admin port and may be read: to nobody is anything else of this
/// machine sent.
Result<std::string> named_token(const std::string& url, const net::http1::ResponseHead& head) {
  std::string path;
  for (const Field& field : head.fields.all()) {
    if (!equals_ignoring_case(field.name, "www-authenticate")) continue;
    const std::size_t at = field.value.find(kAdminTokenParameter);
    if (at == std::string_view::npos) continue;
    for (std::size_t i = at + kAdminTokenParameter.size(); i < field.value.size() && field.value[i] != '"'; ++i) {
      if (field.value[i] == '\\') ++i;
      if (i < field.value.size()) path += field.value[i];
    }
  }
  if (path.empty()) return unavailable(url, "answered 401");
  auto text = read_file(path, kMaxAdminTokenBytes);
  if (!text) {
    return Error{ErrorCode::kUnavailable,
                 url + ": wants the token of whoever runs it; " + text.error().text + " (run edgectl as that user)"};
  }
  while (text->ends_with('\n')) text->pop_back();
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const bool plain = text->find_first_not_of(kLetters) == std::string::npos;
  if (!text->starts_with(kAdminTokenPrefix) || !plain) return unavailable(url, path + " holds no token");
  return text;
}

struct Received {
  std::string body;
  std::string token;  ///< that it wants to see, in place of a body
};

/// Reads until `text` is complete: the head first, then as many bytes as it announces. An answer that is none is
/// told with `refusal`.
Result<Received> receive(const std::string& url, const Socket& socket, const std::string& refusal) {
  std::string text;
  std::size_t head_size = 0;
  std::uint64_t length = 0;
  net::http1::ParseHint hint;
  const auto head = std::make_unique<net::http1::ResponseHead>();
  for (;;) {
    if (head_size == 0) {
      const auto parsed = net::http1::parse_response(text, net::http1::Method::kGet, {}, hint, *head);
      if (parsed.state == net::http1::ParseState::kFault) return unavailable(url, "the answer is no HTTP");
      if (parsed.state == net::http1::ParseState::kComplete) {
        if (head->status == 401) {
          auto token = named_token(url, *head);
          if (!token) return token.error();
          return Received{.body = {}, .token = std::move(*token)};
        }
        if (head->status != 200) {
          return unavailable(url, "answered " + std::to_string(head->status) + "; " + refusal);
        }
        head_size = parsed.consumed;
        length = head->body.kind == net::http1::BodyKind::kLength ? head->body.length : 0;
        if (length == 0 || length > program::kMaxProgramBytes)
          return unavailable(url, "the answer is none of an agent");
      }
    }
    if (head_size != 0 && text.size() - head_size >= length) return Received{text.substr(head_size, length), {}};
    char chunk[65536];
    const ssize_t got = ::recv(socket.fd(), chunk, sizeof chunk, 0);
    if (got < 0) return unavailable(url, std::strerror(errno));
    if (got == 0) return unavailable(url, "the answer ended early");
    text.append(chunk, static_cast<std::size_t>(got));
  }
}

}  // namespace

bool is_agent(const std::string& argument) { return argument.starts_with(kScheme); }

Result<std::string> ask_agent(const std::string& url, std::string_view method, std::string_view target,
                              const std::string& refusal) {
  std::string authority = url.substr(kScheme.size());
  authority = authority.substr(0, authority.find('/'));
  std::string host = authority;
  std::string port = kUsualPort;
  const std::size_t colon = authority.rfind(':');
  if (colon != std::string::npos && authority.find(']', colon) == std::string::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon + 1);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return Error{ErrorCode::kInvalidArgument, url + ": write http://ADDRESS:PORT"};
  std::string token;
  for (;;) {
    const auto socket = connect_to(url, host, port);
    if (!socket) return socket.error();
    std::string request(method);
    request.append(" ").append(target).append(" HTTP/1.1\r\nHost: ").append(authority);
    if (method != "GET") request.append("\r\nContent-Length: 0");
    if (!token.empty()) request.append("\r\nAuthorization: Bearer ").append(token);
    request.append("\r\nConnection: close\r\n\r\n");
    if (Status status = send_all(url, *socket, request); !status) return status.error();
    auto received = receive(url, *socket, refusal);
    if (!received) return received.error();
    if (received->token.empty()) return std::move(received->body);
    if (!token.empty()) return unavailable(url, "does not take its own token");
    token = std::move(received->token);
  }
}

Result<std::shared_ptr<const std::vector<std::byte>>> fetch_program(const std::string& url) {
  const auto body = ask_agent(url, "GET", "/debug/program",
                              "an agent gives its program on a loopback address alone, once it has one");
  if (!body) return body.error();
  const auto* const bytes = reinterpret_cast<const std::byte*>(body->data());
  return std::make_shared<const std::vector<std::byte>>(bytes, bytes + body->size());
}

}  // namespace edge::edgectl
