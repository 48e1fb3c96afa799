// A request to a backend: a client's, a mirrored copy, or one that refreshes a stored response.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/match/load.h"
#include "runtime/observe/access_log/notes.h"
#include "runtime/observe/request_spans.h"
#include "runtime/phase/deadlines.h"
#include "runtime/shape/request_body.h"
#include "runtime/shape/response_rules.h"
#include "runtime/shape/trailers.h"
#include "runtime/upstream/balance/affinity.h"
#include "runtime/upstream/pool/backend_pool.h"

namespace edge::runtime {

/// Requirements on the connection that a request uses.
struct ConnectionTerms {
  /// The PROXY header that the backend expects for the client's connection; empty: none. A connection that began with
  /// it carries no other client's requests.
  std::string proxy_header;
  /// The client's session; null where the rule has no session persistence.
  std::unique_ptr<Affinity> affinity;
  /// RouteMarks::way_of its gateway.
  std::uint64_t way = 0;
  /// Another cluster asks for a tunnel of TCP to an endpoint (net/http2/tcp_tunnel.h): no request is sent there.
  bool tunnel = false;
};

struct ForwardRequest {
  /// The destination. The pool may have the backend's record of a later program; `backend` is of this one.
  const LoadedProgram* program = nullptr;
  BackendPool* pool = nullptr;
  const program::BackendRecord* backend = nullptr;
  const program::TreatmentRecord* treatment = nullptr;
  /// The key for keyed balancing: the client's address.
  std::uint64_t balance_key = 0;
  /// Null where any endpoint and any connection will do.
  std::unique_ptr<ConnectionTerms> terms;
  Deadlines deadlines;

  /// The head to send; in the thread's scratch until the first suspension, unless the body is buffered.
  std::string_view head;
  RequestBody body;
  /// The client asked to upgrade to WebSocket, and the upstream is asked too.
  bool websocket = false;
  /// A gRPC call, whose client expects the status in trailers.
  bool grpc = false;
  /// Edits from authentication; null: none.
  const RequestEdits* identity = nullptr;

  ResponseRules response;

  /// Null where the request is not logged.
  std::unique_ptr<Notes> notes;
  RequestSpans spans;

  /// Sets what the rule of `original` decides, for a request without a waiting client. The destination is set by
  /// `send_to`.
  void take_rule_of(const ForwardRequest& original) {
    program = original.program;
    treatment = original.treatment;
    balance_key = original.balance_key;
    deadlines.idle = original.deadlines.idle;
    response.method = original.response.method;
    response.keep_alive = true;
    response.section = original.response.section;
    response.filters = original.response.filters;
    spans = original.spans.branch();
    if (original.terms != nullptr && original.terms->way != 0) make_terms().way = original.terms->way;
  }
  void send_to(BackendPool& to, const program::BackendRecord& record) {
    pool = &to;
    backend = &record;
    response.backend_http = to.settings().protocol == program::BackendProtocol::kHttp2 ? 2 : 1;
  }

  bool tunnels() const { return terms != nullptr && terms->tunnel; }
  ConnectionTerms& make_terms() {
    if (terms == nullptr) terms = std::make_unique<ConnectionTerms>();
    return *terms;
  }

  /// Whether it may be sent twice (RFC 9110 §9.2.2).
  bool idempotent() const {
    using net::http1::Method;
    return response.method != Method::kOther && response.method != Method::kPost && response.method != Method::kPatch;
  }
  /// Whether the exchange may wait for others than its two peers: readers of the response from the cache, a disk.
  bool waits_for_others() const {
    return response.cache != nullptr || response.buffered != nullptr || body.buffered != nullptr;
  }
  RequestTrailerRules trailer_rules() const {
    return {*backend, program->backends_section(), *response.section, response.filters,
            identity, spans.trace != nullptr};
  }
};

}  // namespace edge::runtime
