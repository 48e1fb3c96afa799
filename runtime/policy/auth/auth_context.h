// What an authentication policy may use of the thread and the process while it processes a request, and what it is made
// from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "net/client/http_client.h"
#include "net/loop.h"
#include "net/task.h"
#include "program/read.h"
#include "program/values/secrets.h"
#include "runtime/observe/trace/tracer.h"

namespace edge::runtime::auth {

struct Stores;

/// A request to a service that is a backend of the program. Views must stay valid until it has ended.
struct ServiceCall {
  std::string_view name_space;
  std::string_view name;
  std::string_view method;
  std::string_view host;
  std::string_view target;
  /// Complete lines; without Host, Content-Length, Connection, Transfer-Encoding.
  std::string_view fields;
  std::string_view body{};
  net::Time until;
  /// A larger response body is an error.
  std::size_t max_body = 0;
  /// Trailer fields of the response are added to its header fields.
  bool trailers = false;
};
/// Sends a request to an endpoint of the backend, in the same way as clients' requests.
using CallService = std::function<net::Task<net::client::Answer>(const ServiceCall&)>;

/// For one request, on its thread.
struct AuthContext {
  net::Loop& loop;
  /// The session's only waiter. kCancelled: the session ends; the result is not sent any more.
  net::Waiter& waiter;
  net::client::HttpClient& client;
  /// Shared by all threads of the process.
  Stores& stores;
  /// The time of the request, in seconds since 1970.
  std::int64_t unix_now;
  /// The client's connection: calls made for it end when it closes. May be null.
  net::Channel* asker = nullptr;
  /// Records the calls in the request's trace (call.h).
  trace::StepCalls calls{};
  /// Null: backends cannot be called.
  const CallService* call_service = nullptr;
};

/// What policies are made from, on the thread that installs programs and secrets.
struct PolicyContext {
  const program::SectionView& section;
  const program::SecretSet& secrets;
  Stores& stores;
};

}  // namespace edge::runtime::auth
