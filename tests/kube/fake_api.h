// An API server of a test: real sockets, plain HTTP/1.1, and a handler that decides every byte of the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace edge::test {

/// What a handler did before it answered is seen by who has called this after the answer. A socket orders the two, but
/// a race detector does not know that of a connection that was opened without blocking.
void meet();

/// One request, on the thread of its connection; the handler may block.
class Exchange {
 public:
  std::string method, target, head, body;

  /// Of the request; empty when there is none. `name` as it was sent.
  std::string field(std::string_view name) const;
  /// Raw bytes. \returns false when the client is gone.
  bool send(std::string_view bytes);
  /// A whole answer; `fields`: further lines.
  void json(int status, std::string_view text, std::string_view fields = {});
  /// A metav1.Status.
  void refuse(int status, const std::string& reason, const std::string& message = "no", std::string_view fields = {});
  /// The head of an answer that goes on in chunks.
  void begin_stream();
  bool chunk(std::string_view bytes);
  void end_stream() { send("0\r\n\r\n"); }
  /// Blocks until the client breaks the connection off.
  void wait_for_end();
  /// The connection is closed after the handler, in the middle of whatever was said.
  void cut() { cut_ = true; }

 private:
  friend class FakeApi;
  int fd_ = -1;
  bool cut_ = false;
};

class FakeApi {
 public:
  using Handler = std::function<void(Exchange&)>;

  /// Called from several threads, one call at a time each. `address`: where it listens.
  explicit FakeApi(Handler handler, const std::string& address = "127.0.0.1");
  ~FakeApi();
  FakeApi(const FakeApi&) = delete;
  FakeApi& operator=(const FakeApi&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// The text of a kubeconfig whose one context is this server, for a user without credentials.
  std::string kubeconfig() const;
  /// Breaks off every connection.
  void cut_all();
  /// `METHOD target`, in order of their coming.
  std::vector<std::string> requests() const;
  std::size_t count(std::string_view part) const;

 private:
  void accept_all();
  void serve(int fd);

  Handler handler_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::string> requests_;
  std::vector<std::thread> threads_;
  bool stopping_ = false;
  std::thread acceptor_;
};

/// Objects by path, with versions that a PUT must know.
class ObjectShelf {
 public:
  /// GET, POST to the collection, PUT, merge patches of top-level members.
  void handle(Exchange& exchange);
  std::string text(const std::string& path) const;
  std::vector<std::string> paths() const;
  void put(const std::string& path, const std::string& text);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  int version_ = 0;
};

}  // namespace edge::test
