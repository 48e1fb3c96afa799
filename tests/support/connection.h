// A blocking socket with a deadline on every wait, and HTTP messages read off it by plain means: nothing here shares
// code with what it tests.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tests/support/tls_end.h"

namespace edge::test {

/// When a case must be over, and whether one of its parties has failed already.
struct Deadline {
  std::chrono::steady_clock::time_point end;
  std::atomic<bool>* aborted = nullptr;

  bool over() const { return std::chrono::steady_clock::now() >= end || (aborted != nullptr && *aborted); }
};

struct Message {
  std::string start_line;
  std::vector<std::pair<std::string, std::string>> fields;
  bool bodiless = false;

  /// Names compare without case.
  std::vector<std::string> values(std::string_view name) const;
};

class Connection {
 public:
  Connection(int fd, Deadline deadline) : fd_(fd), deadline_(deadline) {}
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  static Result<int> dial(std::uint16_t port);

  Status send(std::string_view bytes);
  /// Exactly `size` bytes.
  Result<std::string> receive(std::size_t size);
  /// Up to and including `end`.
  Result<std::string> receive_until(std::string_view end);
  Result<std::string> receive_all();
  /// A head up to its empty line.
  Result<Message> receive_head();
  /// The body that `head` announces, decoded.
  Result<std::string> receive_body(const Message& head);
  /// The data of one chunk of a chunked body, empty for the last one, whose trailer section is left.
  Result<std::string> receive_chunk();
  /// The peer closes (or resets) without another byte.
  Status expect_closed();
  /// The same, by RST.
  Status expect_reset();
  /// Nothing came that nobody read. Does not wait.
  Status expect_quiet();

  /// From here on over TLS. A handshake that fails is the peer's end.
  Status encrypt(std::unique_ptr<TlsEnd> tls);

  void shutdown();
  /// RST instead of FIN.
  void reset();
  void close();
  int fd() const { return fd_; }

 private:
  /// Reads what there is into `buffer_`. False: the peer has closed.
  Result<bool> fill();

  ssize_t receive_some(char* into, std::size_t size);
  ssize_t send_some(std::string_view bytes);

  int fd_;
  std::unique_ptr<TlsEnd> tls_;
  bool refused_ = false;
  bool was_reset_ = false;
  Deadline deadline_;
  std::string buffer_;
};

/// Deterministic bytes for large bodies.
std::string pattern(std::size_t size);

/// Waits until `fd` is ready for `events` (poll.h).
Status wait_for(int fd, short events, const Deadline& deadline);

}  // namespace edge::test
