#include "tests/browser/echo_site.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

#include <openssl/evp.h>
#include <poll.h>
#include <unistd.h>

namespace edge::test {
namespace {

constexpr std::chrono::seconds kTime{60};

constexpr std::string_view kPage = R"(<!doctype html><title>WebSocket</title><script>
const bytes = Uint8Array.from({length: 300000}, (_, i) => i * 31 % 251);
const found = {text: 0, bytes: 0};
const socket = new WebSocket(location.origin.replace('http', 'ws') + '/echo');
socket.binaryType = 'arraybuffer';
socket.onopen = () => { socket.send('hello'); socket.send(bytes); };
socket.onmessage = ({data}) => {
  if (typeof data === 'string') { found.text = data === 'hello' ? 1 : 0; return; }
  const back = new Uint8Array(data);
  found.bytes = back.length === bytes.length && back.every((b, i) => b === bytes[i]) ? 1 : 0;
  socket.close(1000, 'bye');
};
socket.onclose = ({wasClean, code}) =>
  fetch(`/done?text=${found.text}&bytes=${found.bytes}&clean=${wasClean}&code=${code}`);
</script>)";

std::string field_of(const Message& head, std::string_view name) {
  const auto values = head.values(name);
  return values.empty() ? std::string() : values.front();
}

/// RFC 6455 §4.2.2.
std::string accept_of(const std::string& key) {
  const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha1(), nullptr);
  std::array<unsigned char, 64> encoded;
  const int length = EVP_EncodeBlock(encoded.data(), hash.data(), static_cast<int>(size));
  return {encoded.begin(), encoded.begin() + length};
}

std::size_t number(std::string_view bytes) {
  std::size_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::string head_of(char first, std::size_t size) {
  std::string head(1, first);
  const int extended = size < 126 ? 0 : size < 65536 ? 2 : 8;
  head.push_back(static_cast<char>(extended == 0 ? size : extended == 2 ? 126 : 127));
  for (int i = extended; i-- > 0;) head.push_back(static_cast<char>(size >> (8 * i) & 0xff));
  return head;
}

}  // namespace

EchoSite::EchoSite() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
  ::listen(listener_, 100);
  socklen_t size = sizeof address;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

EchoSite::~EchoSite() {
  over_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  ::close(listener_);
}

void EchoSite::accept_all() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    threads_.emplace_back([this, fd] { serve(fd); });
  }
}

void EchoSite::serve(int fd) {
  Connection connection(fd, {std::chrono::steady_clock::now() + kTime, &over_});
  for (;;) {
    const Result<Message> head = connection.receive_head();
    if (!head.ok() || !answer(connection, *head).ok()) return;
  }
}

Status EchoSite::answer(Connection& connection, const Message& head) {
  const std::string target = head.start_line.substr(4, head.start_line.rfind(' ') - 4);
  if (target == "/echo") {
    {
      const std::lock_guard lock(mutex_);
      via_ = field_of(head, "Via");
    }
    return echo(connection, head);
  }
  if (target.starts_with("/done?")) {
    const std::lock_guard lock(mutex_);
    report_ = target.substr(6);
    reported_.notify_all();
  }
  if (target != "/") return connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  return connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: " +
                         std::to_string(kPage.size()) + "\r\n\r\n" + std::string(kPage));
}

Status EchoSite::echo(Connection& connection, const Message& head) {
  Status sent =
      connection.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
                      ("Sec-WebSocket-Accept: " + accept_of(field_of(head, "Sec-WebSocket-Key"))) + "\r\n\r\n");
  while (sent.ok()) {
    const Result<std::string> start = connection.receive(2);
    if (!start.ok()) return start.error();
    const char first = (*start)[0];
    const std::size_t short_size = static_cast<unsigned char>((*start)[1]) & 0x7f;
    const std::size_t extended = short_size < 126 ? 0 : short_size == 126 ? 2 : 8;
    const Result<std::string> rest = connection.receive(extended + 4);
    if (!rest.ok()) return rest.error();
    const std::size_t size = extended == 0 ? short_size : number(rest->substr(0, extended));
    Result<std::string> payload = connection.receive(size);
    if (!payload.ok()) return payload.error();
    for (std::size_t i = 0; i < size; ++i) (*payload)[i] ^= (*rest)[extended + i % 4];
    sent = connection.send(head_of(first, size) + *payload);
    const bool closes = (first & 0x0f) == 8;
    if (closes) return Error{ErrorCode::kCancelled, "closed"};
  }
  return sent;
}

std::string EchoSite::report(std::chrono::seconds time) {
  std::unique_lock lock(mutex_);
  reported_.wait_for(lock, time, [this] { return !report_.empty(); });
  return report_;
}

std::string EchoSite::via() {
  const std::lock_guard lock(mutex_);
  return via_;
}

}  // namespace edge::test
