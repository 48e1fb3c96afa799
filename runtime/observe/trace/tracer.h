// Traces of one thread's requests: an exchange has a RequestTrace where its gateway traces, sampled or not, since the
// ids are propagated to the backend in any case.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/http1/head.h"
#include "net/http1/write.h"
#include "net/loop.h"
#include "runtime/observe/trace/span_buffers.h"
#include "runtime/observe/trace/span_text.h"
#include "runtime/observe/trace/trace_context.h"

namespace edge::runtime::trace {

/// Generates ids for one thread: xoshiro256** of Blackman and Vigna, seeded with 256 bits from the system, so that no
/// two threads of a fleet generate the same. The ids are identifiers, not secrets.
class IdSource {
 public:
  IdSource();
  explicit IdSource(const std::array<std::uint64_t, 4>& seed) : state_(seed) {}
  /// Returns the next id; never 0, which is invalid.
  std::uint64_t next();

 private:
  std::array<std::uint64_t, 4> state_{};
};

struct GiveBack;
class Tracer;

/// A step of a request that has begun; empty where no span is recorded for it.
struct Step {
  SpanId id = 0;
  std::uint64_t begin = 0;
  explicit operator bool() const { return begin != 0; }
};

class RequestTrace {
 public:
  /// Returns whether spans are recorded: the request is sampled, and an exporter is configured.
  bool recorded() const { return recorded_; }
  const TraceId& id() const { return context_.trace; }
  TraceText id_text() const { return text_of(context_.trace); }

  /// Writes the trace context for a backend, except the fields in `others`, which other settings decide. The backend's
  /// span becomes a child of the first try, whose id is fixed already.
  void write(TraceFields others, net::http1::HeadWriter& out) const {
    write_trace_context({context_, span_, next_try_, sampled_, others}, out);
  }

  /// Returns the attributes of the request's own span. Only when recorded.
  Attributes& attributes() { return attributes_; }
  /// Ends the request's span. `name` and `error` as in SpanHead; `ready` are attributes that were encoded before.
  void end(std::string_view name, std::string_view error, std::string_view ready = {});

  /// Begins a step; empty when not recorded.
  Step begin_step();
  /// Begins a step that the backend sees as its parent: it has the id that `write` propagated, also when begun again
  /// before its end.
  Step begin_try();
  /// Called before a retry: gives the new try an id of its own, and puts it into `head`, which was written with the
  /// last try's.
  void renew_try(std::span<char> head);
  /// Returns the attributes of the step that ends next.
  Attributes& step_attributes();
  void end_step(const Step& step, SpanKind kind, std::string_view name, std::string_view error,
                std::string_view ready = {});

  /// Returns a trace for work that may outlive this request: a mirrored copy, a background refresh of the cache. It has
  /// a span that is a child of this one's, reported when it ends, and tries of its own. A head written for this
  /// request's first try also names the branch's first try: when both are sent, one head must be renewed (renew_try).
  std::unique_ptr<RequestTrace, GiveBack> branch();

 private:
  friend class Tracer;
  friend class StepCalls;
  friend struct GiveBack;
  std::uint64_t now();
  std::uint64_t batch_began() const;
  void tell(const Step& step, SpanId parent, SpanKind kind, std::string_view name, std::string_view error,
            std::string_view ready = {});
  /// Passes the finished spans to the exporter's buffer.
  void leave();

  Tracer* tracer_ = nullptr;
  TraceContext context_;
  SpanId span_ = 0;
  SpanId next_try_ = 0;
  /// A span with the id of next_try_ has ended.
  bool try_ended_ = false;
  bool sampled_ = false;
  bool recorded_ = false;
  /// Of the request's own span.
  SpanKind kind_ = SpanKind::kServer;
  /// The wall-clock time of the beginning, and its difference to the monotonic clock then.
  std::uint64_t began_ = 0;
  std::uint64_t ahead_ = 0;
  /// When the clock was last read for this request.
  std::uint64_t read_at_ = 0;
  Attributes attributes_;
  /// Spans that have ended: those of a request are passed on together, all or none.
  Composed told_;
  std::size_t told_count_ = 0;
};

/// Returns a trace to its thread's tracer, which reuses the memory.
struct GiveBack {
  void operator()(RequestTrace* trace) const;
};
using TracePointer = std::unique_ptr<RequestTrace, GiveBack>;

/// The calls that a step of a request makes before the backend is called: each has a span below the step's.
class StepCalls {
 public:
  /// The request is not traced.
  StepCalls() = default;
  /// `trace`, which may be null, must outlive this object.
  StepCalls(RequestTrace* trace, const Step& step) : trace_(trace), step_(step.id) {}

  /// Returns whether the trace context is to be propagated, recorded or not.
  explicit operator bool() const { return trace_ != nullptr; }
  /// Begins a call; empty when not recorded.
  Step begin() const { return trace_ == nullptr ? Step{} : trace_->begin_step(); }
  /// Returns the trace context for the called service, as complete header lines, without the fields in `others`: its
  /// span becomes a child of `call`, else of the request's own span.
  std::string fields(const Step& call, TraceFields others) const;
  Attributes& attributes() const { return trace_->step_attributes(); }
  /// Ends a call; only for one that has begun.
  void end(const Step& call, std::string_view name, std::string_view error) const {
    trace_->tell(call, step_, SpanKind::kClient, name, error);
  }

 private:
  RequestTrace* trace_ = nullptr;
  SpanId step_ = 0;
};

class Tracer {
 public:
  /// `buffer`: null where nothing is exported. `loop`: its time, read once per batch of events, is when a request of
  /// the batch begins; null: the clock is read. Both must outlive this.
  explicit Tracer(SpanBuffer* buffer, const net::Loop* loop = nullptr) : buffer_(buffer), loop_(loop) {}

  /// Whether the sender of a request is trusted with the sampling decision.
  enum class Sender : std::uint8_t {
    kBelieved,  ///< trusted proxy: its sampling decision applies
    kStranger,  ///< any other client: its trace id is used, its decision is not
  };
  /// Begins the trace of a request. `percent`: sampling rate for requests whose sender leaves the decision open or is
  /// not trusted.
  TracePointer begin(const net::http1::HeadFields& fields, Sender sender, unsigned percent);

 private:
  friend class RequestTrace;
  friend struct GiveBack;
  static constexpr std::size_t kMostKept = 256;

  std::unique_ptr<RequestTrace> unused();
  /// Monotonic clock, in nanoseconds: now, and at the start of the batch.
  static std::uint64_t now();
  std::uint64_t batch_began() const;
  /// Returns the difference from the monotonic clock to wall-clock time. Determined once a second.
  std::uint64_t ahead(std::uint64_t now);

  SpanBuffer* buffer_;
  const net::Loop* loop_;
  std::uint64_t ahead_ = 0;
  std::uint64_t asked_at_ = 0;
  IdSource ids_;
  /// Attributes of the step that ends next; used between two suspensions.
  Attributes step_;
  std::vector<std::unique_ptr<RequestTrace>> unused_;
};

}  // namespace edge::runtime::trace
