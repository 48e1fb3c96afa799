#include "runtime/observe/trace/span_exporter.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/observe/trace/span_text.h"

namespace edge::runtime::trace {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Time = SpanSender::Time;

/// The spans of one message.
struct Batch {
  std::string_view spans;
  std::size_t count = 0;
};

/// The first of so many spans, as many as a message may hold.
Batch first_batch(std::string_view spans, std::size_t count) {
  // As a rule all of them: another thread's memory, at which nobody looks before it is sent.
  if (spans.size() <= SpanExporter::kMaxBatch) return {spans, count};
  Batch batch;
  std::size_t end = 0;
  while (end < spans.size()) {
    const std::size_t size = first_span_size(spans.substr(end));
    if (end != 0 && end + size > SpanExporter::kMaxBatch) break;
    end += size;
    ++batch.count;
  }
  batch.spans = spans.substr(0, end);
  return batch;
}

std::vector<Batch> batches_of(const std::vector<SpanBuffer::Taken>& all) {
  std::vector<Batch> batches;
  for (const SpanBuffer::Taken& taken : all) {
    std::string_view rest = taken.bytes;
    for (std::size_t left = taken.count; !rest.empty();) {
      const Batch batch = first_batch(rest, left);
      batches.push_back(batch);
      rest.remove_prefix(batch.spans.size());
      left -= batch.count;
    }
  }
  return batches;
}

}  // namespace

struct SpanExporter::Impl {
  Impl(std::shared_ptr<SpanBuffers> from, std::unique_ptr<SpanSender> to, ExporterOptions chosen)
      : buffers(std::move(from)), sender(std::move(to)), options(std::move(chosen)), frame(options.resource) {}

  void run();
  void deliver(const Batch& batch, Time give_up);
  bool settle(const Sent& sent, std::size_t count);
  void wait_until(Time until);
  void fail(const Sent& sent);
  void say(const std::string& line) const {
    if (options.tell) options.tell(line);
  }
  bool ends() {
    const std::scoped_lock lock(mutex);
    return stopping;
  }

  const std::shared_ptr<SpanBuffers> buffers;
  const std::unique_ptr<SpanSender> sender;
  const ExporterOptions options;
  const MessageFrame frame;

  std::mutex mutex;
  std::condition_variable changed;
  bool many = false;  // these are guarded by it
  bool stopping = false;
  bool over = false;
  Time end{};

  // Of the exporter's thread.
  std::vector<SpanBuffer::Taken> taken;
  milliseconds pause{};
  Time not_before{};
  bool failing = false;
  std::minstd_rand dice{std::random_device{}()};

  std::atomic<std::uint64_t> exported = 0;
  std::atomic<std::uint64_t> refused = 0;
  std::atomic<std::uint64_t> unreachable = 0;
  std::atomic<std::uint64_t> at_end = 0;
  std::thread thread;
};

SpanExporter::SpanExporter(std::shared_ptr<SpanBuffers> buffers, std::unique_ptr<SpanSender> sender,
                           ExporterOptions options)
    : impl_(std::make_shared<Impl>(std::move(buffers), std::move(sender), std::move(options))) {
  // The buffers live on, and threads with them.
  impl_->buffers->on_many([weak = std::weak_ptr(impl_)] {
    const std::shared_ptr<Impl> impl = weak.lock();
    if (impl == nullptr) return;
    const std::scoped_lock lock(impl->mutex);
    impl->many = true;
    impl->changed.notify_all();
  });
  impl_->thread = std::thread([&impl = *impl_] { impl.run(); });
}

SpanExporter::~SpanExporter() { stop(); }

void SpanExporter::stop() {
  Impl& impl = *impl_;
  if (!impl.thread.joinable()) return;
  {
    std::unique_lock lock(impl.mutex);
    impl.stopping = true;
    impl.end = steady_clock::now() + 2 * impl.options.at_end;
    impl.changed.notify_all();
    // One that is under way, to a collector that answers, is not broken off.
    if (!impl.changed.wait_for(lock, impl.options.at_end, [&] { return impl.over; })) impl.sender->cancel();
  }
  impl.thread.join();
}

SpanCounts SpanExporter::counts() const {
  SpanCounts counts;
  counts.full = impl_->buffers->dropped();
  counts.recorded = impl_->buffers->added() + counts.full;
  counts.exported = impl_->exported;
  counts.refused = impl_->refused;
  counts.unreachable = impl_->unreachable;
  counts.at_end = impl_->at_end;
  return counts;
}

void SpanExporter::Impl::run() {
  for (bool last = false; !last;) {
    {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, options.interval, [&] { return stopping || many; });
      many = false;
      last = stopping;
    }
    // While a batch is not taken the buffers fill up, and are what bounds all this.
    buffers->take(taken);
    const Time give_up = steady_clock::now() + options.keep;
    for (const Batch& batch : batches_of(taken)) deliver(batch, give_up);
  }
  const std::scoped_lock lock(mutex);
  over = true;
  changed.notify_all();
}

void SpanExporter::Impl::deliver(const Batch& batch, Time give_up) {
  // Those before it had all the time that there was.
  if (pause != milliseconds{} && steady_clock::now() >= give_up && !ends()) {
    unreachable += batch.count;
    return;
  }
  const std::string head = frame.head(batch.spans.size());
  const Message message{head, batch.spans};
  for (;;) {
    wait_until(std::min(not_before, give_up));
    Time until = steady_clock::now() + options.patience;
    {
      const std::scoped_lock lock(mutex);
      if (stopping) until = std::min(until, end - options.at_end / 10);
    }
    if (until > steady_clock::now() && settle(sender->send(message, until), batch.count)) return;
    if (ends()) {
      at_end += batch.count;
      return;
    }
    if (steady_clock::now() >= give_up) {
      unreachable += batch.count;
      return;
    }
  }
}

/// \returns false when it has to be sent once more.
bool SpanExporter::Impl::settle(const Sent& sent, std::size_t count) {
  if (sent.how == Sent::How::kLater) {
    fail(sent);
    return false;
  }
  const std::uint64_t lost = sent.how == Sent::How::kRefused ? count : std::min<std::uint64_t>(sent.rejected, count);
  refused += lost;
  exported += count - lost;
  pause = {};
  not_before = {};
  const bool failed = lost != 0;
  if (failed != failing) {
    say(failed ? "the collector of traces refuses spans: " + sent.why : "the collector of traces takes spans again");
  }
  failing = failed;
  return true;
}

void SpanExporter::Impl::fail(const Sent& sent) {
  pause = pause == milliseconds{} ? options.first_pause : std::min(2 * pause, options.longest_pause);
  // Between half of it and all, so that agents that lost their collector do not come back as one.
  const milliseconds drawn(std::uniform_int_distribution<milliseconds::rep>(pause.count() / 2, pause.count())(dice));
  const auto asked = std::min<std::chrono::nanoseconds>(sent.after, options.longest_asked);
  not_before = steady_clock::now() + std::max<std::chrono::nanoseconds>(drawn, asked);
  if (!std::exchange(failing, true)) say("spans cannot be exported: " + sent.why);
}

void SpanExporter::Impl::wait_until(Time until) {
  std::unique_lock lock(mutex);
  changed.wait_until(lock, until, [&] { return stopping; });
}

}  // namespace edge::runtime::trace
