#include "runtime/observe/request_spans.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "program/format/records.h"

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

/// Joins a text in a buffer at its place of use: nothing here allocates.
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

void add_gateway(const LoadedProgram& program, const LoadedListener& listener, Attributes& out) {
  const program::SectionView& section = program.listeners_section();
  const program::GatewayRecord& gateway = *listener.gateway;
  out.add("edge.gateway", Joined{section.string(gateway.name_space), "/", section.string(gateway.name)});
  out.add("edge.listener", section.string(listener.record->name));
}

void add_backend(const LoadedProgram& program, const program::BackendRecord* backend, Attributes& out) {
  if (backend == nullptr) return;
  const program::SectionView& section = program.backends_section();
  out.add("edge.backend", Joined{section.string(backend->name_space), "/", section.string(backend->name)});
}

void add_cluster(const EndpointCluster& cluster, Attributes& out) {
  out.add("edge.cluster", cluster.name);
  out.add("edge.cluster.priority", static_cast<std::int64_t>(cluster.priority));
  if (!cluster.region.empty()) out.add("edge.cluster.region", cluster.region);
}

std::string_view route_name(const RouteTaken& taken) { return taken.host->view.string(taken.route()->name); }

void add_rule(const RouteTaken& taken, Attributes& out) {
  const std::string_view name_space = program::name_space_of(taken.host->view, *taken.route());
  out.add("edge.route", Joined{name_space, "/", route_name(taken)});
  out.add("edge.rule", taken.action->rule);
}

std::string_view http_version(const TracedEnd& request) {
  if (request.connection.http == 2) return "2";
  return request.minor == 0 ? "1.0" : "1.1";
}

ReadyAttributes::Texts compose_request(const LoadedProgram& program, const TracedEnd& request,
                                       const ReadyAttributes::Way& way) {
  const RouteTaken& taken = request.taken;
  Attributes out;
  add_method(way.method, out);
  add_status(way.status, out);
  out.add("url.scheme", request.connection.scheme());
  if (way.port != 0) out.add("server.port", way.port);
  out.add("network.protocol.version", http_version(request));
  if (taken.listener != nullptr) add_gateway(program, *taken.listener, out);
  if (taken.host != nullptr) add_rule(taken, out);
  add_backend(program, taken.backend, out);
  std::string name(way.method == Method::kOther ? kOtherName : method_name(way.method));
  if (taken.host != nullptr) name.append(" ").append(route_name(taken).substr(0, Attributes::kMaxText));
  return {std::move(name), std::string(out.bytes())};
}

/// Of the request's span, all that depends only on the way that it went.
const ReadyAttributes::Texts& ready_request(const RequestSpans& spans, const TracedEnd& request, int status) {
  const LoadedProgram& program = *spans.program;
  const ReadyAttributes::Way way{
      .listener = request.taken.listener,
      .action = request.taken.action,
      .backend = request.taken.backend,
      .status = status,
      .port = request.bind == program::kNone ? std::uint16_t{0} : program.binds()[request.bind].port,
      .method = request.method,
      .http = request.connection.http,
      .minor = request.minor,
      .secure = request.connection.secure()};
  return spans.ready->find(way, [&] { return compose_request(program, request, way); });
}

/// The same of a try's.
std::string_view ready_try(const RequestSpans& spans, Method method, const program::BackendRecord* backend,
                           int status) {
  const ReadyAttributes::Way way{.backend = backend, .status = status, .method = method};
  const ReadyAttributes::Texts& texts = spans.ready->find(way, [&] {
    Attributes out;
    add_method(method, out);
    add_status(status, out);
    add_backend(*spans.program, backend, out);
    return ReadyAttributes::Texts{{}, std::string(out.bytes())};
  });
  return texts.attributes;
}

