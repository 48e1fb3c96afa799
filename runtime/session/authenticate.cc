// The phase in which policies authenticate the client (rule D4); it may wait.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "runtime/observe/request_spans.h"
#include "runtime/policy/auth/authentication.h"
#include "runtime/policy/fixed_response.h"
#include "runtime/policy/rate_limit.h"
#include "runtime/policy/request_filter.h"
#include "runtime/session/accept/client_address.h"
#include "runtime/session/arrival.h"
#include "runtime/session/exchange.h"
#include "runtime/session/phases.h"
#include "runtime/session/session.h"
#include "runtime/session/worker.h"
#include "runtime/shape/buffered_body.h"
#include "runtime/upstream/backend_call.h"

namespace edge::runtime {
namespace {

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

/// The client as the policies so far have verified it.
struct Verified {
  VerifiedClient client;
  /// Keeps those of `client`.
  std::shared_ptr<const auth::VerifiedClaims> claims;

  void take(program::PolicyType type, auth::AuthResult& auth_result) {
    if (auth_result.claims != nullptr) {
      claims = std::move(auth_result.claims);
      client.claims = *claims;
    }
    if (!auth_result.subject.empty()) {
      // With the policy's type: a user of a password file is not the subject of a token that is called the same.
      client.subject = std::to_string(static_cast<std::uint32_t>(type)) + " " + auth_result.subject;
    }
  }
};

/// Whether it is the policy that verifies tokens before a rule is chosen.
bool is_token_step(const AuthStep& step, const Arrival& arrival) {
  return step.type == program::PolicyType::kJwt && arrival.listener != nullptr &&
         step.settings == arrival.listener->token_policy && step.settings != program::kNone;
}

/// The longest time that the request may take: of the route, or of the backends of which one is chosen later; 0: no
/// bound. A request that no rule takes has neither.
net::Duration most_time(const Exchange& exchange) {
  const std::uint64_t own = exchange.forward.treatment->request_timeout_ns;
  if (own != 0 || exchange.taken.action == nullptr) return net::Duration(own);
  std::uint64_t most = 0;
  for (const program::BackendRefRecord& one :
       program::split_of(exchange.taken.host->view, *exchange.taken.action).backends) {
    const std::uint32_t index = exchange.program->program->backend_index(one.backend_id());
    if (index == program::kNone) continue;
    const std::uint64_t timeout = exchange.program->pools[index]->settings().request_timeout_ns;
    if (timeout == 0) return net::Duration(0);
    most = std::max(most, timeout);
  }
  return net::Duration(most);
}

}  // namespace

net::Task<net::client::Answer> Session::call_service(const Exchange& exchange, std::uint64_t balance_key,
                                                     auth::ServiceCall call) {
  const ThreadProgram& program = *exchange.program;
  const std::uint32_t backend = program.program->backend_index(stable_id("ProxyBackend", call.name_space, call.name));
  if (backend == program::kNone) co_return net::client::Answer{};
  BackendPool& pool = *program.pools[backend];
  std::string head;
  head.append(call.method).append(" ").append(call.target).append(" HTTP/1.1\r\nHost: ").append(call.host);
  head.append("\r\nContent-Length: ").append(std::to_string(call.body.size())).append("\r\n");
  head.append(call.fields).append("\r\n");
  const std::string proxy_header = program.announces ? header_for(pool.settings(), connection_) : std::string();
  net::client::Answer answer =
      co_await call_backend(worker_.loop(), waiter_,
                            {.pool = pool,
                             .method = call.method == "HEAD" ? net::http1::Method::kHead : net::http1::Method::kGet,
                             .head = head,
                             .body = call.body,
                             .balance_key = balance_key,
                             .proxy_header = proxy_header,
                             .way = pool.marks().any() ? pool.marks().way_of(exchange.taken.listener->gateway->id) : 0,
                             .until = call.until,
                             .max_body = call.max_body,
                             .trailers = call.trailers,
                             .asker = &client_,
                             .scratch = worker_.scratch().response});
  co_return answer;
}

net::Task<bool> Session::copy_body_for_policies(Exchange& exchange, HeadOverWaits& heads, std::string& body,
                                                std::optional<Reply>& ending) {
  std::uint64_t limit = 0;
  for (const AuthStep& step : exchange.authentication->authentication) {
    const std::uint64_t wanted = exchange.program->authentication->body_limit(step);
    if (wanted != 0 && (limit == 0 || wanted < limit)) limit = wanted;
  }
  const bool readable = co_await copy_body_into(exchange, heads, BodyPart::kWhole, limit, body, ending);
  co_return readable;
}

// Nothing of it is forwarded before.
net::Task<bool> Session::inspect_body(Exchange& exchange, HeadOverWaits& heads, const Arrival& arrival,
                                      std::optional<Reply>& ending) {
  if (exchange.forward.body.none()) co_return true;
  std::uint64_t most = 0;
  for (const RequestFilter* filter : exchange.authentication->body_filters) {
    most = std::max<std::uint64_t>(most, filter->inspected());
  }
  std::string beginning;
  const bool readable = co_await copy_body_into(exchange, heads, BodyPart::kBeginning, most, beginning, ending);
  if (!readable) co_return false;
  for (const RequestFilter* filter : exchange.authentication->body_filters) {
    auto refused = filter->pass_body(
        {worker_.scratch().request, arrival.host, arrival.path, arrival.source, arrival.secure, worker_.loop().now()},
        beginning);
    if (refused) co_return end_with(ending, {refused->status, refused->reason, refused->text, {}, true});
  }
  co_return true;
}

net::Task<bool> Session::copy_body_into(Exchange& exchange, HeadOverWaits& heads, BodyPart part, std::uint64_t limit,
                                        std::string& body, std::optional<Reply>& ending) {
  ForwardRequest& request = exchange.forward;
  if (limit == 0 || request.body.none()) co_return true;
  request.body.limits = exchange.taken.listener->limits;
  request.deadlines.idle = net::Duration(request.treatment->idle_timeout_ns);
  // The request's time begins with its body, as where it is buffered.
  const net::Duration timeout = most_time(exchange);
  const net::Time now = worker_.loop().now();
  if (timeout != net::Duration(0) && request.deadlines.until == net::kNever) {
    request.deadlines.bound(now, now + timeout);
  }
  heads.keep();
  const ClientEnd client{client_, inlet_, outlet_, waiter_};
  const WorkerParts parts = worker_.parts();
  const Failure failure = co_await copy_body(request.body, part, limit, {client, request.deadlines, parts}, body,
                                             worker_.counters().responses[1]);
  heads.restore();
  if (!failure) co_return true;
  FailureAnswer answer = answer_for(failure.kind);
  if (answer.status == 0) answer = answer_for(FailureKind::kClientStalled);
  co_return end_with(ending, {answer.status, answer.reason, answer.text, {}, true});
}

// By the policy that is in force on the listener, whatever the rule's own is: no rule is chosen yet. Without a valid
// token there are no claims, and the policies of the rule that is chosen then refuse the request, or do not ask. The
// policies that never wait come later: what they limit is what rules are for.
net::Task<bool> Session::choose_rule_by_claims(Exchange& exchange, Arrival& arrival, std::optional<Reply>& ending) {
  const AuthStep step{program::PolicyType::kJwt, arrival.listener->token_policy};
  HeadOverWaits heads(worker_.scratch(), inlet_, arrival);
  PolicyRequest policy_request = policy_request_of(arrival, worker_);
  policy_request.request_id = exchange.id.text();
  RequestSpans& spans = exchange.forward.spans;
  const trace::Step traced = spans.begin_step();
  auth::AuthContext context = worker_.auth_context(waiter_, client_);
  context.calls = {spans.trace.get(), traced};
  net::Task<auth::AuthResult> asking = exchange.program->authentication->ask(step, policy_request, context);
  auth::AuthResult auth_result = co_await heads.over(asking);
  trace_policy(spans, traced, traced_policy(step.type, auth_result));
  if (auth_result.outcome == auth::AuthStatus::kFailed) {
    worker_.counters().authentication[auth_index(step.type)][static_cast<std::size_t>(auth_result.outcome)].add();
    co_return end_with(ending, reply_of(std::move(auth_result.answer)));
  }
  const std::span<const Field> head_fields = worker_.scratch().request.fields.all();
  std::vector<Field> fields(head_fields.begin(), head_fields.end());
  const auth::MatchedClaims* const matched = auth_result.passed() ? auth_result.matched.get() : nullptr;
  if (matched != nullptr) {
    for (const auto& [field, text] : matched->held) fields.push_back({(*matched->fields)[field], text});
  }
  exchange.identity = std::make_unique<PolicyState>();
  exchange.identity->token_result = std::move(auth_result);
  co_return choose_rule(exchange, arrival, fields, worker_, ending);
}

// All of them have to let it pass. Nothing that came before is done again: the decision stands, and what a rate limit
// has counted is counted.
net::Task<bool> Session::authenticate(Exchange& exchange, Arrival& arrival, std::optional<Reply>& ending) {
  if (exchange.program->announces) state_client_verification(exchange, connection_);
  RequestEdits& edits = *exchange.identity;
  RequestSpans& spans = exchange.forward.spans;
  HeadOverWaits heads(worker_.scratch(), inlet_, arrival);
  const auto call_by_pool = [&](const auth::ServiceCall& call) {
    return call_service(exchange, client_key(arrival.source), call);
  };
  const auth::CallService call_service_of_request = std::cref(call_by_pool);
  std::string body;
  Verified verified;
  std::size_t passed = 0;
  const bool readable = co_await copy_body_for_policies(exchange, heads, body, ending);
  if (!readable) co_return false;
  for (const AuthStep& step : exchange.authentication->authentication) {
    PolicyRequest policy_request = policy_request_of(arrival, worker_);
    policy_request.request_id = exchange.id.text();
    policy_request.edits = &edits;
    policy_request.body = body;
    policy_request.certificate = certificate_of(connection_);
    const trace::Step traced = spans.begin_step();
    auth::AuthContext context = worker_.auth_context(waiter_, client_);
    context.calls = {spans.trace.get(), traced};
    context.call_service = &call_service_of_request;
    auth::AuthResult auth_result;
    if (is_token_step(step, arrival) && exchange.identity->token_result) {
      auth_result = *std::exchange(exchange.identity->token_result, std::nullopt);
    } else {
      net::Task<auth::AuthResult> asking = exchange.program->authentication->ask(step, policy_request, context);
      auth::AuthResult answer = co_await heads.over(asking);
      auth_result = std::move(answer);
    }
    trace_policy(spans, traced, traced_policy(step.type, auth_result));
    worker_.counters().authentication[auth_index(step.type)][static_cast<std::size_t>(auth_result.outcome)].add();
    if (!auth_result.passed()) co_return end_with(ending, reply_of(std::move(auth_result.answer)));
    verified.take(step.type, auth_result);
    if (++passed == exchange.authentication->late_after) {
      auto refused = pass_late(*exchange.authentication, policy_request_of(arrival, worker_), verified.client,
                               worker_.limit_tables(), exchange.identity->permit);
      if (refused) co_return end_with(ending, reply_of(*std::move(refused)));
    }
    edits.join(std::move(auth_result.request));
    exchange.forward.response.added.append(auth_result.response_fields);
  }
  if (!exchange.authentication->body_filters.empty()) {
    const bool clean = co_await inspect_body(exchange, heads, arrival, ending);
    if (!clean) co_return false;
  }
  if (const FixedResponse* const fixed = exchange.authentication->fixed_response) {
    co_return end_with(ending, reply_of(fixed->answer()));
  }
  co_return true;
}

}  // namespace edge::runtime
