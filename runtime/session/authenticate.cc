// The phase in which policies ask who a client is (rule D4), and may have to wait for it.
#include "runtime/observe/request_spans.h"
#include "runtime/policy/auth/authentication.h"
#include "runtime/policy/rate_limit.h"
#include "runtime/session/arrival.h"
#include "runtime/session/exchange.h"
#include "runtime/session/session.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

/// Null: the token does not have it.
const std::string* find_claim(const auth::VerifiedClaims* claims, const std::string& wanted) {
  if (claims == nullptr) return nullptr;
  for (const auto& [name, text] : *claims) {
    if (name == wanted) return &text;
  }
  return nullptr;
}

/// Limits by what a token claims, which is known only now.
bool within_limits(std::span<const RateLimit* const> limits, const auth::AuthResult& auth_result, Worker& worker,
                   std::optional<Reply>& ending) {
  for (const RateLimit* limit : limits) {
    const std::string* const value = find_claim(auth_result.claims.get(), limit->claim());
    auto answer = limit->pass_claim(value, worker.loop().now(), worker.rate_limits());
    if (answer) {
      return end_with(ending, {answer->status, answer->reason, answer->text, {}, false, std::move(answer->fields)});
    }
  }
  return true;
}

std::string_view auth_status_name(auth::AuthStatus outcome) {
  switch (outcome) {
    case auth::AuthStatus::kPassed:
      return "passed";
    case auth::AuthStatus::kDenied:
      return "denied";
    case auth::AuthStatus::kRedirected:
      return "redirected";
    case auth::AuthStatus::kFailed:
      break;
  }
  return "failed";
}

TracedPolicy traced_policy(program::PolicyType type, const auth::AuthResult& auth_result) {
  TracedPolicy policy{type, auth_status_name(auth_result.outcome)};
  if (auth_result.passed()) return policy;
  policy.status = auth_result.answer.status;
  policy.reason = auth_result.answer.reason;
  policy.failed = auth_result.outcome == auth::AuthStatus::kFailed;
  return policy;
}

}  // namespace

// All of them have to let it pass. Nothing that came before is done again: the decision stands, and what a rate limit
// has counted is counted.
net::Task<bool> Session::authenticate(Exchange& exchange, Arrival& arrival, std::optional<Reply>& ending) {
  RequestEdits& edits = *exchange.identity;
  RequestSpans& spans = exchange.forward.spans;
  HeadOverWaits heads(worker_.scratch(), inlet_, arrival);
  for (const AuthStep& step : exchange.authentication->authentication) {
    const PolicyRequest policy_request{
        worker_.scratch().request, arrival.host,       arrival.path, arrival.source, arrival.secure,
        worker_.loop().now(),      exchange.id.text(), &edits};
    const trace::Step traced = spans.begin_step();
    auth::AuthContext context = worker_.auth_context(waiter_, client_);
    context.calls = {spans.trace.get(), traced};
    net::Task<auth::AuthResult> asking = exchange.program->authentication->ask(step, policy_request, context);
    auth::AuthResult auth_result = co_await heads.over(asking);
    trace_policy(spans, traced, traced_policy(step.type, auth_result));
    worker_.counters().authentication[auth_index(step.type)][static_cast<std::size_t>(auth_result.outcome)].add();
    if (!auth_result.passed()) {
      PolicyAnswer& answer = auth_result.answer;
      co_return end_with(
          ending,
          {answer.status, answer.reason, answer.text, {}, false, std::move(answer.fields), std::move(answer.body)});
    }
    if (step.type == program::PolicyType::kJwt &&
        !within_limits(exchange.authentication->claim_limits, auth_result, worker_, ending)) {
      co_return false;
    }
    edits.join(std::move(auth_result.request));
    exchange.forward.response.added.append(auth_result.response_fields);
  }
  co_return true;
}

}  // namespace edge::runtime
