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
std::optional<Reply> over_limit(std::span<const RateLimit* const> limits, const auth::Verdict& verdict,
                                Worker& worker) {
  for (const RateLimit* limit : limits) {
    const std::string* const value = find_claim(verdict.claims.get(), limit->claim());
    auto answer = limit->pass_claim(value, worker.loop().now(), worker.rate_limits());
    if (answer) return Reply{answer->status, answer->reason, answer->text, {}, false, std::move(answer->fields)};
  }
  return std::nullopt;
}

std::string_view outcome_name(auth::Outcome outcome) {
  switch (outcome) {
    case auth::Outcome::kPassed:
      return "passed";
    case auth::Outcome::kDenied:
      return "denied";
    case auth::Outcome::kRedirected:
      return "redirected";
    case auth::Outcome::kFailed:
      break;
  }
  return "failed";
}

TracedPolicy traced_policy(program::PolicyType type, const auth::Verdict& verdict) {
  TracedPolicy policy{type, outcome_name(verdict.outcome)};
  if (verdict.passed()) return policy;
  policy.status = verdict.answer.status;
  policy.reason = verdict.answer.reason;
  policy.failed = verdict.outcome == auth::Outcome::kFailed;
  return policy;
}

}  // namespace

// All of them have to let it pass. Nothing that came before is done again: the decision stands, and what a rate limit
// has counted is counted.
net::Task<std::optional<Reply>> Session::authenticate(Exchange& exchange, Arrival& arrival) {
  RequestEdits& edits = *exchange.identity;
  RequestSpans& spans = exchange.forward.spans;
  HeadOverWaits heads(worker_.scratch(), inlet_, arrival);
  for (const AuthStep& step : exchange.authentication->authentication) {
    const Asked asked{worker_.scratch().request, arrival.host,       arrival.path, arrival.source, arrival.secure,
                      worker_.loop().now(),      exchange.id.text(), &edits};
    const trace::Step traced = spans.begin_step();
    auth::Place place = worker_.auth_place(waiter_, client_);
    place.calls = {spans.trace.get(), traced};
    net::Task<auth::Verdict> asking = exchange.program->authentication->ask(step, asked, place);
    auth::Verdict verdict = co_await heads.over(asking);
    trace_policy(spans, traced, traced_policy(step.type, verdict));
    worker_.counters().authentication[auth_index(step.type)][static_cast<std::size_t>(verdict.outcome)].add();
    if (!verdict.passed()) {
      PolicyAnswer& answer = verdict.answer;
      co_return Reply{answer.status,         answer.reason, answer.text, {}, false, std::move(answer.fields),
                      std::move(answer.body)};
    }
    if (step.type == program::PolicyType::kJwt) {
      if (auto over = over_limit(exchange.authentication->claim_limits, verdict, worker_)) co_return std::move(over);
    }
    edits.join(std::move(verdict.request));
    exchange.forward.response.added.append(verdict.response_fields);
  }
  co_return std::nullopt;
}

}  // namespace edge::runtime
