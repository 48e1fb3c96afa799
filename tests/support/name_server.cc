#include "tests/support/name_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace edge::test {
namespace {

constexpr int kA = 1;
constexpr int kAaaa = 28;
constexpr int kSrv = 33;

std::string number16(unsigned value) { return {static_cast<char>(value >> 8), static_cast<char>(value)}; }

std::string labels(const std::string& name) {
  std::string out;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    out += static_cast<char>(end - begin);
    out += name.substr(begin, end - begin);
    begin = end + 1;
  }
  return out + '\0';
}

/// A record of the question's name.
std::string record(int type, std::uint32_t lifetime, const std::string& data) {
  return "\xc0\x0c" + number16(static_cast<unsigned>(type)) + number16(1) + number16(lifetime >> 16) +
         number16(lifetime & 0xffff) + number16(static_cast<unsigned>(data.size())) + data;
}

std::vector<std::string> records(const NameServer::Answer& answer, int type) {
  std::vector<std::string> out;
  for (const std::string& address : answer.addresses) {
    std::array<char, 16> bytes{};
    const bool is_v6 = address.find(':') != std::string::npos;
    if (type != (is_v6 ? kAaaa : kA)) continue;
    ::inet_pton(is_v6 ? AF_INET6 : AF_INET, address.c_str(), bytes.data());
    out.push_back(record(type, answer.lifetime, std::string(bytes.data(), is_v6 ? 16 : 4)));
  }
  if (type != kSrv) return out;
  for (const NameServer::Service& service : answer.services) {
    out.push_back(record(type, answer.lifetime,
                         number16(static_cast<unsigned>(service.priority)) +
                             number16(static_cast<unsigned>(service.weight)) +
                             number16(static_cast<unsigned>(service.port)) + labels(service.host)));
  }
  return out;
}

sockaddr_in loopback(int port) {
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(static_cast<std::uint16_t>(port));
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return here;
}

bool read_whole(int socket, char* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::read(socket, to, bytes);
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

NameServer::NameServer() {
  // One port of both protocols that nobody has.
  for (int tries = 0; tries < 100; ++tries) {
    udp_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    tcp_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in here = loopback(0);
    socklen_t size = sizeof here;
    ::bind(tcp_, reinterpret_cast<const sockaddr*>(&here), size);
    ::getsockname(tcp_, reinterpret_cast<sockaddr*>(&here), &size);
    if (::bind(udp_, reinterpret_cast<const sockaddr*>(&here), size) == 0) {
      port_ = ntohs(here.sin_port);
      break;
    }
    ::close(udp_);
    ::close(tcp_);
  }
  if (port_ == 0 || ::listen(tcp_, 64) != 0 || ::pipe2(ended_, O_CLOEXEC) != 0) {
    std::perror("name server");
    std::abort();
  }
  thread_ = std::thread([this] { run(); });
}

NameServer::~NameServer() {
  ::close(ended_[1]);
  thread_.join();
  for (const int one : {ended_[0], udp_, tcp_}) ::close(one);
}

void NameServer::set(const std::string& name, Answer answer) {
  const std::lock_guard lock(mutex_);
  answers_[name] = std::move(answer);
}

int NameServer::asked(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = asked_.find(name);
  return found == asked_.end() ? 0 : found->second;
}

int NameServer::asked_over_tcp() const {
  const std::lock_guard lock(mutex_);
  return asked_over_tcp_;
}

void NameServer::run() {
  std::array<pollfd, 3> ready = {pollfd{ended_[0], POLLIN, 0}, pollfd{udp_, POLLIN, 0}, pollfd{tcp_, POLLIN, 0}};
  for (;;) {
    ::poll(ready.data(), ready.size(), -1);
    if (ready[0].revents != 0) return;
    if (ready[1].revents != 0) serve_datagram();
    if (ready[2].revents != 0) serve_stream();
  }
}

void NameServer::serve_datagram() {
  std::array<char, 1024> query{};
  sockaddr_in from{};
  socklen_t size = sizeof from;
  const ssize_t length = ::recvfrom(udp_, query.data(), query.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
  if (length < 17) return;
  const std::string answer = answer_to({query.data(), static_cast<std::size_t>(length)}, false);
  if (answer.empty()) return;
  ::sendto(udp_, answer.data(), answer.size(), 0, reinterpret_cast<const sockaddr*>(&from), size);
}

void NameServer::serve_stream() {
  const int peer = ::accept4(tcp_, nullptr, nullptr, SOCK_CLOEXEC);
  if (peer < 0) return;
  std::array<char, 1024> query{};
  std::array<char, 2> length{};
  if (read_whole(peer, length.data(), length.size())) {
    const std::size_t bytes = static_cast<unsigned char>(length[0]) * 256u + static_cast<unsigned char>(length[1]);
    if (bytes >= 17 && bytes <= query.size() && read_whole(peer, query.data(), bytes)) {
      std::string answer = answer_to({query.data(), bytes}, true);
      answer.insert(0, number16(static_cast<unsigned>(answer.size())));
      if (answer.size() > 2) (void)!::write(peer, answer.data(), answer.size());
    }
  }
  ::close(peer);
}

std::string NameServer::answer_to(std::string_view query, bool over_tcp) {
  std::string name;
  std::size_t at = 12;
  while (at < query.size() && query[at] != 0) {
    const std::size_t length = static_cast<unsigned char>(query[at]);
    if (!name.empty()) name += '.';
    name += query.substr(at + 1, length);
    at += length + 1;
  }
  if (at + 5 > query.size()) return {};
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  const int type = static_cast<unsigned char>(query[at + 1]) * 256 + static_cast<unsigned char>(query[at + 2]);
  Answer answer{.kind = Kind::kNoSuchName};
  {
    const std::lock_guard lock(mutex_);
    ++asked_[name];
    if (over_tcp) ++asked_over_tcp_;
    if (const auto found = answers_.find(name); found != answers_.end()) answer = found->second;
  }
  if (answer.kind == Kind::kSilent) return {};
  std::vector<std::string> out;
  const bool cut = answer.truncated && !over_tcp;
  if (answer.kind == Kind::kRecords && !cut) out = records(answer, type);
  std::string message(query.substr(0, 2));
  message += cut ? '\x83' : '\x81';
  message += static_cast<char>(0x80 | (answer.kind == Kind::kFails ? 2 : answer.kind == Kind::kNoSuchName ? 3 : 0));
  message += number16(1) + number16(static_cast<unsigned>(out.size())) + number16(0) + number16(0);
  message += query.substr(12, at + 5 - 12);
  for (const std::string& one : out) message += one;
  return message;
}

}  // namespace edge::test
