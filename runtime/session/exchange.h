// One request and its response, as far as it outlives the views of its head.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/buffer.h"
#include "net/clock.h"
#include "net/http1/head.h"
#include "program/format.h"
#include "runtime/match/load.h"
#include "runtime/observe/notes.h"
#include "runtime/observe/trace/tracer.h"
#include "runtime/policy/auth/authentication.h"
#include "runtime/policy/policies.h"
#include "runtime/policy/request_edits.h"
#include "runtime/session/entrance.h"
#include "runtime/session/logged.h"
#include "runtime/session/ready_attributes.h"
#include "runtime/session/reply.h"
#include "runtime/session/request_id.h"
#include "runtime/session/shaping.h"
#include "runtime/shape/cache/transaction.h"
#include "runtime/tls/store.h"
#include "runtime/upstream/backend_pool.h"

namespace edge::runtime {

/// A program as one thread serves by it, with the thread's pools in the order of its backends. Counted without atomics:
/// it never leaves its thread.
struct ThreadProgram {
  std::shared_ptr<const LoadedProgram> program;
  std::shared_ptr<const Policies> policies;
  std::shared_ptr<const auth::Authentication> authentication;
  std::shared_ptr<const TlsStore> tls;
  std::vector<std::shared_ptr<BackendPool>> pools;
  /// By listening slot: index of the BindRecord, kNone where this program listens no more.
  std::vector<std::uint32_t> bind_of_slot;
  /// By listening slot: how its connections begin.
  std::vector<Entrance> entrances;
  /// By bind: some listener on it asks something of a request before a rule is looked for, trusted proxies or another
  /// scheme.
  std::vector<bool> listener_asks;
  /// By gateway; null where it has no cache.
  std::vector<std::shared_ptr<cache::Cache>> caches;
  LoggedGateways logged;
  /// Written by who only reads the rest: it holds what was composed of it.
  std::unique_ptr<ReadyAttributes> traced = std::make_unique<ReadyAttributes>();
  /// Some backend is told where connections come from and went to.
  bool announces = false;
  std::uint32_t pins = 0;
};

/// Keeps a ThreadProgram alive; the last pin frees it.
class ProgramPin {
 public:
  ProgramPin() = default;
  explicit ProgramPin(ThreadProgram* program) : program_(program) { ++program_->pins; }
  ProgramPin(const ProgramPin& other) : program_(other.program_) {
    if (program_ != nullptr) ++program_->pins;
  }
  ProgramPin(ProgramPin&& other) noexcept : program_(std::exchange(other.program_, nullptr)) {}
  ProgramPin& operator=(ProgramPin other) noexcept {
    std::swap(program_, other.program_);
    return *this;
  }
  ~ProgramPin() {
    if (program_ != nullptr && --program_->pins == 0) delete program_;
  }
  const ThreadProgram* operator->() const { return program_; }
  const ThreadProgram& operator*() const { return *program_; }
  explicit operator bool() const { return program_ != nullptr; }

 private:
  ThreadProgram* program_ = nullptr;
};

/// What authentication needs, and leaves behind.
struct Identity {
  std::span<const AuthStep> steps;
  std::span<const RateLimit* const> claim_limits;
  /// The request's head, kept over a wait: what is parsed of it lies here then.
  net::Buffer head;
  RequestEdits edits;
};

struct Exchange {
  ProgramPin program;
  /// When the first byte of its head came.
  net::Time began{};
  const LoadedListener* listener = nullptr;
  const LoadedHost* host = nullptr;
  const program::ActionRecord* action = nullptr;
  const program::TrafficRecord* traffic = nullptr;
  BackendPool* pool = nullptr;
  /// What keyed balancing keeps together: the client's address.
  std::uint64_t balance_key = 0;
  net::Time deadline = net::kNever;
  /// An endpoint that was called before this time has had its share of what there was until the deadline, and is at
  /// fault when that passes; one that was called later is not.
  net::Time fault_before = net::Time::min();
  net::http1::Body body;
  net::http1::Method method = net::http1::Method::kOther;
  std::uint8_t minor = 1;
  bool keep_alive = false;
  bool expect_continue = false;
  /// Its body comes from a client, who has to keep pace.
  bool measured = true;
  ReplyForm reply_form = ReplyForm::kText;
  /// The PROXY header that the backend wants of the client's connection; empty: none. A connection that began with it
  /// carries no other client's requests.
  std::string header;
  /// The client asked to go on with WebSocket, and the upstream was told so.
  bool websocket = false;
  /// Of the head composed for the upstream, in the thread's scratch until the first wait.
  std::uint32_t head_size = 0;
  RequestId id;
  /// What policies give to the response.
  AddedFields added;
  /// Null where the rule asks nobody who he is.
  std::unique_ptr<Identity> identity;
  Shaping shaping;
  /// Null where the gateway has no cache.
  std::unique_ptr<cache::Transaction> cache;
  /// Null where it is not logged.
  std::unique_ptr<Notes> notes;
  /// Null where the gateway does not trace.
  trace::TracePointer trace;

  std::span<const program::FilterRecord> filters() const {
    return traffic == nullptr ? std::span<const program::FilterRecord>{} : host->view.array(traffic->filters);
  }
  /// All of the request is still at hand after it was sent.
  bool body_replayable() const {
    using net::http1::BodyKind;
    return shaping.request != nullptr || body.kind == BodyKind::kNone ||
           (body.kind == BodyKind::kLength && body.length == 0);
  }
  /// The time that the settings give the exchange, of which an endpoint has to have at least half.
  void bound(net::Time now, net::Time until) {
    deadline = until;
    fault_before = now + (until - now) / 2;
  }
  /// The time that the client gives: whatever it is too short for is no endpoint's fault.
  void bound_by_client(net::Time until) {
    if (until >= deadline) return;
    deadline = until;
    fault_before = net::Time::min();
  }
  /// A message of unknown pace follows the head: it is neither waited for nor measured. gRPC's streams of messages may
  /// rest, and the server may speak first; over HTTP/2 they keep no connection from others.
  bool streams_messages() const {
    return reply_form == ReplyForm::kGrpc && pool->settings().protocol == program::BackendProtocol::kHttp2;
  }
  /// Major version of HTTP that the backend speaks.
  std::uint8_t backend_http() const {
    return pool->settings().protocol == program::BackendProtocol::kHttp2 ? std::uint8_t{2} : std::uint8_t{1};
  }
  /// What a request's body is held to.
  program::ClientLimitsRecord body_limits() const {
    program::ClientLimitsRecord limits = *listener->limits;
    if (!measured || streams_messages()) limits.min_body_rate = 0;
    return limits;
  }
  /// May be sent twice (RFC 9110 §9.2.2).
  bool idempotent() const {
    using net::http1::Method;
    return method != Method::kOther && method != Method::kPost && method != Method::kPatch;
  }
};

}  // namespace edge::runtime
