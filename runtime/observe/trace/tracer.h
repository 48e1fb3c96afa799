// Traces of one thread's requests: an exchange has a RequestTrace where its gateway traces, whether or not the request
// is sampled, since the ids go on to the backend in any case.
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

/// Ids of one thread: xoshiro256** of Blackman and Vigna, whose 256 bits of state come from the system, so that no two
/// threads of a fleet ever give the same. They name things, and keep nothing secret.
class IdSource {
 public:
  IdSource();
  explicit IdSource(const std::array<std::uint64_t, 4>& seed) : state_(seed) {}
  /// Never 0: that is no id.
  std::uint64_t next();

 private:
  std::array<std::uint64_t, 4> state_{};
};

struct GiveBack;
class Tracer;

/// A step of a request that has begun. One that nobody is told of is empty.
struct Step {
  SpanId id = 0;
  std::uint64_t begin = 0;
  explicit operator bool() const { return begin != 0; }
};

class RequestTrace {
 public:
  /// Sampled, and exported: only then is there anything to say.
  bool recorded() const { return recorded_; }
  const TraceId& id() const { return context_.trace; }
  TraceText id_text() const { return text_of(context_.trace); }

  /// The fields for a backend, but for those that somebody else has a word on. What it does hangs below the first try,
  /// whose id is known already.
  void write(TraceFields others, net::http1::HeadWriter& out) const {
    write_trace_context({context_, span_, next_try_, sampled_, others}, out);
  }

  /// Of the request's own span. Only when recorded.
  Attributes& attributes() { return attributes_; }
  /// The request is over. `name` and `error` are as in SpanHead; `ready` are attributes that were composed before.
  void end(std::string_view name, std::string_view error, std::string_view ready = {});

  /// Empty when not recorded.
  Step begin_step();
  /// One that a backend sees: its id is the one that `write` has told, also when it begins once more before it ends.
  Step begin_try();
  /// Before the request is tried once more: the try gets an id of its own, and `head`, which was written with the last
  /// one's, tells it.
  void renew_try(std::span<char> head);
  /// Attributes of the step that ends next.
  Attributes& step_attributes();
  void end_step(const Step& step, SpanKind kind, std::string_view name, std::string_view error,
                std::string_view ready = {});

  /// What goes on for this request when it may be over itself: a copy of it, the refresh of what a cache had for it.
  /// Has a span below this one's, told when it ends, and tries of its own. A head that was written for this one's first
  /// try tells of the branch's, too: of two that are sent one has to have it renewed (renew_try).
  std::unique_ptr<RequestTrace, GiveBack> branch();

 private:
  friend class Tracer;
  friend class StepCalls;
  friend struct GiveBack;
  std::uint64_t now();
  std::uint64_t batch_began() const;
  void tell(const Step& step, SpanId parent, SpanKind kind, std::string_view name, std::string_view error,
            std::string_view ready = {});
  /// What was told goes to the exporter.
  void leave();

  Tracer* tracer_ = nullptr;
  TraceContext context_;
  SpanId span_ = 0;
  SpanId next_try_ = 0;
  /// There is a span with the id of next_try_.
  bool try_ended_ = false;
  bool sampled_ = false;
  bool recorded_ = false;
  /// Of the request's own span.
  SpanKind kind_ = SpanKind::kServer;
  /// By the wall's clock, when it began, and how far that is before the one that nobody sets.
  std::uint64_t began_ = 0;
  std::uint64_t ahead_ = 0;
  /// When the clock was read last for it.
  std::uint64_t read_at_ = 0;
  Attributes attributes_;
  /// Spans that have ended: those of a request go to the exporter at once, all or none.
  Composed told_;
  std::size_t told_count_ = 0;
};

/// Gives it back to its thread's, whose memory is used again.
struct GiveBack {
  void operator()(RequestTrace* trace) const;
};
using TracePointer = std::unique_ptr<RequestTrace, GiveBack>;

/// Calls that a step of a request makes, before its backend is asked: each a span below the step's.
class StepCalls {
 public:
  /// Nobody traces.
  StepCalls() = default;
  /// `trace`, which may be null, must outlive it.
  StepCalls(RequestTrace* trace, const Step& step) : trace_(trace), step_(step.id) {}

  /// Somebody is to be told of the trace, recorded or not.
  explicit operator bool() const { return trace_ != nullptr; }
  /// Empty when not recorded.
  Step begin() const { return trace_ == nullptr ? Step{} : trace_->begin_step(); }
  /// Whole lines for who is called: what it does hangs below `call`, else below the request's own span. But for
  /// `others`.
  std::string fields(const Step& call, TraceFields others) const;
  Attributes& attributes() const { return trace_->step_attributes(); }
  /// Only of one that has begun.
  void end(const Step& call, std::string_view name, std::string_view error) const {
    trace_->tell(call, step_, SpanKind::kClient, name, error);
  }

 private:
  RequestTrace* trace_ = nullptr;
  SpanId step_ = 0;
};

class Tracer {
 public:
  /// `buffer`: null where nobody exports. `loop`: its time, which was read for the whole batch, is when a request of
  /// the batch begins; null: the clock is read. Both must outlive this.
  explicit Tracer(SpanBuffer* buffer, const net::Loop* loop = nullptr) : buffer_(buffer), loop_(loop) {}

  /// Who sent a request.
  enum class Sender : std::uint8_t {
    kBelieved,  ///< whether it is sampled is the sender's to say
    kStranger,  ///< names a trace to be part of, and decides nothing
  };
  /// `percent`: of the requests whose sender leaves it to us, or is not believed.
  TracePointer begin(const net::http1::HeadFields& fields, Sender sender, unsigned percent);

 private:
  friend class RequestTrace;
  friend struct GiveBack;
  static constexpr std::size_t kMostKept = 256;

  std::unique_ptr<RequestTrace> unused();
  /// By the clock that nobody sets, in nanoseconds: now, and when the batch began.
  static std::uint64_t now();
  std::uint64_t batch_began() const;
  /// What that clock has to be put forward by to be the wall's. Asked once a second.
  std::uint64_t ahead(std::uint64_t now);

  SpanBuffer* buffer_;
  const net::Loop* loop_;
  std::uint64_t ahead_ = 0;
  std::uint64_t asked_at_ = 0;
  IdSource ids_;
  /// Of the step that ends: between two waits.
  Attributes step_;
  std::vector<std::unique_ptr<RequestTrace>> unused_;
};

}  // namespace edge::runtime::trace
