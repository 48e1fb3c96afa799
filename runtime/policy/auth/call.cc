#include "runtime/policy/auth/call.h"

#include <string>
#include <utility>

#include "base/resource_id.h"
#include "runtime/observe/trace/trace_context.h"

namespace edge::runtime::auth {

using net::client::Answer;

namespace {

Called with_answer(Called called, const Answer& answer) {
  called.status = answer.ok() ? answer.status : 0;
  if (!answer.ok()) called.fault = net::client::fault_word(answer.fault);
  return called;
}

}  // namespace

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
  const Called asked{call.url.host, call.url.port, call.method};
  Answer answer = co_await context.client.call(context.waiter, std::move(call));
  if (step) end_call(context.calls, step, span, with_answer(asked, answer));
  co_return answer;
}

net::Task<Answer> call_service(AuthContext context, std::string_view span, ServiceCall call) {
  if (context.call_service == nullptr) co_return Answer{};
  const trace::Step step = context.calls.begin();
  std::string fields(call.fields);
  fields += trace_fields(context.calls, step, Callee::kOwnService);
  call.fields = fields;
  Answer answer = co_await (*context.call_service)(call);
  const std::string host = resource_path(call.name_space, call.name);
  if (step) end_call(context.calls, step, span, with_answer({.host = host, .method = call.method}, answer));
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
  out.add("server.address", called.host);
  if (called.port != 0) out.add("server.port", called.port);
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
