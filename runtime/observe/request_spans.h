// What the trace of a request tells of it (docs/tracing.md): its own span, and those of its steps. A request whose
// gateway does not trace has no trace, and pays the look at a null pointer.
#pragma once

#include <cstdint>
#include <string_view>

#include "net/buffer.h"
#include "net/http1/head.h"
#include "net/socket.h"
#include "program/format/policies.h"
#include "runtime/match/load.h"
#include "runtime/observe/ready_attributes.h"
#include "runtime/observe/request_end.h"
#include "runtime/observe/trace/tracer.h"
#include "runtime/phase/client_connection.h"
#include "runtime/phase/failure.h"

namespace edge::runtime {

/// The trace of one request, or of a request that is sent for it.
struct RequestSpans {
  /// Null: nobody is told; the rest is unset then.
  trace::TracePointer trace;
  /// Of the program that decided the request.
  const LoadedProgram* program;
  ReadyAttributes* ready;

  bool recorded() const { return trace != nullptr && trace->recorded(); }
  /// A step that has begun; empty where nobody is told.
  trace::Step begin_step() const { return trace == nullptr ? trace::Step{} : trace->begin_step(); }
  /// For a request that is sent beside this one. Its head was written for this request's first try.
  RequestSpans branch() const {
    return trace == nullptr ? RequestSpans{} : RequestSpans{trace->branch(), program, ready};
  }
};

/// What of a request is there as long as its head is.
struct TracedRequest {
  const net::http1::RequestHead& head;
  std::string_view host;
  std::string_view path;
  const IpAddress& source;
  const ClientConnection& connection;
  std::string_view request_id;
};
void trace_request(trace::RequestTrace& trace, const TracedRequest& request);

/// What the span of a request says at its end. `bind`: that it came in on; kNone: it listens there no more.
struct TracedEnd {
  const RouteTaken& taken;
  const ClientConnection& connection;
  std::uint32_t bind;
  net::http1::Method method;
  std::uint8_t minor;
};
void trace_end(const RequestSpans& spans, const TracedEnd& request, const RequestEnd& end);

/// What an authentication policy said.
struct TracedPolicy {
  program::PolicyType type;
  std::string_view outcome;
  /// Of its answer; 0: the request passed.
  int status = 0;
  std::string_view reason{};
  /// Nobody could tell.
  bool failed = false;
};
void trace_policy(const RequestSpans& spans, const trace::Step& step, const TracedPolicy& policy);
/// `outcome`: what was found in the cache.
void trace_look_up(const RequestSpans& spans, const trace::Step& step, std::string_view outcome);

/// Of a branch of a request's trace, which `name` says what it is for.
void trace_branch(const RequestSpans& spans, std::string_view name, const Failure& failure);

/// The tries of one request to reach a backend. Each is a span of its own, below which the backend's is.
class TracedTries {
 public:
  TracedTries(const RequestSpans& spans, net::http1::Method method, const program::BackendRecord* backend)
      : spans_(spans), method_(method), backend_(backend) {}

  void begin() {
    if (spans_.trace != nullptr) step_ = spans_.trace->begin_try();
  }
  /// `endpoint`: null where none was found. `status` 0: no answer.
  void end(const net::SocketAddress* endpoint, int status, const Failure& failure) {
    if (step_) tell(endpoint, status, failure);
  }
  /// Before another try: what is sent then, a head and perhaps more, tells of that one.
  void renew(net::Buffer& text) const { renew_try(spans_, text); }
  static void renew_try(const RequestSpans& spans, net::Buffer& text) {
    if (spans.recorded()) rewrite(spans, text);
  }

 private:
  static void rewrite(const RequestSpans& spans, net::Buffer& text);
  void tell(const net::SocketAddress* endpoint, int status, const Failure& failure);

  const RequestSpans& spans_;
  net::http1::Method method_;
  const program::BackendRecord* backend_;
  trace::Step step_;
  int told_ = 0;
};

}  // namespace edge::runtime
