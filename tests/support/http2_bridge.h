// Lets a script that speaks HTTP/1.1 meet the proxy over HTTP/2: takes the script's requests apart, sends each on a
// stream and writes the answer as HTTP/1.1. By means of its own: nothing here shares code with what it tests.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "tests/support/tls_end.h"

namespace edge::test {

/// One connection to the proxy, one request at a time. Runs on a thread of its own until either side closes.
class Http2Bridge {
 public:
  /// `script` is then the socket that the script uses; it owns it. `tls`: over TLS, by what it asks for.
  static Result<std::unique_ptr<Http2Bridge>> open(std::uint16_t port, int& script, const TlsSide* tls = nullptr);
  /// Ends it, whatever it does.
  ~Http2Bridge();
  Http2Bridge(const Http2Bridge&) = delete;
  Http2Bridge& operator=(const Http2Bridge&) = delete;

 private:
  struct Impl;
  explicit Http2Bridge(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::test
