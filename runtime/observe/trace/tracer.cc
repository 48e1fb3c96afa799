#include "runtime/observe/trace/tracer.h"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

namespace edge::runtime::trace {
namespace {

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

TracePointer Tracer::begin(const net::http1::HeadFields& fields, unsigned percent) {
  std::unique_ptr<RequestTrace> made;
  if (unused_.empty()) {
    made = std::make_unique<RequestTrace>();
  } else {
    made = std::move(unused_.back());
    unused_.pop_back();
  }
  RequestTrace& trace = *made;
  trace.tracer_ = this;
  trace.context_ = read_trace_context(fields);
  if (trace.context_.trace.none()) trace.context_.trace = {ids_.next(), ids_.next()};
  trace.span_ = ids_.next();
  trace.next_try_ = ids_.next();
  trace.try_ended_ = false;
  trace.sampled_ = trace.context_.sampled ? *trace.context_.sampled : ids_.next() % 100 < percent;
  trace.recorded_ = trace.sampled_ && buffer_ != nullptr;
  // Sampled, and no spans of ours: below one of them nobody would find what the backend does.
  if (trace.sampled_ && !trace.recorded_ && trace.context_.parent != 0) {
    trace.span_ = trace.next_try_ = trace.context_.parent;
  }
  if (trace.recorded_) {
    trace.began_ = nanoseconds_of<std::chrono::system_clock>();
    trace.steady_ = nanoseconds_of<std::chrono::steady_clock>();
  }
  return TracePointer(made.release());
}

void GiveBack::operator()(RequestTrace* trace) const {
  std::unique_ptr<RequestTrace> over(trace);
  over->leave();
  over->attributes_.clear();
  std::vector<std::unique_ptr<RequestTrace>>& unused = over->tracer_->unused_;
  if (unused.size() < Tracer::kMostKept) unused.push_back(std::move(over));
}

// The spans of a request agree with one another, whoever sets the clock meanwhile.
std::uint64_t RequestTrace::now() const { return began_ + (nanoseconds_of<std::chrono::steady_clock>() - steady_); }

void RequestTrace::end(std::string_view name, std::string_view error) {
  if (!recorded_) return;
  append_span({context_.trace, span_, context_.parent, SpanKind::kServer, name, began_, now(), error}, attributes_,
              told_);
  ++told_count_;
  recorded_ = false;
  leave();
}

void RequestTrace::leave() {
  if (told_count_ == 0) return;
  tracer_->buffer_->add(told_, told_count_);
  told_.clear();
  told_count_ = 0;
}

Step RequestTrace::begin_step() { return recorded_ ? Step{tracer_->ids_.next(), now()} : Step{}; }

// A cache may have the same head forwarded twice.
Step RequestTrace::begin_try() {
  if (!recorded_) return {};
  if (std::exchange(try_ended_, false)) next_try_ = tracer_->ids_.next();
  return {next_try_, now()};
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

void RequestTrace::end_step(const Step& step, SpanKind kind, std::string_view name, std::string_view error) {
  if (step.id == next_try_) try_ended_ = true;
  append_span({context_.trace, step.id, span_, kind, name, step.begin, now(), error}, tracer_->step_, told_);
  ++told_count_;
}

}  // namespace edge::runtime::trace
