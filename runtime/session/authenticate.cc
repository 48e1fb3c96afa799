// The policies of rule D4 that ask who a client is, and may have to wait for it. The head that they look at lies where
// other requests leave theirs: it is kept over a wait and parsed once more after it.
#include "runtime/policy/rate_limit.h"
#include "runtime/session/session.h"
#include "runtime/session/traced.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

using net::http1::RequestHead;

/// From the request line to the empty line, as it was received.
std::string_view text_of(const RequestHead& head) {
  const std::string_view lines = head.fields.lines(0, head.fields.size());
  const char* const begin = head.method_text.data();
  return {begin, static_cast<std::size_t>(lines.data() + lines.size() + std::string_view("\r\n").size() - begin)};
}

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

}  // namespace

// All of them have to let it pass. Nothing that came before is done again: the decision stands, and what a rate limit
// has counted is counted.
net::Task<std::optional<Reply>> Session::authenticate(Exchange& exchange, Arrival& arrival) {
  Identity& identity = *exchange.identity;
  for (const AuthStep& step : identity.steps) {
    const Asked asked{worker_.scratch().request, arrival.host,       arrival.path,   arrival.source, arrival.secure,
                      worker_.loop().now(),      exchange.id.text(), &identity.edits};
    const trace::Step traced = begin_step(exchange);
    auth::Place place = worker_.auth_place(waiter_, client_);
    place.calls = {exchange.trace.get(), traced};
    net::Task<auth::Verdict> asking = exchange.program->authentication->ask(step, asked, place);
    const bool waits = !asking.await_ready();
    if (waits) keep_head(exchange);
    auth::Verdict verdict = co_await asking;
    trace_policy(exchange, traced, step.type, verdict);
    worker_.counters().authentication[auth_index(step.type)][static_cast<std::size_t>(verdict.outcome)].add();
    if (!verdict.passed()) {
      PolicyAnswer& answer = verdict.answer;
      co_return Reply{answer.status,         answer.reason, answer.text, {}, false, std::move(answer.fields),
                      std::move(answer.body)};
    }
    if (step.type == program::PolicyType::kJwt) {
      if (auto over = over_limit(identity.claim_limits, verdict, worker_)) co_return std::move(over);
    }
    if (waits) restore_head(exchange, arrival);
    identity.edits.join(std::move(verdict.request));
    exchange.added.append(verdict.response_fields);
  }
  std::optional<Reply> reply = treat(exchange, arrival);
  co_return reply;
}

void Session::keep_head(Exchange& exchange) {
  net::Buffer& kept = exchange.identity->head;
  if (kept.empty()) kept.append(text_of(worker_.scratch().request));
  inlet_.keep();
}

// The same bytes by the same limits: what was found sound is.
void Session::restore_head(const Exchange& exchange, Arrival& arrival) {
  Scratch& scratch = worker_.scratch();
  net::http1::ParseHint hint;
  net::http1::parse_request(exchange.identity->head.view(), scratch.limits, hint, scratch.request);
  locate(arrival);
  apply_path_rules(arrival);
}

}  // namespace edge::runtime
