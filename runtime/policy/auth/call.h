// A call that a policy makes for one request: a span of the request's trace, of which who is called is told.
#pragma once

#include <string_view>

#include "net/client/http_client.h"
#include "net/task.h"
#include "runtime/policy/auth/auth_context.h"

namespace edge::runtime::auth {

enum class Callee : std::uint8_t {
  kOwnService,        ///< is told all that a backend is told
  kIdentityProvider,  ///< somebody else's: of ids alone, not of what senders before us noted in tracestate
};

/// What to tell the callee of the trace, as whole lines; empty: nothing.
std::string trace_fields(const trace::StepCalls& calls, const trace::Step& step, Callee callee);

/// `span` names it, e.g. `call token`. What `call` refers to must live until the task has ended; `fields` are its own.
net::Task<net::client::Answer> call(AuthContext context, std::string_view span, Callee callee, net::client::Call call);

/// The same, of a service that is a backend of the program.
net::Task<net::client::Answer> call_service(AuthContext context, std::string_view span, ServiceCall call);

/// What is known of a call when it has ended, for its span.
struct Called {
  std::string_view host;
  std::uint16_t port = 0;  ///< 0: of a backend
  std::string_view method;
  int status = 0;            ///< 0: none
  std::string_view fault{};  ///< empty: there was an answer
};
void end_call(const trace::StepCalls& calls, const trace::Step& step, std::string_view span, const Called& called);

}  // namespace edge::runtime::auth
