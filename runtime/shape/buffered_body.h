// Receives request bodies before forwarding: whole where the rule buffers requests (rule D7), else their first bytes.
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

/// The client that a body is read from, and the limits that apply.
struct BodyIntakePlan {
  const ClientEnd& client;
  const Deadlines& deadlines;
  const WorkerParts& worker;
};

/// Reads the body to its end before anything is forwarded. `head` is the head to send, without the fields of the body's
/// framing; the complete head is then in `body.head`. `interim` counts the `100 Continue` that is sent.
net::Task<Failure> buffer_body(RequestBody& body, std::string_view head, const BodyIntakePlan& from,
                               const RequestTrailerRules& trailers, net::Counter& interim);

/// How much of a body is copied.
enum class BodyPart : std::uint8_t {
  kWhole,      ///< a larger one than the limit is kTooLarge
  kBeginning,  ///< as far as the limit
};
/// Reads the body, copies `limit` bytes at most to `into` and leaves it in the client's inlet. A chunked one of which
/// more than twice the limit and 16 KiB would have to be held is kBadBody. The head must not be
/// needed in the thread's scratch.
net::Task<Failure> copy_body(RequestBody& body, BodyPart part, std::uint64_t limit, const BodyIntakePlan& from,
                             std::string& into, net::Counter& interim);

/// Returns whether to wait for the first byte of the body before forwarding. Neither the request nor its mirrored
/// copies take or wait for a backend connection while no byte has come: such requests would cost their clients nothing.
/// A request with Expect is forwarded at once (RFC 9110 §10.1.1), because the backend answers it.
inline bool awaits_body(const RequestBody& body, const net::Inlet& inlet) {
  return !body.none() && inlet.empty() && body.buffered == nullptr && !body.expect_continue && body.measured;
}
/// Waits for the first byte. `head` is in the thread's scratch, and is put back there afterwards.
net::Task<Failure> await_body(const RequestBody& body, std::string_view head, const BodyIntakePlan& from);

}  // namespace edge::runtime
