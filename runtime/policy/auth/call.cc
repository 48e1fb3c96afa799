#include "runtime/policy/auth/call.h"

#include <string>
#include <utility>

#include "runtime/observe/trace/trace_context.h"

namespace edge::runtime::auth {

using net::client::Answer;

std::string trace_fields(const trace::StepCalls& calls, const trace::Step& step, Callee callee) {
  if (!calls) return {};
  const auto others = trace::trace_fields(
      [&](std::string_view name) { return callee == Callee::kIdentityProvider && name != "traceparent"; });
  return calls.fields(step, others);
}

net::Task<Answer> call(AuthContext context, std::string_view span, Callee callee, net::client::Call call) {
  const trace::Step step = context.calls.begin();
  std::string fields(call.fields);
  fields += trace_fields(context.calls, step, callee);
  call.fields = fields;
  const Called asked{call.url, call.method};
  Answer answer = co_await context.client.call(context.waiter, std::move(call));
  if (step) {
    end_call(context.calls, step, span,
             {asked.url, asked.method, answer.ok() ? answer.status : 0,
              answer.ok() ? std::string_view{} : net::client::fault_word(answer.fault)});
  }
  co_return answer;
}

// Never the target: what stands there may be a token, or say who somebody is.
void end_call(const trace::StepCalls& calls, const trace::Step& step, std::string_view span, const Called& called) {
  trace::Attributes& out = calls.attributes();
  out.add("http.method", called.method);
  out.add("http.request.method", called.method);
  if (called.status != 0) {
    out.add("http.status_code", called.status);
    out.add("http.response.status_code", called.status);
  }
  out.add("server.address", called.url.host);
  out.add("server.port", called.url.port);
  // To who asks, every refusal is an error (OpenTelemetry, semantic conventions for HTTP); here 401 and 403 are not:
  // they are what was asked for.
  std::string error(called.fault);
  if (error.empty() && called.status >= 400 && called.status != 401 && called.status != 403) {
    error = std::to_string(called.status);
  }
  if (!error.empty()) out.add("error.type", error);
  calls.end(step, span, error);
}

}  // namespace edge::runtime::auth
