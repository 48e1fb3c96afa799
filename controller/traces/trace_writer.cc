#include "controller/traces/trace_writer.h"

#include <chrono>
#include <cstdio>
#include <span>
#include <utility>

#include <unistd.h>

namespace edge::traces {
namespace {

/// Of one transaction.
constexpr std::size_t kBatchBytes = std::size_t{512} << 10;
/// Spans of a request come in several parts; they are written together.
constexpr auto kGather = std::chrono::milliseconds(50);
constexpr auto kExpireEvery = std::chrono::minutes(1);

std::int64_t system_now() {
  using std::chrono::microseconds;
  return std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Traces are worth less than an edge that starts.
void put_aside(const std::string& path) {
  (void)std::rename(path.c_str(), (path + ".broken").c_str());
  for (const char* part : {"-wal", "-shm"}) (void)::unlink((path + part).c_str());
}

}  // namespace

Result<std::unique_ptr<TraceWriter>> TraceWriter::start(TraceWriterOptions options) {
  auto file = TraceFile::open(options.path, options.limits);
  if (!file && file.error().code == ErrorCode::kDataLoss) {
    options.log.warn("the file is not a database of traces; it is renamed to *.broken", {{"file", options.path}});
    put_aside(options.path);
    file = TraceFile::open(options.path, options.limits);
  }
  if (!file) return file.error();
  return std::unique_ptr<TraceWriter>(new TraceWriter(std::move(options), std::move(*file)));
}

TraceWriter::TraceWriter(TraceWriterOptions options, std::unique_ptr<TraceFile> file)
    : options_(std::move(options)), file_(std::move(file)) {
  counts_.bytes = file_->bytes();
  counts_.traces = file_->traces();
  thread_ = std::thread([this] { run(); });
}

TraceWriter::~TraceWriter() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::size_t TraceWriter::offer(std::vector<IncomingSpan> spans) {
  std::size_t dropped = 0;
  {
    const std::scoped_lock lock(mutex_);
    for (IncomingSpan& span : spans) {
      const std::size_t size = span.size();
      if (queued_bytes_ + size > options_.queue_bytes) {
        ++dropped;
        continue;
      }
      queued_bytes_ += size;
      queue_.push_back(std::move(span));
    }
    counts_.spans_dropped += dropped;
  }
  changed_.notify_all();
  return dropped;
}

void TraceWriter::count_refused(std::uint64_t spans) {
  const std::scoped_lock lock(mutex_);
  counts_.spans_refused += spans;
}

void TraceWriter::count_refused_request() {
  const std::scoped_lock lock(mutex_);
  ++counts_.requests_refused;
}

TraceCounts TraceWriter::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

bool TraceWriter::wait_until_idle(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return queue_.empty() && !writing_; });
}

std::int64_t TraceWriter::now() const { return options_.clock ? options_.clock() : system_now(); }

void TraceWriter::run() {
  auto expire_at = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait_until(lock, expire_at, [&] { return ending_ || !queue_.empty(); });
    if (!ending_ && !queue_.empty()) changed_.wait_for(lock, kGather, [&] { return ending_; });
    std::vector<IncomingSpan> spans = std::exchange(queue_, {});
    const bool last = ending_;
    writing_ = true;
    lock.unlock();
    write(spans);
    if (std::chrono::steady_clock::now() >= expire_at) {
      note(file_->expire(now()));
      expire_at = std::chrono::steady_clock::now() + kExpireEvery;
    }
    lock.lock();
    counts_.bytes = file_->bytes();
    counts_.traces = file_->traces();
    writing_ = false;
    changed_.notify_all();
    if (last) return;
  }
}

void TraceWriter::write(const std::vector<IncomingSpan>& spans) {
  for (std::size_t begin = 0; begin < spans.size();) {
    std::size_t end = begin;
    std::size_t bytes = 0;
    while (end < spans.size() && bytes < kBatchBytes) bytes += spans[end++].size();
    const Status status = file_->write(std::span(spans).subspan(begin, end - begin), now());
    note(status);
    const std::scoped_lock lock(mutex_);
    // At the end a disk that answers nobody is not waited for again and again.
    if (!status && ending_) end = spans.size();
    (status ? counts_.spans_taken : counts_.spans_dropped) += end - begin;
    // Room for others comes as soon as these are away, not when all are.
    queued_bytes_ -= bytes;
    begin = end;
  }
}

void TraceWriter::note(const Status& status) {
  if (status.ok() != failing_) return;
  failing_ = !status.ok();
  if (!failing_) return options_.log.info("traces are stored again");
  options_.log.warn("traces are dropped", {{"reason", status.error().text}});
}

}  // namespace edge::traces
