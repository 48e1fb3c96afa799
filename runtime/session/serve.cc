// The main path, top to bottom:
//
//   head read -> scheme redirect -> decide (none: 404) -> policies (denied: 503) -> authentication (401, 403) ->
//   size limit: 413 -> redirect -> backend (none: 500) -> request held -> cache -> forward (pool, retry, deadline) ->
//   response held, compressed -> send -> count
#include <optional>
#include <string>

#include "base/hostname.h"
#include "base/path.h"
#include "program/filters.h"
#include "program/path_rules.h"
#include "program/scheme_redirect.h"
#include "runtime/policy/cors.h"
#include "runtime/session/client_address.h"
#include "runtime/session/grpc.h"
#include "runtime/session/heads.h"
#include "runtime/session/session.h"
#include "runtime/session/traced.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

using net::http1::BodyKind;
using net::http1::KnownField;
using net::http1::RequestHead;

Reply bad_request(std::string_view reason, std::string_view text) { return {400, reason, text, {}, true}; }

// What the handshake asked of the client was one listener's (RFC 9110 §15.5.20); another may ask for more. Without SNI
// it was that of the listener for every other name.
bool misdirected(const LoadedProgram& program, std::uint32_t bind, std::string_view host,
                 std::string_view server_name) {
  return host != server_name && find_listener(program, bind, host) != find_listener(program, bind, server_name);
}

// It would answer with the request's head, credentials and our own fields among it (RFC 9110 §9.3.8), to whoever can
// have a client send it.
Reply no_trace() { return {501, "method-not-implemented", "TRACE is not served here.", {}, false}; }

Reply no_route() { return {404, "no-route", "No route matches this request.", {}, false}; }

bool claims_https(const RequestHead& head) { return head.fields.value(KnownField::kXForwardedProto) == "https"; }

bool is_canary(const RequestHead& head) { return head.fields.value(KnownField::kXCanary) == "true"; }

net::Time deadline_of(const program::TrafficRecord& traffic, const BackendPool& pool, net::Time now) {
  const std::uint64_t timeout =
      traffic.request_timeout_ns != 0 ? traffic.request_timeout_ns : pool.settings().request_timeout_ns;
  return timeout == 0 ? net::kNever : now + net::Duration(timeout);
}

}  // namespace

net::Task<Session::Next> Session::serve() {
  Exchange exchange;
  Arrival arrival;
  std::optional<Reply> reply = admit(exchange, arrival);
  if (exchange.identity != nullptr && !reply) [[unlikely]] {
    reply = co_await authenticate(exchange, arrival);
  }
  if (reply) {
    if (exchange.listener == nullptr) attribute(exchange, arrival);
    co_return answer(*reply, exchange, BodyState::kUnread);
  }
  if (exchange.notes != nullptr) exchange.notes->decided_at = worker_.loop().now();
  if (exchange.shaping.request != nullptr) {
    Outcome held;
    held.failure = co_await hold_request(exchange);
    if (held.failure) co_return conclude(held, exchange);
  } else if (awaits_body(exchange)) {
    Outcome awaited;
    awaited.failure = co_await await_body(exchange);
    if (awaited.failure) co_return conclude(awaited, exchange);
  }
  if (exchange.shaping.mirrored) mirror(exchange);
  Outcome outcome;
  if (exchange.cache != nullptr) {
    outcome = co_await reuse_or_forward(exchange);
  } else {
    outcome = co_await forward(exchange);
  }
  if (outcome.withheld && !outcome.failure) {
    outcome = co_await deliver_held(exchange, outcome);
  }
  co_return conclude(outcome, exchange);
}

// Whose request it is that came to no rule: that of the listener that its host belongs to, as far as it got.
void Session::attribute(Exchange& exchange, const Arrival& arrival) const {
  const std::uint32_t bind = exchange.program->bind_of_slot[connection_.slot];
  if (bind == program::kNone) return;
  exchange.listener =
      arrival.listener != nullptr ? arrival.listener : find_listener(*exchange.program->program, bind, arrival.host);
}

