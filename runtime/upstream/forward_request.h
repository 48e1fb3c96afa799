// A request as a backend is to answer it: a client's, the copy of one, or one that refreshes a stored response.
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

/// What a request asks of the connection by which it goes.
struct ConnectionTerms {
  /// The PROXY header that the backend wants of the client's connection; empty: none. A connection that began with it
  /// carries no other client's requests.
  std::string proxy_header;
  /// The client's session; null where the rule has no session persistence.
  std::unique_ptr<Affinity> affinity;
};

struct ForwardRequest {
  /// Where it goes. The pool may serve a later program's record of the backend; `backend` is this one's.
  const LoadedProgram* program = nullptr;
  BackendPool* pool = nullptr;
  const program::BackendRecord* backend = nullptr;
  const program::TreatmentRecord* treatment = nullptr;
  /// What keyed balancing keeps together: the client's address.
  std::uint64_t balance_key = 0;
  /// Null where it may go to any endpoint, by any connection.
  std::unique_ptr<ConnectionTerms> terms;
  Deadlines deadlines;

  /// As it is sent; in the thread's scratch until the first wait, unless the body is buffered.
  std::string_view head;
  RequestBody body;
  /// The client asked to go on with WebSocket, and the upstream is told so.
  bool websocket = false;
  /// A call of gRPC, whose caller looks for the status in trailers.
  bool grpc = false;
  /// What authentication says of the client; null: nothing.
  const RequestEdits* identity = nullptr;

  ResponseRules response;

  /// Null where it is not logged.
  std::unique_ptr<Notes> notes;
  RequestSpans spans;

  /// Makes of this a request by the same rule as `original`, for which no client waits. Where it goes is its own.
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
  }
  void send_to(BackendPool& to, const program::BackendRecord& record) {
    pool = &to;
    backend = &record;
    response.backend_http = to.settings().protocol == program::BackendProtocol::kHttp2 ? 2 : 1;
  }

  ConnectionTerms& make_terms() {
    if (terms == nullptr) terms = std::make_unique<ConnectionTerms>();
    return *terms;
  }

  /// May be sent twice (RFC 9110 §9.2.2).
  bool idempotent() const {
    using net::http1::Method;
    return response.method != Method::kOther && response.method != Method::kPost && response.method != Method::kPatch;
  }
  /// Others than the two peers may hold it up: who reads along, a disk.
  bool waits_for_others() const {
    return response.cache != nullptr || response.buffered != nullptr || body.buffered != nullptr;
  }
  RequestTrailerRules trailer_rules() const {
    return {*backend, program->backends_section(), *response.section, response.filters,
            identity, spans.trace != nullptr};
  }
};

}  // namespace edge::runtime
