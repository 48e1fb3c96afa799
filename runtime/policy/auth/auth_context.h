// Where an authentication policy works: what it may use of the thread and of the process while it looks at a request,
// and what it is made from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/client/http_client.h"
#include "net/loop.h"
#include "program/read.h"
#include "program/values/secrets.h"
#include "runtime/observe/trace/tracer.h"

namespace edge::runtime::auth {

struct Stores;

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
};

/// What policies are made from, on the thread that installs programs and secrets.
struct PolicyContext {
  const program::SectionView& section;
  const program::SecretSet& secrets;
  Stores& stores;
};

}  // namespace edge::runtime::auth
