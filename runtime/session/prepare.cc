#include <algorithm>
#include <string>
#include <utility>

#include "net/http2/tcp_tunnel.h"
#include "program/filters.h"
#include "runtime/session/accept/client_address.h"
#include "runtime/session/accept/client_certificate.h"
#include "runtime/session/exchange.h"
#include "runtime/session/grpc.h"
#include "runtime/session/phases.h"
#include "runtime/session/worker.h"
#include "runtime/shape/heads.h"
#include "runtime/shape/shaping.h"

namespace edge::runtime {
namespace {

using net::http1::KnownField;
using net::http1::RequestHead;

bool is_canary(const RequestHead& head) { return head.fields.value(KnownField::kXCanary) == "true"; }

/// Where the client's session has it go: to its backend of the split while its endpoint takes traffic, or others of a
/// backend that has a weight do; else where `chosen` says, and a new session begins. A canary goes where it is sent.
std::uint32_t keep_session(Exchange& exchange, const Arrival& arrival, const program::Split& split,
                           std::uint32_t chosen, Worker& worker) {
  const net::tls::SealingKeys* const keys = exchange.program->authentication->affinity_keys();
  if (keys == nullptr) return chosen;
  const RequestHead& head = worker.scratch().request;
  ForwardRequest& request = exchange.forward;
  const program::SectionView& section = exchange.taken.host->view;
  auto made = std::make_unique<Affinity>(program::session_settings(section, section.array(request.treatment->filters)),
                                         *keys, head.fields,
                                         static_cast<std::uint64_t>(worker.unix_milliseconds() / 1000), arrival.secure);
  Affinity& affinity = *(request.make_terms().affinity = std::move(made));
  request.response.added.append_then(&affinity.response_line());
  bool same_endpoint = false;
  const bool sent = is_canary(head) && split.canary < split.backends.size();
  if (const auto& last = affinity.remembered(); last && !sent) {
    const auto own = std::ranges::find(split.backends, last->backend_id, &program::BackendRefRecord::backend_id);
    const std::uint32_t index =
        own == split.backends.end() ? program::kNone : exchange.program->program->backend_index(last->backend_id);
    if (index != program::kNone) {
      BackendPool& pool = *exchange.program->pools[index];
      same_endpoint = pool.serves(last->address);
      if (same_endpoint || (own->weight != 0 && pool.serves_any())) {
        chosen = static_cast<std::uint32_t>(own - split.backends.begin());
      }
    }
  }
  if (chosen != program::kNone) affinity.choose(split.backends[chosen].backend_id(), same_endpoint);
  return chosen;
}

cache::Seconds in_seconds(std::uint64_t nanoseconds) {
  return static_cast<cache::Seconds>(nanoseconds / 1'000'000'000);
}

// How long it may take: by the route or else the backend, and by a caller of gRPC.
void bound(ForwardRequest& request, bool grpc, const RequestHead& head, net::Time now) {
  const program::TreatmentRecord& treatment = *request.treatment;
  const program::BackendRecord& backend = request.pool->settings();
  const std::uint64_t timeout =
      treatment.request_timeout_ns != 0 ? treatment.request_timeout_ns : backend.request_timeout_ns;
  request.deadlines.idle = net::Duration(treatment.idle_timeout_ns);
  // A body that policies have looked at came within the request's time, which has begun.
  const net::Time deadline = timeout == 0 ? net::kNever : now + net::Duration(timeout);
  if (deadline <= request.deadlines.until) request.deadlines.bound(now, deadline);
  if (!grpc) return;
  request.grpc = true;
  request.body.measured = backend.protocol != program::BackendProtocol::kHttp2;
  if (const auto allowed = grpc_timeout(head.fields)) {
    request.deadlines.bound_by_client(now + std::max(*allowed, net::Duration(treatment.min_grpc_timeout_ns)));
  }
}

program::ClientCertificateNeed certificate_need_of(const Exchange& exchange) {
  return client_certificate_need(*exchange.program->program, *exchange.taken.listener);
}

// Whether what was added to the request depends on its client.
bool tells_clients_apart(const Exchange& exchange) {
  const bool authenticated = exchange.authentication != nullptr && !exchange.authentication->authentication.empty();
  return authenticated || verification_varies(certificate_need_of(exchange));
}

// Pages for errors of the backend. A program that asks for `application/problem+json`, and a caller of gRPC, get what
// the backend says; caches in front are told of the former, which is a matter of Accept.
void replace_errors(Exchange& exchange, Worker& worker) {
  ForwardRequest& request = exchange.forward;
  if ((request.treatment->flags & program::kReplacesErrors) == 0 || exchange.reply_form == ReplyForm::kGrpc) return;
  const PolicyChain& chain = exchange.program->policies->chain(*exchange.taken.host, *request.treatment);
  if (chain.error_pages == nullptr) return;
  if (exchange.reply_form == ReplyForm::kProblem) {
    request.response.declined_pages = chain.error_pages;
    return;
  }
  std::unique_ptr<BufferedResponse>& buffered = request.response.buffered;
  if (buffered == nullptr) {
    buffered = std::make_unique<BufferedResponse>(worker.spool_space(), 0);
    buffered->buffers = false;
  }
  buffered->pages = chain.error_pages;
  buffered->shows_reason = (exchange.taken.listener->gateway->flags & program::kHidesReasons) == 0;
}

// The cache's part, by the head as it will be forwarded.
void begin_cache(Exchange& exchange, const Arrival& arrival, std::string_view scheme, cache::Way way, Worker& worker) {
  const RequestHead& head = worker.scratch().request;
  const program::CacheRecord& settings = *exchange.taken.listener->cache;
  // What a trusted proxy tells of scheme and host the backend is told, too, and may answer by (*safe*).
  const bool forwarded = arrival.peer_trusted && head.fields.has(KnownField::kXForwardedProto);
  if (forwarded) scheme = head.fields.value(KnownField::kXForwardedProto);
  const cache::Target target{scheme, arrival.host, arrival.path, head.query, head.has_query};
  const std::string origin = cache::forwarded_origin(head, arrival.peer_trusted, way.host);
  way.origin = origin;
  const bool identified = (exchange.identity != nullptr && tells_clients_apart(exchange)) ||
                          head.fields.has(KnownField::kAuthorization) || head.fields.has(KnownField::kXAuthUser);
  exchange.cache = std::make_unique<cache::Transaction>(
      exchange.program->caches[exchange.taken.listener->record->gateway],
      cache::TtlLimits{in_seconds(settings.default_ttl_ns), in_seconds(settings.max_ttl_ns)},
      cache::CacheContext{worker.scratch().request, worker.counters().cache, worker.scratch().limits},
      [&worker] { return cache::Now{static_cast<cache::Seconds>(worker.unix_milliseconds() / 1000), worker.date()}; },
      cache::make_key(target, way), identified);
}

/// A rule's backends, and what is done with a request that goes to one.
struct Chosen {
  program::Split split;
  std::uint32_t index;  ///< in `split.backends`; kNone: none takes requests
};

/// Chooses the backend, and with it the treatment.
Chosen choose(Exchange& exchange, const Arrival& arrival, Worker& worker) {
  const program::SectionView& section = exchange.taken.host->view;
  const program::Split split = program::split_of(section, *exchange.taken.action);
  std::uint32_t chosen = choose_backend(split, is_canary(worker.scratch().request), worker.split());
  if (!split.treatments.empty()) {
    const program::TreatmentRecord*& treatment = exchange.forward.treatment;
    if ((treatment->flags & program::kPersists) != 0) {
      chosen = keep_session(exchange, arrival, split, chosen, worker);
    }
    treatment = &program::treatment_record_of(section, *exchange.taken.action, split, chosen);
  }
  return {split, chosen};
}

/// Answers what needs no backend: too large a body, a redirect; else sets what the filters make of the request's
/// target.
bool pass_treatment(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection,
                    const RequestHead& head, program::Rewrite& rewritten, std::optional<Reply>& ending) {
  const program::TreatmentRecord& treatment = *exchange.forward.treatment;
  const std::uint64_t limit = body_limit(treatment);
  if (limit != 0 && head.body.kind == net::http1::BodyKind::kLength && head.body.length > limit) {
    return end_with(ending, {413, "body-too-large", "The request's body is larger than allowed.", {}, false});
  }
  const program::SectionView& section = exchange.taken.host->view;
  const auto filters = section.array(treatment.filters);
  if (filters.empty()) return true;
  if (program::answer_of(filters) != nullptr) {
    const auto to =
        program::redirect(section, filters, {connection.scheme(), head.host, arrival.path, head.query, head.has_query});
    return end_with(ending, {to->status, "redirect", {}, to->location, false});
  }
  rewritten = program::rewrite(section, filters, arrival.path);
  return true;
}

/// Sets the backend, and on what terms its connection is had.
bool take_backend(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection,
                  const RequestHead& head, const Chosen& chosen, std::optional<Reply>& ending) {
  const LoadedProgram& program = *exchange.program->program;
  ForwardRequest& request = exchange.forward;
  const std::uint32_t backend = chosen.index == program::kNone
                                    ? program::kNone
                                    : program.backend_index(chosen.split.backends[chosen.index].backend_id());
  if (backend == program::kNone) {
    return end_with(ending, {500, "no-backend", "The route names no backend that can take this request.", {}, false});
  }
  const program::BackendRecord& record = program.backends()[backend];
  exchange.taken.backend = &record;
  request.program = &program;
  request.send_to(*exchange.program->pools[backend], record);
  if (request.pool->keyed()) request.balance_key = client_key(arrival.source);
  if (exchange.program->announces) [[unlikely]] {
    std::string header = header_for(request.pool->settings(), connection);
    if (!header.empty()) request.make_terms().proxy_header = std::move(header);
    state_client_verification(exchange, connection);
  }
  if (request.pool->marks().any()) [[unlikely]] {
    request.make_terms().way = request.pool->marks().way_of(exchange.taken.listener->gateway->id);
  }
  if (head.upgrade) [[unlikely]] {
    request.websocket = asks_for_websocket(head);
    if (is_of_cluster(connection) && net::http2::asks_for_tcp(head)) {
      // What is no HTTP cannot be a stream of it.
      if (record.protocol == program::BackendProtocol::kHttp2) {
        return end_with(ending, {501, "no-tunnel", "The service speaks HTTP/2 and takes no other bytes.", {}, false});
      }
      request.make_terms().tunnel = true;
    }
  }
  return true;
}

/// Sets limits, and what is done with both bodies.
void plan(Exchange& exchange, const RequestHead& head, Worker& worker) {
  ForwardRequest& request = exchange.forward;
  const program::TreatmentRecord& treatment = *request.treatment;
  const LoadedListener& listener = *exchange.taken.listener;
  bound(request, exchange.reply_form == ReplyForm::kGrpc, head, worker.loop().now());
  request.body.limits = listener.limits;
  request.response.section = &exchange.taken.host->view;
  request.response.filters = exchange.taken.host->view.array(treatment.filters);
  request.response.request_id = exchange.id.text();
  constexpr std::uint32_t kShapes = program::kBufferRequest | program::kBufferResponse | program::kReplacesErrors;
  const bool buffers = (treatment.flags & kShapes) != 0;
  if (buffers || listener.compression != nullptr) {
    plan_bodies(head,
                {treatment, listener.compression, exchange.program->program->listeners_section(), worker.spool_space()},
                request.body, request.response);
    replace_errors(exchange, worker);
  }
  // A connection that becomes another protocol's has nothing that could be copied.
  exchange.mirrored = treatment.mirrors.count != 0 && !head.upgrade;
  request.identity = exchange.identity.get();
}

}  // namespace

void state_client_verification(Exchange& exchange, const ClientConnection& connection) {
  const std::string_view value = verification_field(certificate_need_of(exchange), connection);
  if (value.empty()) return;
  if (exchange.identity == nullptr) exchange.identity = std::make_unique<PolicyState>();
  exchange.identity->state(kVerificationField, value);
}

bool prepare(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker,
             std::optional<Reply>& ending) {
  const RequestHead& head = worker.scratch().request;
  // Whoever asks how far it gets is told that it got here (RFC 9110 §7.6.2).
  if (max_forwards(head) == 0) return end_with(ending, {204, "max-forwards", {}, {}, false});
  const Chosen chosen = choose(exchange, arrival, worker);
  program::Rewrite rewritten;
  if (!pass_treatment(exchange, arrival, connection, head, rewritten, ending)) return false;
  if (!take_backend(exchange, arrival, connection, head, chosen, ending)) return false;
  plan(exchange, head, worker);

  ForwardRequest& request = exchange.forward;
  const RouteTaken& taken = exchange.taken;
  const program::SectionView& section = taken.host->view;
  const program::FieldEdits edits(section, request.response.filters, program::Side::kRequest, exchange.id.text());
  const std::string_view path = rewritten.path ? std::string_view(*rewritten.path) : arrival.path;
  net::http1::HeadWriter out(worker.scratch().head().data(), worker.scratch().head().size());
  write_request_head({head, path, rewritten.host, connection.peer_text(), arrival.peer_trusted, connection.scheme(),
                      connection.http, exchange.id.text(), edits, request.body.buffered != nullptr, request.websocket,
                      request.identity, request.spans.trace.get()},
                     out);
  if (out.overflowed()) return end_with(ending, {431, "head-too-large", "The message head is too large.", {}, true});
  request.head = out.text();
  if (taken.listener->cache != nullptr && !request.tunnels()) {
    const program::RouteRecord& route = *taken.route();
    begin_cache(exchange, arrival, connection.scheme(),
                {program::name_space_of(section, route), section.string(route.name), taken.action->rule,
                 chosen.split.backends[chosen.index].backend_id(), rewritten.host.empty() ? head.host : rewritten.host,
                 path, chosen.split.treatments.empty() ? 0 : chosen.index},
                worker);
  }
  return true;
}

}  // namespace edge::runtime
