// A request of the proxy's own to a backend, by the pools that clients' requests go by: an endpoint that takes traffic,
// its TLS, its limits. Whoever asks reads the whole answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/client/http_client.h"
#include "net/http1/head.h"
#include "net/loop.h"
#include "net/task.h"
#include "runtime/upstream/pool/backend_pool.h"

namespace edge::runtime {

/// Views and references must live until the call has ended.
struct BackendCall {
  BackendPool& pool;
  net::http1::Method method = net::http1::Method::kOther;
  /// Whole, as text of HTTP/1.1, with the body's length.
  std::string_view head;
  std::string_view body{};
  /// As Wanted has them.
  std::uint64_t balance_key = 0;
  std::string_view proxy_header{};
  net::Time until;
  std::size_t max_head = std::size_t{32} << 10;  ///< of the answer
  std::size_t max_body = std::size_t{1} << 20;
  /// Fields behind the answer's body are added to its own.
  bool trailers = false;
  /// The client whom it is made for: when it has gone the call ends, as cancelled. May be null.
  net::Channel* asker = nullptr;
  /// Used between two waits.
  net::http1::ResponseHead& scratch;
};

/// The server takes it twice as it takes it once: a connection that turns out to be dead is replaced once, and an
/// endpoint that cannot be reached by up to two others.
net::Task<net::client::Answer> call_backend(net::Loop& loop, net::Waiter& waiter, BackendCall call);

}  // namespace edge::runtime
