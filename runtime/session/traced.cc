#include "runtime/session/traced.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "program/records.h"
#include "runtime/session/client_connection.h"

namespace edge::runtime {
namespace {

using net::http1::KnownField;
using net::http1::Method;
using trace::Attributes;
using trace::SpanKind;

/// OpenTelemetry's for methods that are none of HTTP's: whatever a client writes there names no span.
constexpr std::string_view kOtherMethod = "_OTHER";
constexpr std::string_view kOtherName = "HTTP";

std::string_view method_name(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kHead:
      return "HEAD";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kDelete:
      return "DELETE";
    case Method::kOptions:
      return "OPTIONS";
    case Method::kTrace:
      return "TRACE";
    case Method::kPatch:
      return "PATCH";
    case Method::kOther:
      break;
  }
  return kOtherMethod;
}

/// A text that is put together where it is used: nothing here allocates.
class Joined {
 public:
  Joined(std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) {
      const std::size_t room = std::min(part.size(), text_.size() - size_);
      std::copy_n(part.begin(), room, text_.begin() + size_);
      size_ += room;
    }
  }
  operator std::string_view() const { return {text_.data(), size_}; }  // NOLINT(google-explicit-constructor)

 private:
  std::array<char, Attributes::kMaxText> text_;
  std::size_t size_ = 0;
};

class Digits {
 public:
  explicit Digits(int number) { end_ = std::to_chars(text_.data(), text_.data() + text_.size(), number).ptr; }
  std::string_view view() const { return {text_.data(), static_cast<std::size_t>(end_ - text_.data())}; }

 private:
  std::array<char, 12> text_;
  char* end_;
};

/// Both the present names and those before them, which the specification asks for.
void add_method(Method method, Attributes& out) {
  out.add("http.method", method_name(method));
  out.add("http.request.method", method_name(method));
}
void add_status(int status, Attributes& out) {
  if (status == 0) return;
  out.add("http.status_code", status);
  out.add("http.response.status_code", status);
}

void add_gateway(const Exchange& exchange, Attributes& out) {
  const program::SectionView& section = exchange.program->program->listeners_section();
  const LoadedListener& listener = *exchange.listener;
  const program::GatewayRecord& gateway = *listener.gateway;
  out.add("edge.gateway", Joined{section.string(gateway.name_space), "/", section.string(gateway.name)});
  out.add("edge.listener", section.string(listener.record->name));
}

/// The pool may serve a later program's record of the backend; the name is the same.
void add_backend(const Exchange& exchange, Attributes& out) {
  const LoadedProgram& program = *exchange.program->program;
  const std::uint32_t index = program.backend_index(exchange.pool->state().id());
  if (index == program::kNone) return;
  const program::BackendRecord& backend = program.backends()[index];
  const program::SectionView& section = program.backends_section();
  out.add("edge.backend", Joined{section.string(backend.name_space), "/", section.string(backend.name)});
}

std::string_view route_name(const Exchange& exchange) {
  return exchange.host->view.string(exchange.host->routes[exchange.action->route].name);
}

void add_rule(const Exchange& exchange, Attributes& out) {
  const program::RouteRecord& route = exchange.host->routes[exchange.action->route];
  out.add("edge.route", Joined{program::name_space_of(exchange.host->view, route), "/", route_name(exchange)});
  out.add("edge.rule", exchange.action->rule);
}

std::string_view protocol_of(const Exchange& exchange, const ClientConnection& connection) {
  if (connection.http == 2) return "2";
  return exchange.minor == 0 ? "1.0" : "1.1";
}

ReadyAttributes::Texts compose_request(const Exchange& exchange, const ClientConnection& connection,
                                       const ReadyAttributes::Way& way) {
  Attributes out;
  add_method(way.method, out);
  add_status(way.status, out);
  out.add("url.scheme", connection.scheme());
  if (way.port != 0) out.add("server.port", way.port);
  out.add("network.protocol.version", protocol_of(exchange, connection));
  if (exchange.listener != nullptr) add_gateway(exchange, out);
  if (exchange.host != nullptr) add_rule(exchange, out);
  if (exchange.pool != nullptr) add_backend(exchange, out);
  std::string name(way.method == Method::kOther ? kOtherName : method_name(way.method));
  if (exchange.host != nullptr) name.append(" ").append(route_name(exchange).substr(0, Attributes::kMaxText));
  return {std::move(name), std::string(out.bytes())};
}

/// Of the request's span, all that depends only on the way that it went.
const ReadyAttributes::Texts& ready_request(const Exchange& exchange, const ClientConnection& connection, int status) {
  const ThreadProgram& program = *exchange.program.operator->();
  const std::uint32_t bind = program.bind_of_slot[connection.slot];
  const ReadyAttributes::Way way{
      .listener = exchange.listener,
      .action = exchange.action,
      .pool = exchange.pool,
      .status = status,
      .port = bind == program::kNone ? std::uint16_t{0} : program.program->binds()[bind].port,
      .method = exchange.method,
      .http = connection.http,
      .minor = exchange.minor,
      .secure = connection.secure()};
  return program.traced->find(way, [&] { return compose_request(exchange, connection, way); });
}