std::string_view policy_span(program::PolicyType type) {
  switch (type) {
    case program::PolicyType::kBasicAuth:
      return "auth BasicAuth";
    case program::PolicyType::kApiKey:
      return "auth APIKey";
    case program::PolicyType::kClientCertificate:
      return "auth ClientCertificate";
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

}  // namespace

// The path goes without its query, where tokens and names of people stand.
void trace_request(trace::RequestTrace& trace, const TracedRequest& request) {
  if (!trace.recorded()) return;
  Attributes& out = trace.attributes();
  if (request.head.method == Method::kOther) out.add("http.request.method_original", request.head.method_text);
  out.add("url.path", request.path);
  if (!request.host.empty()) out.add("server.address", request.host);
  const bool direct = request.source == request.connection.peer;
  out.add("client.address", direct ? request.connection.peer_text() : std::string_view(to_string(request.source)));
  const std::string_view agent = request.head.fields.value(KnownField::kUserAgent);
  if (!agent.empty()) out.add("user_agent.original", agent);
  out.add("edge.request_id", request.request_id);
}

void trace_end(const RequestSpans& spans, const TracedEnd& request, const RequestEnd& end) {
  trace::RequestTrace& trace = *spans.trace;
  if (!trace.recorded()) return;
  Attributes& out = trace.attributes();
  if (!end.reason.empty()) out.add("edge.reason", end.reason);
  out.add("http.request.body.size", static_cast<std::int64_t>(end.received));
  out.add("http.response.body.size", static_cast<std::int64_t>(end.sent));
  // What a client did wrong is no error of who serves it (OpenTelemetry, semantic conventions for HTTP).
  std::string_view error;
  const Digits status(end.status);
  if (end.status >= 500 || end.status == 0 || end.broken) error = end.reason.empty() ? status.view() : end.reason;
  if (!error.empty()) out.add("error.type", error);
  const ReadyAttributes::Texts& ready = ready_request(spans, request, end.status);
  trace.end(ready.name, error, ready.attributes);
}

void trace_policy(const RequestSpans& spans, const trace::Step& step, const TracedPolicy& policy) {
  if (!step) return;
  Attributes& out = spans.trace->step_attributes();
  out.add("edge.policy.outcome", policy.outcome);
  if (policy.status != 0) {
    add_status(policy.status, out);
    out.add("edge.reason", policy.reason);
  }
  const std::string_view error = policy.failed ? policy.reason : std::string_view{};
  spans.trace->end_step(step, SpanKind::kInternal, policy_span(policy.type), error);
}

void trace_look_up(const RequestSpans& spans, const trace::Step& step, std::string_view outcome) {
  if (!step) return;
  spans.trace->step_attributes().add("edge.cache.outcome", outcome);
  spans.trace->end_step(step, SpanKind::kInternal, "cache", {});
}

void trace_branch(const RequestSpans& spans, std::string_view name, const Failure& failure) {
  if (!spans.recorded()) return;
  const std::string_view error = failure ? loss_of(failure.kind) : std::string_view{};
  if (!error.empty()) spans.trace->attributes().add("error.type", error);
  spans.trace->end(name, error);
}

void TracedTries::tell(const TracedEndpoint& endpoint, int status, const Failure& failure) {
  Attributes& out = spans_.trace->step_attributes();
  if (endpoint.address != nullptr) {
    out.add("server.address", to_string(endpoint.address->address));
    out.add("server.port", endpoint.address->port);
  }
  if (endpoint.cluster != nullptr) add_cluster(*endpoint.cluster, out);
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
  spans_.trace->end_step(step_, SpanKind::kClient, name, error, ready_try(spans_, method_, backend_, status));
  step_ = {};
}

void TracedTries::rewrite(const RequestSpans& spans, net::Buffer& text) {
  net::Buffer renewed;
  const std::span<char> room = renewed.room(text.size()).first(text.size());
  std::ranges::copy(text.view(), room.begin());
  renewed.grow(text.size());
  spans.trace->renew_try(room);
  text = std::move(renewed);
}

}  // namespace edge::runtime
