// Where an authentication policy works: what it may use of the thread and of the process while it looks at a request,
// and what it is made from.
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

/// A request to a service that is a backend of the program. Views must live until it has ended.
struct ServiceCall {
  std::string_view name_space;
  std::string_view name;
  std::string_view method;
  std::string_view host;
  std::string_view target;
  /// Whole lines; not Host, Content-Length, Connection, Transfer-Encoding.
  std::string_view fields;
  std::string_view body{};
  net::Time until;
  /// An answer with more is a fault.
  std::size_t max_body = 0;
  /// Fields behind the answer's body are among its own.
  bool trailers = false;
};
/// Sends it to an endpoint of the backend, as clients' requests are sent.
using CallService = std::function<net::Task<net::client::Answer>(const ServiceCall&)>;

/// Of one request, on its thread.
struct AuthContext {
  net::Loop& loop;
  /// The session's: the one place to wait. kCancelled: the session ends; whatever is answered then is not sent.
  net::Waiter& waiter;
  net::client::HttpClient& client;
  /// Of the process, shared by its threads.
  Stores& stores;
  /// Seconds since 1970, when the request came.
  std::int64_t unix_now;
  /// The client's connection: calls made for it end when it breaks. May be null.
  net::Channel* asker = nullptr;
  /// What it asks of others is told here (call.h).
  trace::StepCalls calls{};
  /// Null: no backend can be called.
  const CallService* call_service = nullptr;
};

/// What policies are made from, on the thread that installs programs and secrets.
struct PolicyContext {
  const program::SectionView& section;
  const program::SecretSet& secrets;
  Stores& stores;
};

}  // namespace edge::runtime::auth