/// The same of a try's.
std::string_view ready_try(const Exchange& exchange, int status) {
  const ReadyAttributes::Way way{.pool = exchange.pool, .status = status, .method = exchange.method};
  const ReadyAttributes::Texts& texts = exchange.program->traced->find(way, [&] {
    Attributes out;
    add_method(exchange.method, out);
    add_status(status, out);
    add_backend(exchange, out);
    return ReadyAttributes::Texts{{}, std::string(out.bytes())};
  });
  return texts.attributes;
}

std::string_view policy_span(program::PolicyType type) {
  switch (type) {
    case program::PolicyType::kBasicAuth:
      return "auth BasicAuth";
    case program::PolicyType::kJwt:
      return "auth JWT";
    case program::PolicyType::kOidc:
      return "auth OIDC";
    case program::PolicyType::kForwardAuth:
      return "auth ForwardAuth";
    default:
      return "auth";
  }
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

}  // namespace

// The path goes without its query, where tokens and names of people stand.
void trace_request(const Exchange& exchange, const TracedRequest& request) {
  trace::RequestTrace& trace = *exchange.trace;
  if (!trace.recorded()) return;
  Attributes& out = trace.attributes();
  if (request.head.method == Method::kOther) out.add("http.request.method_original", request.head.method_text);
  out.add("url.path", request.path);
  if (!request.host.empty()) out.add("server.address", request.host);
  const bool direct = request.source == request.connection.peer;
  out.add("client.address", direct ? request.connection.peer_text() : std::string_view(to_string(request.source)));
  const std::string_view agent = request.head.fields.value(KnownField::kUserAgent);
  if (!agent.empty()) out.add("user_agent.original", agent);
  out.add("edge.request_id", exchange.id.text());
}

void trace_ending(const Exchange& exchange, const ClientConnection& connection, const Ending& ending) {
  trace::RequestTrace& trace = *exchange.trace;
  if (!trace.recorded()) return;
  Attributes& out = trace.attributes();
  if (!ending.reason.empty()) out.add("edge.reason", ending.reason);
  out.add("http.request.body.size", static_cast<std::int64_t>(ending.received));
  out.add("http.response.body.size", static_cast<std::int64_t>(ending.sent));
  // What a client did wrong is no error of who serves it (OpenTelemetry, semantic conventions for HTTP).
  std::string_view error;
  const Digits status(ending.status);
  if (ending.status >= 500 || ending.status == 0 || ending.broken)
    error = ending.reason.empty() ? status.view() : ending.reason;
  if (!error.empty()) out.add("error.type", error);
  const ReadyAttributes::Texts& ready = ready_request(exchange, connection, ending.status);
  trace.end(ready.name, error, ready.attributes);
}

void trace_policy(const Exchange& exchange, const trace::Step& step, program::PolicyType type,
                  const auth::Verdict& verdict) {
  if (!step) return;
  Attributes& out = exchange.trace->step_attributes();
  out.add("edge.policy.outcome", outcome_name(verdict.outcome));
  std::string_view error;
  if (!verdict.passed()) {
    add_status(verdict.answer.status, out);
    out.add("edge.reason", verdict.answer.reason);
    if (verdict.outcome == auth::Outcome::kFailed) error = verdict.answer.reason;
  }
  exchange.trace->end_step(step, SpanKind::kInternal, policy_span(type), error);
}

void trace_look_up(const Exchange& exchange, const trace::Step& step, cache::Transaction::Plan plan) {
  using Plan = cache::Transaction::Plan;
  if (!step) return;
  Attributes& out = exchange.trace->step_attributes();
  out.add("edge.cache.outcome", plan == Plan::kReuse ? "hit" : plan == Plan::kRefuse ? "refused" : "forward");
  exchange.trace->end_step(step, SpanKind::kInternal, "cache", {});
}

void trace_branch(const Exchange& exchange, std::string_view name, const Failure& failure) {
  if (exchange.trace == nullptr || !exchange.trace->recorded()) return;
  const std::string_view error = failure ? loss_of(failure.kind) : std::string_view{};
  if (!error.empty()) exchange.trace->attributes().add("error.type", error);
  exchange.trace->end(name, error);
}

void TracedTries::tell(const net::SocketAddress* endpoint, int status, const Failure& failure) {
  Attributes& out = exchange_.trace->step_attributes();
  if (endpoint != nullptr) {
    out.add("server.address", to_string(endpoint->address));
    out.add("server.port", endpoint->port);
  }
  out.add("edge.attempt", ++told_);
  if (told_ > 1) out.add("http.request.resend_count", told_ - 1);
  // To who asks, every refusal is an error (the same conventions).
  const Digits digits(status);
  std::string_view error;
  if (failure) error = loss_of(failure.kind);
  if (error.empty() && status >= 400) error = digits.view();
  if (!error.empty()) out.add("error.type", error);
  std::string name = "try";
  if (told_ > 1) name.append(" ").append(std::to_string(told_));
  exchange_.trace->end_step(step_, SpanKind::kClient, name, error, ready_try(exchange_, status));
  step_ = {};
}

void TracedTries::rewrite(net::Buffer& text) const {
  net::Buffer renewed;
  const std::span<char> room = renewed.room(text.size()).first(text.size());
  std::ranges::copy(text.view(), room.begin());
  renewed.grow(text.size());
  exchange_.trace->renew_try(room);
  text = std::move(renewed);
}

}  // namespace edge::runtime