// How the exchange leaves the client's connection.
Session::Next Session::conclude(const Outcome& outcome, const Exchange& exchange) {
  rest_time_ = net::Duration(exchange.traffic->idle_timeout_ns);
  Ending ending{outcome.status, outcome.reason, outcome.received, outcome.sent, outcome.attempts};
  if (!outcome.failure) {
    worker_.counters().responses[static_cast<std::size_t>(outcome.status / 100)].add();
    ended(exchange, ending);
    if (outcome.reusable) return Next::kAgain;
    return outcome.body == BodyState::kRead ? Next::kClose : Next::kLinger;
  }
  const FailureAnswer instead = answer_for(outcome.failure.kind);
  if (outcome.answered || instead.status == 0) {
    if (!outcome.answered) ending.status = 0;
    ending.broken = outcome.answered && outcome.failure.origin != Origin::kClient;
    ending.reason = loss_of(outcome.failure.kind);
    ended(exchange, ending);
    return outcome.reset ? Next::kReset : Next::kClose;
  }
  const Reply failed{instead.status, instead.reason, instead.text, {}, !outcome.reusable};
  return answer(failed, exchange, outcome.body, ending);
}

// What the head alone decides: who asks, and which rule takes it. Rules D1, D2, D5, D9. Where the rule has the client
// authenticated, `authenticate` goes on.
std::optional<Reply> Session::admit(Exchange& exchange, Arrival& arrival) {
  const RequestHead& head = worker_.scratch().request;
  ++requests_;
  worker_.counters().requests.add();
  exchange.method = head.method;
  exchange.minor = head.minor;
  exchange.keep_alive = head.keep_alive;
  exchange.expect_continue = head.expect_continue;
  exchange.body = head.body;
  exchange.reply_form = reply_form(head.fields);
  exchange.program = worker_.pin();
  exchange.began = head_since_;

  std::optional<Reply> misplaced = place(exchange, arrival);
  if (exchange.program->logged.any()) [[unlikely]] {
    note(exchange, arrival);
  }
  if (misplaced) return misplaced;
  if (arrival.listener != nullptr && arrival.listener->record->scheme_redirect.count != 0) {
    if (std::optional<Reply> reply = to_scheme(exchange, arrival)) return reply;
  }
  if (head.method == net::http1::Method::kTrace) return no_trace();
  const std::optional<Decision> decision = choose(exchange, arrival);
  if (!decision) return no_route();
  exchange.listener = decision->listener;
  exchange.host = decision->host;
  exchange.action = decision->action;
  exchange.traffic = &decision->traffic();
  if (std::optional<Reply> reply = pass_policies(exchange, arrival)) return reply;
  if (exchange.identity != nullptr) return std::nullopt;
  return treat(exchange, arrival);
}

// Host and path in the form that everything after this compares.
std::optional<Reply> Session::locate(Arrival& arrival) {
  Scratch& scratch = worker_.scratch();
  const RequestHead& head = scratch.request;
  if (!head.host.empty()) {
    const auto canonical = canonical_host(head.host, scratch.host);
    if (!canonical) return bad_request("bad-host", "The host name is malformed.");
    arrival.host = *canonical;
  }
  arrival.path = head.path;
  if (head.form != net::http1::TargetForm::kAsterisk) {
    const auto normal = normalise_path(head.path, scratch.path());
    if (!normal) return bad_request("bad-path", "The path is malformed, or climbs above its root.");
    arrival.path = *normal;
  }
  return std::nullopt;
}

// What the listener's gateway makes of the path beyond that.
std::optional<Reply> Session::apply_path_rules(Arrival& arrival) {
  if (arrival.listener == nullptr || arrival.listener->gateway->path_flags == 0) return std::nullopt;
  const PathRules rules = program::path_rules_of(*arrival.listener->gateway);
  const auto path = edge::apply_path_rules(rules, arrival.path, worker_.scratch().path());
  if (!path) return bad_request("bad-path", "The path is spelled in a way that is not served here.");
  arrival.path = *path;
  return std::nullopt;
}

