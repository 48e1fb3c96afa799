// A call that a policy makes for one request: recorded as a span of the request's trace, whose context is propagated.
#pragma once

#include <string_view>

#include "net/client/http_client.h"
#include "net/task.h"
#include "runtime/policy/auth/auth_context.h"

namespace edge::runtime::auth {

enum class Callee : std::uint8_t {
  kOwnService,        ///< gets the same trace context as a backend
  kIdentityProvider,  ///< a third party: gets the ids only, without the tracestate of earlier senders
};

/// Returns the trace context for the callee, as complete lines; empty: none.
std::string trace_fields(const trace::StepCalls& calls, const trace::Step& step, Callee callee);

/// Makes a call. `span` is its span's name, such as `call token`. What `call` refers to must stay valid until the task
/// has ended; `fields` are owned by it.
net::Task<net::client::Answer> call(AuthContext context, std::string_view span, Callee callee, net::client::Call call);

/// The same, for a service that is a backend of the program.
net::Task<net::client::Answer> call_service(AuthContext context, std::string_view span, ServiceCall call);

/// The facts of a finished call, for its span.
struct Called {
  std::string_view host;
  std::uint16_t port = 0;  ///< 0: a backend's
  std::string_view method;
  int status = 0;            ///< 0: no response
  std::string_view fault{};  ///< empty: there was a response
};
void end_call(const trace::StepCalls& calls, const trace::Step& step, std::string_view span, const Called& called);

}  // namespace edge::runtime::auth
