#include "runtime/observe/trace/tracer.h"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <utility>

namespace edge::runtime::trace {
namespace {

/// More than ids in every form and the longest tracestate take.
constexpr std::size_t kMostFields = 1024;

template <typename Clock>
std::uint64_t nanoseconds_of() {
  const auto since = Clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

}  // namespace

IdSource::IdSource() {
  std::array<std::uint64_t, 4> seed{};
  if (::getrandom(seed.data(), sizeof seed, 0) != sizeof seed) seed[0] = nanoseconds_of<std::chrono::system_clock>();
  // All zeros would stay so.
  seed[3] |= 1;
  state_ = seed;
}

std::uint64_t IdSource::next() {
  std::uint64_t id = 0;
  while (id == 0) {
    id = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
  }
  return id;
}

std::unique_ptr<RequestTrace> Tracer::unused() {
  if (unused_.empty()) return std::make_unique<RequestTrace>();
  std::unique_ptr<RequestTrace> last = std::move(unused_.back());
  unused_.pop_back();
  return last;
}

TracePointer Tracer::begin(const net::http1::HeadFields& fields, Sender sender, unsigned percent) {
  std::unique_ptr<RequestTrace> made = unused();
  RequestTrace& trace = *made;
  trace.tracer_ = this;
  trace.kind_ = SpanKind::kServer;
  trace.context_ = read_trace_context(fields);
  if (sender == Sender::kStranger) trace.context_.leave_decision();
  if (trace.context_.trace.none()) trace.context_.trace = {ids_.next(), ids_.next()};
  trace.span_ = ids_.next();
  trace.next_try_ = ids_.next();
  trace.try_ended_ = false;
  trace.sampled_ = trace.context_.sampled.value_or(percent >= 100 || ids_.next() % 100 < percent);
  trace.recorded_ = trace.sampled_ && buffer_ != nullptr;
  // Sampled, and no spans of ours: below one of them nobody would find what the backend does.
  if (trace.sampled_ && !trace.recorded_ && trace.context_.parent != 0) {
    trace.span_ = trace.next_try_ = trace.context_.parent;
  }
  if (trace.recorded_) {
    const std::uint64_t began = batch_began();
    trace.ahead_ = ahead(began);
    trace.began_ = trace.read_at_ = began + trace.ahead_;
  }
  return TracePointer(made.release());
}

std::uint64_t Tracer::now() { return nanoseconds_of<std::chrono::steady_clock>(); }

std::uint64_t Tracer::batch_began() const {
  return loop_ == nullptr ? now() : static_cast<std::uint64_t>(loop_->now().time_since_epoch().count());
}

std::uint64_t Tracer::ahead(std::uint64_t now) {
  constexpr std::uint64_t kAskAgain = 1'000'000'000;
  if (ahead_ == 0 || now - asked_at_ >= kAskAgain) {
    ahead_ = nanoseconds_of<std::chrono::system_clock>() - Tracer::now();
    asked_at_ = now;
  }
  return ahead_;
}

void GiveBack::operator()(RequestTrace* trace) const {
  std::unique_ptr<RequestTrace> over(trace);
  over->leave();
  over->attributes_.clear();
  std::vector<std::unique_ptr<RequestTrace>>& unused = over->tracer_->unused_;
  if (unused.size() < Tracer::kMostKept) unused.push_back(std::move(over));
}

// The spans of a request agree with one another, whoever sets the clock meanwhile.
std::uint64_t RequestTrace::now() { return read_at_ = Tracer::now() + ahead_; }

// Not before what has ended already.
std::uint64_t RequestTrace::batch_began() const { return std::max(read_at_, tracer_->batch_began() + ahead_); }

void RequestTrace::end(std::string_view name, std::string_view error, std::string_view ready) {
  if (!recorded_) return;
  recorded_ = false;
  // A try that has ended in this batch has ended now.
  const bool read = tracer_->loop_ != nullptr && read_at_ > tracer_->batch_began() + ahead_;
  const SpanHead head{context_.trace, span_, context_.parent, kind_, name, began_, read ? read_at_ : now(), error};
  const SpanMessage span(head, attributes_, ready);
  const std::string_view before = told_.view();
  const std::size_t size = before.size() + span.size();
  const std::size_t count = std::exchange(told_count_, 0) + 1;
  if (char* const at = tracer_->buffer_->room(size, count)) {
    if (!before.empty()) std::memcpy(at, before.data(), before.size());
    span.write(at + before.size());
    tracer_->buffer_->wrote(size, count);
  }
  told_.clear();
}

void RequestTrace::leave() {
  if (told_count_ == 0) return;
  tracer_->buffer_->add(told_.view(), told_count_);
  told_.clear();
  told_count_ = 0;
}

Step RequestTrace::begin_step() { return recorded_ ? Step{tracer_->ids_.next(), now()} : Step{}; }

// A cache may have the same head forwarded twice.
Step RequestTrace::begin_try() {
  if (!recorded_) return {};
  if (std::exchange(try_ended_, false)) next_try_ = tracer_->ids_.next();
  return {next_try_, batch_began()};
}

void RequestTrace::renew_try(std::span<char> head) {
  const SpanText old = text_of(next_try_);
  next_try_ = tracer_->ids_.next();
  try_ended_ = false;
  const SpanText renewed = text_of(next_try_);
  // 64 random bits stand nowhere by chance. As often as there are forms of telling them.
  for (auto from = head.begin();;) {
    const auto found = std::search(from, head.end(), old.begin(), old.end());
    if (found == head.end()) return;
    from = std::copy(renewed.begin(), renewed.end(), found);
  }
}

Attributes& RequestTrace::step_attributes() {
  tracer_->step_.clear();
  return tracer_->step_;
}

void RequestTrace::end_step(const Step& step, SpanKind kind, std::string_view name, std::string_view error,
                            std::string_view ready) {
  if (step.id == next_try_) try_ended_ = true;
  tell(step, span_, kind, name, error, ready);
}

void RequestTrace::tell(const Step& step, SpanId parent, SpanKind kind, std::string_view name, std::string_view error,
                        std::string_view ready) {
  const SpanHead head{context_.trace, step.id, parent, kind, name, step.begin, now(), error};
  const SpanMessage span(head, tracer_->step_, ready);
  told_.wrote_to(span.write(told_.room(span.size())));
  ++told_count_;
}

TracePointer RequestTrace::branch() {
  std::unique_ptr<RequestTrace> made = tracer_->unused();
  RequestTrace& trace = *made;
  trace.tracer_ = tracer_;
  trace.kind_ = SpanKind::kInternal;
  trace.context_ = context_;
  trace.context_.parent = span_;
  // Where nobody is told, all hang below the sender's.
  trace.span_ = recorded_ ? tracer_->ids_.next() : span_;
  trace.next_try_ = next_try_;
  trace.try_ended_ = try_ended_;
  trace.sampled_ = sampled_;
  trace.recorded_ = recorded_;
  if (recorded_) {
    trace.ahead_ = ahead_;
    trace.began_ = trace.read_at_ = now();
  }
  return TracePointer(made.release());
}

std::string StepCalls::fields(const Step& call, TraceFields others) const {
  std::string lines(kMostFields, '\0');
  net::http1::HeadWriter out(lines.data(), lines.size());
  const SpanId span = call ? call.id : trace_->span_;
  write_trace_context({trace_->context_, call ? step_ : trace_->context_.parent, span, trace_->sampled_, others}, out);
  lines.resize(out.size());
  return lines;
}

}  // namespace edge::runtime::trace
