// The benchmark's origin server: `http_backend PORT SIZE` answers every request with SIZE bytes. Finds the end of a
// head and `Connection: close`, nothing else: its own cost is to be small.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "bench/http/epoll_loop.h"

namespace edge::bench {
namespace {

struct Connection {
  int fd = -1;
  std::string input;
  std::size_t owed = 0;  ///< answers not yet begun
  std::size_t sent = 0;  ///< bytes of the answer under way
  bool close = false;
};

class Backend {
 public:
  Backend(int port, std::size_t size) : listener_(listen_on(static_cast<std::uint16_t>(port))) {
    const std::string head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(size) + "\r\n";
    answer_ = head + "\r\n" + std::string(size, 'x');
    last_answer_ = head + "Connection: close\r\n\r\n" + std::string(size, 'x');
    epoll_.add(listener_, EPOLLIN, nullptr);
  }

  [[noreturn]] void run() {
    epoll_.run([this](void* tag, std::uint32_t events) { on_event(static_cast<Connection*>(tag), events); },
               [this] {
                 for (const Connection* gone : closed_) delete gone;
                 closed_.clear();
               });
  }

 private:
  void on_event(Connection* connection, std::uint32_t events) {
    if (connection == nullptr) {
      for (int fd = accept_from(listener_); fd >= 0; fd = accept_from(listener_)) {
        connection = new Connection;
        connection->fd = fd;
        epoll_.add(fd, EPOLLIN, connection);
      }
      return;
    }
    if (connection->fd < 0) return;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !receive(*connection)) return drop(connection);
    if (!flush(*connection)) drop(connection);
  }

  bool receive(Connection& connection) {
    char buffer[16 * 1024];
    const ssize_t size = recv(connection.fd, buffer, sizeof(buffer), 0);
    if (size <= 0) return size < 0 && errno == EAGAIN;
    connection.input.append(buffer, static_cast<std::size_t>(size));
    for (;;) {
      const std::size_t end = connection.input.find("\r\n\r\n");
      if (end == std::string::npos) return connection.input.size() < 64 * 1024;
      const std::string_view head(connection.input.data(), end);
      if (head.find("onnection: close") != std::string_view::npos) connection.close = true;
      connection.input.erase(0, end + 4);
      ++connection.owed;
    }
  }

  bool flush(Connection& connection) {
    while (connection.owed > 0) {
      const std::string& answer = connection.close ? last_answer_ : answer_;
      const ssize_t size =
          send(connection.fd, answer.data() + connection.sent, answer.size() - connection.sent, MSG_NOSIGNAL);
      if (size < 0) {
        if (errno != EAGAIN) return false;
        epoll_.change(connection.fd, EPOLLIN | EPOLLOUT, &connection);
        waiting_ = true;
        return true;
      }
      connection.sent += static_cast<std::size_t>(size);
      if (connection.sent < answer.size()) continue;
      connection.sent = 0;
      --connection.owed;
      if (connection.close) return false;
    }
    if (waiting_) epoll_.change(connection.fd, EPOLLIN, &connection);
    return true;
  }

  void drop(Connection* connection) {
    close(connection->fd);
    connection->fd = -1;
    closed_.push_back(connection);
  }

  Epoll epoll_;
  int listener_;
  std::string answer_;
  std::string last_answer_;
  std::vector<const Connection*> closed_;
  bool waiting_ = false;  ///< some connection once waited to send: only then is its interest set back
};

}  // namespace
}  // namespace edge::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: http_backend PORT SIZE\n");
    return 2;
  }
  edge::bench::Backend(std::atoi(argv[1]), static_cast<std::size_t>(std::atol(argv[2]))).run();
}
