#include "runtime/match/decide.h"
#include "runtime/policy/cors.h"
#include "runtime/session/exchange.h"
#include "runtime/session/phases.h"
#include "runtime/session/worker.h"

namespace edge::runtime {

Reply reply_of(PolicyAnswer answer) {
  return {answer.status,          answer.reason,   answer.text,        {}, false, std::move(answer.fields),
          std::move(answer.body), answer.own_body, answer.program_body};
}

PolicyRequest policy_request_of(const Arrival& arrival, Worker& worker) {
  return {worker.scratch().request, arrival.host,        arrival.path,        arrival.source,
          arrival.secure,           worker.loop().now(), arrival.peer_trusted};
}

namespace {

using net::http1::RequestHead;

// It would answer with the request's head, credentials and our own fields among it (RFC 9110 §9.3.8), to whoever can
// have a client send it.
Reply no_trace() { return {501, "method-not-implemented", "TRACE is not served here.", {}, false}; }

void begin_trace(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker) {
  using Sender = trace::Tracer::Sender;
  using program::TraceSenders;
  const RequestHead& head = worker.scratch().request;
  const program::TracingRecord& settings = *arrival.listener->tracing;
  const bool believed = settings.believed == TraceSenders::kAlways ||
                        (settings.believed == TraceSenders::kTrustedProxies && arrival.peer_trusted);
  RequestSpans& spans = exchange.forward.spans;
  spans.trace =
      worker.tracer().begin(head.fields, believed ? Sender::kBelieved : Sender::kStranger, settings.sampling_percent);
  spans.program = exchange.program->program.get();
  spans.ready = exchange.program->ready_attributes.get();
  trace_request(*spans.trace, {head, arrival.host, arrival.path, arrival.source, connection, exchange.id.text()});
}

/// Begins the request's access log entry.
void note(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker) {
  const ThreadProgram& program = *exchange.program;
  exchange.forward.notes =
      note_request({*program.program, program.logged, program.bind_of_slot[connection.slot]},
                   {worker.scratch().request, arrival.host, arrival.path, arrival.source, worker.loop().now()});
}

// A preflight asks about a request of another method: the rule that would take that one answers, if it has CORS.
std::optional<Decision> decide_rule(const ThreadProgram& program, const Arrival& arrival, std::span<const Field> fields,
                                    Worker& worker) {
  const RequestHead& head = worker.scratch().request;
  program::RequestView view{head.method_text, arrival.host, arrival.path, head.query, fields, arrival.source};
  if (const std::string_view method = preflight_method(head); !method.empty()) {
    view.method = method;
    const std::optional<Decision> asked_for = decide(*program.program, arrival.bind, view, worker.match_scratch());
    if (asked_for && answers_preflight(program.policies->chain(*asked_for->host, asked_for->treatment()))) {
      return asked_for;
    }
    view.method = head.method_text;
  }
  return decide(*program.program, arrival.bind, view, worker.match_scratch());
}

Reply policy_unavailable(std::string_view text) { return {503, "policy-unavailable", text, {}, false}; }

bool pass_chain(const PolicyChain& chain, Exchange& exchange, const Arrival& arrival, Worker& worker,
                std::optional<Reply>& ending) {
  std::optional<ConcurrencyPermit> permit;
  auto answer = pass(chain, policy_request_of(arrival, worker), *exchange.program->ip_accesses, worker.limit_tables(),
                     exchange.forward.response.added, permit);
  if (answer) return end_with(ending, reply_of(*std::move(answer)));
  if (chain.waits()) {
    exchange.authentication = &chain;
    if (exchange.identity == nullptr) exchange.identity = std::make_unique<PolicyState>();
  }
  if (chain.drops_trailers) {
    if (exchange.identity == nullptr) exchange.identity = std::make_unique<PolicyState>();
    exchange.identity->drop_trailers();
  }
  if (permit) {
    if (exchange.identity == nullptr) exchange.identity = std::make_unique<PolicyState>();
    exchange.identity->permit = std::move(permit);
  }
  return true;
}

/// Replies 404, unless a policy of the listener replies before: what it asks of clients it asks whatever they look for.
void answer_without_route(Exchange& exchange, const Arrival& arrival, Worker& worker, std::optional<Reply>& ending) {
  static constexpr program::TreatmentRecord kNoTreatment{};
  const ThreadProgram& program = *exchange.program;
  end_with(ending, no_route());
  exchange.taken.listener =
      arrival.listener != nullptr ? arrival.listener : find_listener(*program.program, arrival.bind, arrival.host);
  if (exchange.taken.listener == nullptr) return;
  const NoRouteChain none = program.policies->without_route(*exchange.taken.listener);
  if (none.chain == nullptr) return;
  exchange.forward.treatment = &kNoTreatment;
  if (none.denied) {
    decorate(*none.chain, policy_request_of(arrival, worker), exchange.forward.response.added);
    end_with(ending, policy_unavailable("A policy that protects this gateway cannot be enforced."));
    return;
  }
  static_cast<void>(pass_chain(*none.chain, exchange, arrival, worker, ending));
}

}  // namespace

void identify(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker) {
  const net::http1::HeadFields& fields = worker.scratch().request.fields;
  const bool keeps_id = arrival.peer_trusted && exchange.id.keep(fields.value(net::http1::KnownField::kXRequestId));
  if (!keeps_id) exchange.id.generate(worker.unix_milliseconds(), worker.random());
  if (arrival.listener != nullptr && arrival.listener->tracing != nullptr) {
    begin_trace(exchange, arrival, connection, worker);
  }
}

bool look_first(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker,
                std::optional<Reply>& ending) {
  if (exchange.program->logged.any()) note(exchange, arrival, connection, worker);
  const auto& challenges = exchange.program->tls->challenges();
  const net::http1::Method method = worker.scratch().request.method;
  const bool reads = method == net::http1::Method::kGet || method == net::http1::Method::kHead;
  if (challenges == nullptr || connection.secure() || !reads) return true;
  const std::string* const answer = challenges->find(arrival.host, arrival.path);
  if (answer == nullptr) return true;
  Reply reply{200, "acme-challenge", {}, {}, false};
  reply.fields = "Content-Type: application/octet-stream\r\n";
  reply.body = *answer;
  return end_with(ending, std::move(reply));
}

bool choose_rule(Exchange& exchange, const Arrival& arrival, std::span<const Field> fields, Worker& worker,
                 std::optional<Reply>& ending) {
  if (worker.scratch().request.method == net::http1::Method::kTrace) return end_with(ending, no_trace());
  const std::optional<Decision> decision = decide_rule(*exchange.program, arrival, fields, worker);
  if (!decision) [[unlikely]] {
    answer_without_route(exchange, arrival, worker, ending);
    return false;
  }
  exchange.taken = {decision->listener, decision->host, decision->action};
  exchange.forward.treatment = &decision->treatment();
  return true;
}

bool pass_policies(Exchange& exchange, const Arrival& arrival, Worker& worker, std::optional<Reply>& ending) {
  const program::TreatmentRecord& treatment = *exchange.forward.treatment;
  const PolicyChain& chain = exchange.program->policies->chain(*exchange.taken.host, treatment);
  if ((treatment.flags & program::kDenied) != 0) [[unlikely]] {
    // The policies that can be enforced have a part in this answer, too: it may be a page.
    decorate(chain, policy_request_of(arrival, worker), exchange.forward.response.added);
    return end_with(ending, policy_unavailable("A policy that protects this route cannot be enforced."));
  }
  return chain.empty() || pass_chain(chain, exchange, arrival, worker, ending);
}

void decorate_without_route(Exchange& exchange, const Arrival& arrival, Worker& worker) {
  const NoRouteChain none = exchange.program->policies->without_route(*exchange.taken.listener);
  if (none.chain == nullptr) return;
  decorate(*none.chain, policy_request_of(arrival, worker), exchange.forward.response.added);
}

}  // namespace edge::runtime
