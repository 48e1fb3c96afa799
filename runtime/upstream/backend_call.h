// A request of the proxy's own to a backend, through the same pools as clients' requests: load balancing, TLS, limits.
// The caller gets the complete response.
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

/// Views and references must stay valid until the call has ended.
struct BackendCall {
  BackendPool& pool;
  net::http1::Method method = net::http1::Method::kOther;
  /// The complete head as HTTP/1.1 text, with the body's length.
  std::string_view head;
  std::string_view body{};
  /// As in Wanted.
  std::uint64_t balance_key = 0;
  std::string_view proxy_header{};
  std::uint64_t way = 0;
  net::Time until;
  std::size_t max_head = std::size_t{32} << 10;  ///< of the response
  std::size_t max_body = std::size_t{1} << 20;
  /// Trailer fields of the response are added to its header fields.
  bool trailers = false;
  /// The client for whom the call is made: when it hangs up the call ends, as cancelled. May be null.
  net::Channel* asker = nullptr;
  /// Not used across suspensions.
  net::http1::ResponseHead& scratch;
};

/// Sends the request and returns the response. The request must be idempotent: a dead pooled connection is replaced
/// once, and an unreachable endpoint by up to two others.
net::Task<net::client::Answer> call_backend(net::Loop& loop, net::Waiter& waiter, BackendCall call);

}  // namespace edge::runtime