// Where a request has come from, and to.
std::optional<Reply> Session::place(Exchange& exchange, Arrival& arrival) {
  const RequestHead& head = worker_.scratch().request;
  arrival.source = connection_.peer;
  if (std::optional<Reply> reply = locate(arrival)) return reply;
  arrival.bind = exchange.program->bind_of_slot[connection_.slot];
  if (arrival.bind == program::kNone) return no_route();

  const LoadedProgram& program = *exchange.program->program;
  if (connection_.secure() && misdirected(program, arrival.bind, arrival.host, connection_.tls->server_name)) {
    return Reply{421, "misdirected", "The host is another listener's than the connection is of.", {}, false};
  }
  arrival.secure = connection_.secure();
  if (exchange.program->listener_asks[arrival.bind]) {
    arrival.listener = find_listener(program, arrival.bind, arrival.host);
    if (arrival.listener != nullptr) {
      const auto proxies = program.listeners_section().array(arrival.listener->gateway->trusted_proxies);
      arrival.peer_trusted = trusted(proxies, connection_.peer);
      arrival.source = client_address(proxies, connection_.peer, head.fields);
      arrival.secure = arrival.secure || (arrival.peer_trusted && claims_https(head));
    }
  }
  if (std::optional<Reply> reply = apply_path_rules(arrival)) return reply;
  const bool keeps_id = arrival.peer_trusted && exchange.id.keep(head.fields.value(KnownField::kXRequestId));
  if (!keeps_id) exchange.id.generate(worker_.unix_milliseconds(), worker_.random());
  if (arrival.listener != nullptr && arrival.listener->tracing != nullptr) begin_trace(exchange, arrival);
  return std::nullopt;
}

void Session::begin_trace(Exchange& exchange, const Arrival& arrival) {
  using Sender = trace::Tracer::Sender;
  using program::TraceSenders;
  const RequestHead& head = worker_.scratch().request;
  const program::TracingRecord& settings = *arrival.listener->tracing;
  const bool believed = settings.believed == TraceSenders::kAlways ||
                        (settings.believed == TraceSenders::kTrustedProxies && arrival.peer_trusted);
  exchange.trace =
      worker_.tracer().begin(head.fields, believed ? Sender::kBelieved : Sender::kStranger, settings.sampling_percent);
  trace_request(exchange, {head, arrival.host, arrival.path, arrival.source, connection_});
}

// A request in plain text where the listener wants another scheme. Rule D9: whoever says that it came by TLS is
// believed, trusted or not; it gets what it would have got by TLS, and no proxy that was not listed sends it in
// circles.
std::optional<Reply> Session::to_scheme(const Exchange& exchange, const Arrival& arrival) {
  const RequestHead& head = worker_.scratch().request;
  if (connection_.secure() || claims_https(head)) return std::nullopt;
  const program::SectionView& section = exchange.program->program->listeners_section();
  const auto& settings = section.array(arrival.listener->record->scheme_redirect)[0];
  auto to =
      program::scheme_redirect(section, settings, {head.host, head.path, arrival.path, head.query, head.has_query});
  if (!to) return std::nullopt;
  if (head.host.empty()) return bad_request("bad-host", "The request names no host to be sent to.");
  return Reply{to->status, "scheme-redirect", {}, std::move(to->location), false};
}

// Rules D1, D2, D5. A preflight asks about a request of another method: the rule that would take that one answers, if
// it has CORS.
std::optional<Decision> Session::choose(const Exchange& exchange, const Arrival& arrival) {
  const RequestHead& head = worker_.scratch().request;
  const LoadedProgram& program = *exchange.program->program;
  program::RequestView view{head.method_text, arrival.host,      arrival.path,
                            head.query,       head.fields.all(), arrival.source};
  if (const std::string_view method = preflight_method(head); !method.empty()) {
    view.method = method;
    const std::optional<Decision> asked_for = decide(program, arrival.bind, view, worker_.match_scratch());
    if (asked_for && answers_preflight(exchange.program->policies->chain(*asked_for->host, asked_for->traffic()))) {
      return asked_for;
    }
    view.method = head.method_text;
  }
  return decide(program, arrival.bind, view, worker_.match_scratch());
}

// Rule D4.
std::optional<Reply> Session::pass_policies(Exchange& exchange, const Arrival& arrival) {
  if ((exchange.traffic->flags & program::kDenied) != 0) {
    return Reply{503, "policy-unavailable", "A policy that protects this route cannot be enforced.", {}, false};
  }
  const PolicyChain& chain = exchange.program->policies->chain(*exchange.host, *exchange.traffic);
  if (chain.empty()) return std::nullopt;
  const Asked asked{worker_.scratch().request, arrival.host, arrival.path, arrival.source, arrival.secure,
                    worker_.loop().now()};
  auto answer = pass(chain, asked, worker_.rate_limits(), exchange.added);
  if (!answer) {
    if (!chain.authentication.empty()) {
      exchange.identity = std::make_unique<Identity>();
      exchange.identity->steps = chain.authentication;
      exchange.identity->claim_limits = chain.claim_limits;
    }
    return std::nullopt;
  }
  return Reply{answer->status, answer->reason, answer->text, {}, false, std::move(answer->fields)};
}

