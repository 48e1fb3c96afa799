// The end of a request: responses of the proxy itself, the state of the client's connection after the exchange, and the
// one place that reports the outcome of every request: HTTP/1 or HTTP/2 stream, forwarded, answered by the cache or by
// the proxy, or aborted. All observers are called here, and none of them waits or locks.
#include <array>
#include <chrono>
#include <span>
#include <string>

#include "base/text/ascii.h"
#include "runtime/match/decide.h"
#include "runtime/session/arrival.h"
#include "runtime/session/exchange.h"
#include "runtime/session/phases.h"
#include "runtime/session/session.h"
#include "runtime/session/worker.h"
#include "runtime/shape/shaping.h"

namespace edge::runtime {
namespace {

using net::http1::BodyKind;

/// Three words on a line, and the third names no version of HTTP.
bool names_other_protocol(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\r'));
  const std::size_t last = line.rfind(' ');
  const bool three = last != std::string_view::npos && line.find(' ') != last;
  return three && !starts_with_ignoring_case("HTTP", line.substr(last + 1, 4));
}

/// Of the loop, which reads the clock once a batch. What ended in the batch that it began in would have taken no time
/// at all: for that it is read once more.
net::Time end_of(const Exchange& exchange, Worker& worker) {
  if (worker.loop().now() != exchange.began) return worker.loop().now();
  const net::Clock* const clock = worker.options().clock;
  return clock != nullptr ? clock->now() : net::Time(std::chrono::steady_clock::now());
}

}  // namespace

// A head that cannot be served: at fault, or too slow. What of it can be read is read once more for the access log, as
// its bytes may have moved since.
net::Task<Session::Next> Session::refuse_head() {
  Exchange unread;
  unread.began = head_since_;
  unread.program = worker_.pin();
  const ThreadProgram& program = *unread.program;
  if (program.logged.any()) {
    net::http1::RequestHead& head = worker_.scratch().request;
    net::http1::ParseHint hint;
    static_cast<void>(net::http1::parse_request(inlet_.unread(), worker_.scratch().limits, hint, head));
    unread.forward.notes = note_unreadable({*program.program, program.logged, program.bind_of_slot[connection_.slot]},
                                           connection_.peer, head);
  }
  // To another protocol an answer in ours is none; a preface of HTTP/2 that is not one ends so (RFC 9113 §3.4).
  if (!served_ && fault_ == net::http1::HeadFault::kBadRequestLine && names_other_protocol(inlet_.unread())) {
    ended(unread, {.reason = fault_reason(fault_)});
    co_return Next::kLinger;
  }
  Reply reply{408, "head-timeout", "The request's head did not come in time.", {}, true};
  if (fault_ != net::http1::HeadFault::kNone) {
    reply = {fault_status(fault_), fault_reason(fault_), fault_text(fault_), {}, true};
  }
  co_return answer(reply, unread, BodyState::kRead);
}

// Where no rule took it, it is the listener's that its host belongs to, as far as it got.
Session::Next Session::refuse(const Reply& reply, Exchange& exchange, const Arrival& arrival) {
  const std::uint32_t bind = exchange.program->bind_of_slot[connection_.slot];
  if (exchange.taken.listener == nullptr && bind != program::kNone) {
    exchange.taken.listener =
        arrival.listener != nullptr ? arrival.listener : find_listener(*exchange.program->program, bind, arrival.host);
    if (exchange.taken.listener != nullptr) decorate_without_route(exchange, arrival, worker_);
  }
  const LoadedListener* const listener = exchange.taken.listener;
  if (listener != nullptr && listener->compression != nullptr) {
    plan_coding(worker_.scratch().request, *listener->compression, exchange.program->program->listeners_section(),
                exchange.forward.response);
  }
  return answer(reply, exchange, BodyState::kUnread);
}

Session::Next Session::conclude(const ExchangeResult& result, const Exchange& exchange) {
  rest_time_ = exchange.forward.deadlines.idle;
  RequestEnd end{result.status, result.reason, result.received, result.sent, result.attempts};
  if (!result.failure) {
    worker_.counters().responses[static_cast<std::size_t>(result.status / 100)].add();
    ended(exchange, end);
    if (result.reusable) return Next::kAgain;
    return result.body == BodyState::kRead ? Next::kClose : Next::kLinger;
  }
  const FailureAnswer instead = answer_for(result.failure.kind);
  if (result.answered || instead.status == 0) {
    if (!result.answered) end.status = 0;
    end.broken = result.answered && result.failure.origin != Origin::kClient;
    end.reason = loss_of(result.failure.kind);
    ended(exchange, end);
    return result.reset ? Next::kReset : Next::kClose;
  }
  const Reply failed{instead.status, instead.reason, instead.text, {}, !result.reusable};
  return answer(failed, exchange, result.body, end);
}

namespace {

/// Whether the gateway that the request is of has switched X-Edge-Reason off. Before that one is known: each of those
/// that the connection may be of.
bool hides_reasons(const Exchange& exchange, const ClientConnection& connection) {
  const LoadedListener* const listener = exchange.taken.listener;
  if (listener != nullptr) return (listener->gateway->flags & program::kHidesReasons) != 0;
  return exchange.program->entrances[connection.slot].hides_reasons();
}

/// The page of the rule's policies, or of the listener's where no rule took the request; null: none.
const ErrorPages::Page* page_of(const Exchange& exchange, int status) {
  const RouteTaken& taken = exchange.taken;
  if (taken.listener == nullptr) return nullptr;
  const Policies& policies = *exchange.program->policies;
  const PolicyChain* const chain = taken.action == nullptr ? policies.without_route(*taken.listener).chain
                                                           : &policies.chain(*taken.host, *exchange.forward.treatment);
  return chain == nullptr || chain->error_pages == nullptr ? nullptr : chain->error_pages->find(status);
}

}  // namespace

Session::Next Session::answer(const Reply& reply, const Exchange& exchange, BodyState body, RequestEnd end) {
  const ResponseRules& rules = exchange.forward.response;
  const net::http1::Body& framing = exchange.forward.body.framing;
  // A body that is here whole is passed over; one that is still to come is not waited for.
  bool close = reply.close || !rules.keep_alive || worker_.draining();
  bool linger = reply.close;
  if (body == BodyState::kUnread && framing.kind != BodyKind::kNone) {
    const bool here = framing.kind == BodyKind::kLength && inlet_.unread().size() >= framing.length;
    if (here) inlet_.consume(static_cast<std::size_t>(framing.length));
    close = close || !here;
    linger = linger || !here;
  }
  ReplyContext context;
  context.head_only = rules.method == net::http1::Method::kHead;
  context.form = exchange.reply_form;
  context.connection = rules.connection_field(close);
  context.date = worker_.date();
  context.shows_reason = !hides_reasons(exchange, connection_);
  context.added = &rules.added;
  net::http1::HeadWriter out(worker_.scratch().head().data(), worker_.scratch().head().size());
  if (reply.status >= 400) context.page = page_of(exchange, reply.status);
  std::string text;
  std::string_view content = write_reply(reply, context, out, text);
  std::string_view head = out.text();
  CodedReply coded;
  if (rules.compression != nullptr) [[unlikely]] {
    const std::string_view of_program = body_of_program(reply, context);
    const bool is_coded = !of_program.empty() &&
                          code_reply(head, of_program, rules, worker_.parts(), *exchange.program->coded_bodies, coded);
    if (is_coded) head = coded.head;
    if (is_coded && !content.empty()) content = coded.body;
  }
  worker_.counters().responses[static_cast<std::size_t>(reply.status / 100)].add();
  end.status = reply.status;
  end.reason = reply.reason;
  end.sent = content.size();
  ended(exchange, end);
  std::array<iovec, 2> pieces = {net::piece(head), net::piece(content)};
  if (!outlet_.send(client_, std::span(pieces).first(content.empty() ? 1 : 2))) return Next::kReset;
  if (linger) return Next::kLinger;
  return close ? Next::kClose : Next::kAgain;
}

// `exchange.began` to the loop's time is how long it took.
void Session::ended(const Exchange& exchange, const RequestEnd& end) {
  const ThreadProgram& program = *exchange.program;
  const ForwardRequest& request = exchange.forward;
  const RouteTaken& taken = exchange.taken;
  count_request(worker_.tally(), *program.program, taken, end, worker_.loop().now() - exchange.began);
  if (request.notes != nullptr) {
    log_request({*program.program, program.logged, taken, *request.notes, connection_, exchange.id.text(),
                 request.spans.trace.get(), request.response.minor, exchange.began, end_of(exchange, worker_),
                 worker_.unix_milliseconds()},
                end, worker_.access_log());
  }
  if (request.spans.trace != nullptr) {
    trace_end(
        request.spans,
        {taken, connection_, program.bind_of_slot[connection_.slot], request.response.method, request.response.minor},
        end);
  }
}

}  // namespace edge::runtime
