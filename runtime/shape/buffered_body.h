// Request bodies before anything is forwarded: read to their end where the rule buffers requests (rule D7), or begun.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/counter.h"
#include "net/task.h"
#include "runtime/phase/client_connection.h"
#include "runtime/phase/deadlines.h"
#include "runtime/phase/failure.h"
#include "runtime/shape/request_body.h"
#include "runtime/shape/trailers.h"
#include "runtime/shape/worker_parts.h"

namespace edge::runtime {

inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// Where a body comes from, and what it is held to.
struct BodyIntakePlan {
  const ClientEnd& client;
  const Deadlines& deadlines;
  const WorkerParts& worker;
};

/// Reads the body to its end before anything is forwarded. `head` is what is to be sent, without what tells of the
/// body's framing; the whole of it then lies in `body.head`. `interim` counts the `100 Continue` that is sent.
net::Task<Failure> buffer_body(RequestBody& body, std::string_view head, const BodyIntakePlan& from,
                               const RequestTrailerRules& trailers, net::Counter& interim);

/// Reads the body to its end, at most `limit` bytes (kTooLarge), and leaves it in the client's inlet: `into` gets a
/// copy. The head must not be needed in the thread's scratch.
net::Task<Failure> copy_body(RequestBody& body, std::uint64_t limit, const BodyIntakePlan& from, std::string& into,
                             net::Counter& interim);

/// No connection to a backend is taken, and none waited for, for a body of which nothing has come, neither for the
/// request nor for its copies: such requests cost their clients nothing. An expectation has to be forwarded (RFC 9110
/// §10.1.1), for the backend answers it.
inline bool awaits_body(const RequestBody& body, const net::Inlet& inlet) {
  return !body.none() && inlet.empty() && body.buffered == nullptr && !body.expect_continue && body.measured;
}
/// Waits for the first byte. `head` lies in the thread's scratch, and does again afterwards.
net::Task<Failure> await_body(const RequestBody& body, std::string_view head, const BodyIntakePlan& from);

}  // namespace edge::runtime