// What the rule does with it. Rules D3, D11. Without a reply, the head to send stands in the thread's scratch.
std::optional<Reply> Session::treat(Exchange& exchange, const Arrival& arrival) {
  const RequestHead& head = worker_.scratch().request;
  // Whoever asks how far it gets is told that it got here (RFC 9110 §7.6.2).
  if (max_forwards(head) == 0) return Reply{204, "max-forwards", {}, {}, false};
  const program::SectionView& section = exchange.host->view;
  const program::Split split = program::split_of(section, *exchange.action);
  const std::uint32_t chosen = choose_backend(split, is_canary(head), worker_.split());
  if (!split.treatments.empty()) exchange.traffic = &program::traffic_of(section, *exchange.action, split, chosen);
  const program::TrafficRecord& traffic = *exchange.traffic;
  const std::uint64_t limit = body_limit(traffic);
  if (limit != 0 && head.body.kind == BodyKind::kLength && head.body.length > limit) {
    return Reply{413, "body-too-large", "The request's body is larger than allowed.", {}, false};
  }
  const auto filters = exchange.filters();
  program::Rewrite rewritten;
  if (!filters.empty()) {
    const program::RedirectRequest target{connection_.scheme(), head.host, arrival.path, head.query, head.has_query};
    if (auto to = program::redirect(section, filters, target)) {
      return Reply{to->status, "redirect", {}, std::move(to->location), false};
    }
    rewritten = program::rewrite(section, filters, arrival.path);
  }

  const std::uint32_t backend = chosen == program::kNone
                                    ? program::kNone
                                    : exchange.program->program->backend_index(split.backends[chosen].backend_id());
  if (backend == program::kNone) {
    return Reply{500, "no-backend", "The route names no backend that can take this request.", {}, false};
  }
  exchange.pool = exchange.program->pools[backend].get();
  if (exchange.pool->keyed()) exchange.balance_key = client_key(arrival.source);
  if (exchange.program->announces) [[unlikely]] {
    exchange.header = header_for(exchange.pool->settings(), connection_);
  }
  exchange.websocket = head.upgrade && asks_for_websocket(head);
  const net::Time now = worker_.loop().now();
  exchange.bound(now, deadline_of(traffic, *exchange.pool, now));
  if (exchange.reply_form == ReplyForm::kGrpc) {
    if (const auto timeout = grpc_timeout(head.fields)) {
      exchange.bound_by_client(now + std::max(*timeout, net::Duration(traffic.min_grpc_timeout_ns)));
    }
  }
  const bool holds = (traffic.flags & (program::kBufferRequest | program::kBufferResponse)) != 0;
  if (holds || exchange.listener->compression != nullptr) shape(exchange);
  // A connection that becomes another protocol's has nothing that could be copied.
  exchange.shaping.mirrored = traffic.mirrors.count != 0 && !head.upgrade;

  const program::FieldEdits edits(section, filters, program::Side::kRequest, exchange.id.text());
  const std::string_view path = rewritten.path ? std::string_view(*rewritten.path) : arrival.path;
  net::http1::HeadWriter out(worker_.scratch().head().data(), worker_.scratch().head().size());
  write_request_head(
      {head, path, rewritten.host, connection_.peer_text(), arrival.peer_trusted, connection_.scheme(),
       connection_.http, exchange.id.text(), edits, exchange.shaping.request != nullptr, exchange.websocket,
       exchange.identity == nullptr ? nullptr : &exchange.identity->edits, exchange.trace.get()},
      out);
  if (out.overflowed()) return Reply{431, "head-too-large", "The message head is too large.", {}, true};
  exchange.head_size = static_cast<std::uint32_t>(out.size());
  if (exchange.listener->cache != nullptr) {
    const program::RouteRecord& route = exchange.host->routes[exchange.action->route];
    begin_reuse(exchange, arrival,
                {program::name_space_of(section, route), section.string(route.name), exchange.action->rule,
                 split.backends[chosen].backend_id(), rewritten.host.empty() ? head.host : rewritten.host, path,
                 split.treatments.empty() ? 0 : chosen});
  }
  return std::nullopt;
}

}  // namespace edge::runtime
