#include "tests/kube/fake_api.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace edge::test {
namespace {

using Json = nlohmann::json;

/// More of the connection into `into`. False: its end.
bool receive(int fd, std::string& into) {
  std::array<char, 4096> piece;
  const ssize_t size = ::recv(fd, piece.data(), piece.size(), 0);
  if (size <= 0) return false;
  into.append(piece.data(), static_cast<std::size_t>(size));
  return true;
}

/// The next request of the connection; its bytes are taken from `received`.
bool read_request(int fd, std::string& received, Exchange& into) {
  std::size_t end = 0;
  while ((end = received.find("\r\n\r\n")) == std::string::npos) {
    if (!receive(fd, received)) return false;
  }
  into.head = received.substr(0, end + 2);
  received.erase(0, end + 4);
  const std::size_t space = into.head.find(' ');
  into.method = into.head.substr(0, space);
  into.target = into.head.substr(space + 1, into.head.find(' ', space + 1) - space - 1);
  const std::string length = into.field("Content-Length");
  const std::size_t size = length.empty() ? 0 : std::strtoul(length.c_str(), nullptr, 10);
  while (received.size() < size) {
    if (!receive(fd, received)) return false;
  }
  into.body = received.substr(0, size);
  received.erase(0, size);
  return true;
}

}  // namespace

void meet() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
}

std::string Exchange::field(std::string_view name) const {
  const std::size_t position = head.find("\r\n" + std::string(name) + ": ");
  if (position == std::string::npos) return {};
  const std::size_t begin = position + 2 + name.size() + 2;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

bool Exchange::send(std::string_view bytes) {
  meet();
  while (!bytes.empty()) {
    const ssize_t size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

void Exchange::json(int status, std::string_view text, std::string_view fields) {
  send("HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: application/json\r\n" + std::string(fields) +
       "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + std::string(text));
}

void Exchange::refuse(int status, const std::string& reason, const std::string& message, std::string_view fields) {
  const Json status_object = {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"},
                              {"reason", reason}, {"message", message}, {"code", status}};
  json(status, status_object.dump(), fields);
}

void Exchange::begin_stream() {
  send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

bool Exchange::chunk(std::string_view bytes) {
  std::array<char, 16> size;
  const auto [end, error] = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16);
  return send(std::string(size.data(), end) + "\r\n" + std::string(bytes) + "\r\n");
}

void Exchange::wait_for_end() {
  std::string rest;
  while (receive(fd_, rest)) {
  }
  cut_ = true;
}

FakeApi::FakeApi(Handler handler, const std::string& at) : handler_(std::move(handler)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, at.c_str(), &address.sin_addr);
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, raw, size) != 0 || ::listen(listener_, 64) != 0 || ::getsockname(listener_, raw, &size) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

FakeApi::~FakeApi() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  cut_all();
  for (std::thread& thread : threads_) thread.join();
  ::close(listener_);
}

void FakeApi::accept_all() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock(mutex_);
    if (fd < 0 || stopping_) {
      if (fd >= 0) ::close(fd);
      return;
    }
    open_.push_back(fd);
    threads_.emplace_back([this, fd] { serve(fd); });
  }
}

void FakeApi::serve(int fd) {
  std::string received;
  for (;;) {
    Exchange exchange;
    exchange.fd_ = fd;
    if (!read_request(fd, received, exchange)) break;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(exchange.method + " " + exchange.target);
    }
    handler_(exchange);
    if (exchange.cut_) break;
  }
  const std::lock_guard lock(mutex_);
  std::erase(open_, fd);
  ::close(fd);
}

std::string FakeApi::kubeconfig() const {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: \"" + url() +
         "\"}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n";
}

void FakeApi::cut_all() {
  const std::lock_guard lock(mutex_);
  for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
}

std::vector<std::string> FakeApi::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::size_t FakeApi::count(std::string_view part) const {
  const std::lock_guard lock(mutex_);
  std::size_t found = 0;
  for (const std::string& request : requests_) found += request.find(part) != std::string::npos ? 1 : 0;
  return found;
}

void ObjectShelf::put(const std::string& path, const std::string& text) {
  const std::lock_guard lock(mutex_);
  Json object = Json::parse(text);
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  objects_[path] = object.dump();
}

std::string ObjectShelf::text(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto position = objects_.find(path);
  return position == objects_.end() ? std::string() : position->second;
}

std::vector<std::string> ObjectShelf::paths() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [path, text] : objects_) out.push_back(path);
  return out;
}

void ObjectShelf::handle(Exchange& exchange) {
  const std::string path = exchange.target.substr(0, exchange.target.find('?'));
  if (exchange.method == "POST") {
    const Json object = Json::parse(exchange.body, nullptr, false);
    const std::string own = path + "/" + object["metadata"]["name"].get<std::string>();
    if (!text(own).empty()) return exchange.refuse(409, "AlreadyExists");
    put(own, exchange.body);
    return exchange.json(201, text(own));
  }
  const std::string stored = text(path);
  if (stored.empty()) return exchange.refuse(404, "NotFound");
  if (exchange.method == "PUT" || exchange.method == "PATCH") {
    Json changed = Json::parse(exchange.body, nullptr, false);
    const Json old = Json::parse(stored);
    if (exchange.method == "PATCH") {
      Json whole = old;
      whole.merge_patch(changed);
      changed = std::move(whole);
    }
    if (changed["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]) {
      return exchange.refuse(409, "Conflict");
    }
    put(path, changed.dump());
  }
  exchange.json(200, text(path));
}

}  // namespace edge::test
