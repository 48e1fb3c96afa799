// The spans of a request (docs/tracing.md): its own span, and those of its steps. A request whose gateway does not
// trace has none, at the cost of one null pointer check.
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
#include "runtime/phase/endpoint_cluster.h"
#include "runtime/phase/failure.h"

namespace edge::runtime {

/// The trace of one request, or of a request that is sent on its behalf.
struct RequestSpans {
  /// Null: the request is not traced, and the other members are unset.
  trace::TracePointer trace;
  /// The program that matched the request.
  const LoadedProgram* program;
  ReadyAttributes* ready;

  bool recorded() const { return trace != nullptr && trace->recorded(); }
  /// Begins a step; empty where the request is not traced.
  trace::Step begin_step() const { return trace == nullptr ? trace::Step{} : trace->begin_step(); }
  /// Returns the spans for a request sent in addition to this one. Its head was written for this request's first try.
  RequestSpans branch() const {
    return trace == nullptr ? RequestSpans{} : RequestSpans{trace->branch(), program, ready};
  }
};

/// The data of a request that is available as long as its head is.
struct TracedRequest {
  const net::http1::RequestHead& head;
  std::string_view host;
  std::string_view path;
  const IpAddress& source;
  const ClientConnection& connection;
  std::string_view request_id;
};
void trace_request(trace::RequestTrace& trace, const TracedRequest& request);

/// The data for a request's span at its end. `bind`: where it came in; kNone: not in the program any more.
struct TracedEnd {
  const RouteTaken& taken;
  const ClientConnection& connection;
  std::uint32_t bind;
  net::http1::Method method;
  std::uint8_t minor;
};
void trace_end(const RequestSpans& spans, const TracedEnd& request, const RequestEnd& end);

/// The result of an authentication policy.
struct TracedPolicy {
  program::PolicyType type;
  std::string_view outcome;
  /// The status of its response; 0: the request passed.
  int status = 0;
  std::string_view reason{};
  /// The policy could not decide, because of an error.
  bool failed = false;
};
void trace_policy(const RequestSpans& spans, const trace::Step& step, const TracedPolicy& policy);
/// Records a cache lookup. `outcome`: its result.
void trace_look_up(const RequestSpans& spans, const trace::Step& step, std::string_view outcome);

/// Ends a branch of a request's trace; `name` states its purpose.
void trace_branch(const RequestSpans& spans, std::string_view name, const Failure& failure);

/// Where a try went. Null: no endpoint was found, and below, it is of this cluster.
struct TracedEndpoint {
  const net::SocketAddress* address = nullptr;
  const EndpointCluster* cluster = nullptr;
};

/// The tries of one request to reach a backend. Each has a span of its own, the parent of the backend's span.
class TracedTries {
 public:
  TracedTries(const RequestSpans& spans, net::http1::Method method, const program::BackendRecord* backend)
      : spans_(spans), method_(method), backend_(backend) {}

  void begin() {
    if (spans_.trace != nullptr) step_ = spans_.trace->begin_try();
  }
  /// Ends a try. `status` 0: no response.
  void end(const TracedEndpoint& endpoint, int status, const Failure& failure) {
    if (step_) tell(endpoint, status, failure);
  }
  /// Called before a retry: rewrites the trace context in what is sent then, a head and perhaps more, for the new try.
  void renew(net::Buffer& text) const { renew_try(spans_, text); }
  static void renew_try(const RequestSpans& spans, net::Buffer& text) {
    if (spans.recorded()) rewrite(spans, text);
  }

 private:
  static void rewrite(const RequestSpans& spans, net::Buffer& text);
  void tell(const TracedEndpoint& endpoint, int status, const Failure& failure);

  const RequestSpans& spans_;
  net::http1::Method method_;
  const program::BackendRecord* backend_;
  trace::Step step_;
  int told_ = 0;
};

}  // namespace edge::runtime
