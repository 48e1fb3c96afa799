// A service that is called: answers by a function, and remembers each request. On a port of its own, over plain text or
// TLS, HTTP/1.1 and HTTP/2.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "net/server/http_server.h"
#include "tests/support/certificates.h"

namespace edge::test {

class RecordingServer {
 public:
  using Answer = std::function<net::server::Reply(const net::server::Request&)>;

  /// `answer` is called on the server's thread; null: `200` and nothing. Without a certificate it speaks plain text.
  explicit RecordingServer(Answer answer = nullptr, const IssuedCertificate* certificate = nullptr);
  ~RecordingServer();
  RecordingServer(const RecordingServer&) = delete;
  RecordingServer& operator=(const RecordingServer&) = delete;

  std::uint16_t port() const;
  /// Whose path is this, the eldest first; without their peers.
  std::vector<net::server::Request> requests(std::string_view path) const;

 private:
  net::server::Reply take(const net::server::Request& request);

  Answer answer_;
  mutable std::mutex mutex_;
  std::vector<net::server::Request> taken_;
  std::unique_ptr<net::server::ServerThread> server_;
};

}  // namespace edge::test
