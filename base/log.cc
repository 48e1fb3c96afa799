#include "base/log.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace edge {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);
/// Records a turn of the writer, so that what it holds is bounded too.
constexpr std::size_t kATurn = 64;

/// systemd.exec(5): the device and inode of what the service manager connected to the journal.
bool is_journal(int descriptor) {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat status{};
  if (stream == nullptr || ::fstat(descriptor, &status) != 0) return false;
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) == stream;
}

/// Waits as long as it takes: only the thread that does nothing else calls it.
bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno == EAGAIN) {
      pollfd wait{.fd = descriptor, .events = POLLOUT, .revents = 0};
      if (::poll(&wait, 1, -1) < 0 && errno != EINTR) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::size_t size_of(const LogRecord& record) {
  std::size_t size = sizeof(LogRecord) + record.text.size() + record.block.size();
  for (const LogField& field : record.fields) size += sizeof(LogField) + field.key.size() + field.value.size();
  return size;
}

}  // namespace

/// Shared with the writer thread, which may be blocked in a write for ever when the log is destroyed.
struct Log::State {
  explicit State(LogOptions given)
      : options(std::move(given)),
        descriptor(::fcntl(options.descriptor, F_DUPFD_CLOEXEC, 0)),
        journal(is_journal(options.descriptor)) {}
  ~State() { ::close(descriptor); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const LogOptions options;
  /// Our own: the number of one that others closed may be something else's by the time that a stuck write goes on.
  const int descriptor;
  const bool journal;
  std::atomic<LogLevel> level{LogLevel::kInfo};
  std::thread writer;

  std::mutex mutex;
  std::condition_variable changed;
  // Under the mutex:
  std::deque<std::shared_ptr<const LogRecord>> ring;  ///< numbers without a gap
  std::size_t bytes = 0;
  std::uint64_t last = 0;   ///< number of the newest
  std::uint64_t taken = 0;  ///< by the writer, up to this number
  std::uint64_t out = 0;    ///< this and all before are written, or given up
  std::uint64_t dropped = 0;
  bool ending = false;

  void push(LogRecord record) {
    const std::lock_guard lock(mutex);
    record.number = ++last;
    bytes += size_of(record);
    ring.push_back(std::make_shared<const LogRecord>(std::move(record)));
    while (ring.size() > options.max_lines || (bytes > options.max_bytes && ring.size() > 1)) {
      bytes -= size_of(*ring.front());
      ring.pop_front();
    }
    changed.notify_all();
  }

  std::string rendered(const LogRecord& record) const {
    std::string line = journal                              ? log_line_journal(record, options.format, options.program)
                       : options.format == LogFormat::kJson ? log_line_json(record, options.program)
                                                            : log_line_text(record, options.program);
    line += '\n';
    return line;
  }

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return taken < last || ending; });
      if (taken == last) return;
      std::string text;
      const std::uint64_t oldest = ring.front()->number;
      if (taken + 1 < oldest) text = give_up(oldest - taken - 1);
      taken = std::max(taken, oldest - 1);
      std::vector<std::shared_ptr<const LogRecord>> turn;
      for (; turn.size() < kATurn && taken < last; ++taken) turn.push_back(ring[taken + 1 - oldest]);
      lock.unlock();
      // A line a write: each is whole for whoever reads a pipe that others write to as well.
      if (!text.empty()) write_all(descriptor, text);
      std::uint64_t failed = 0;
      for (const auto& record : turn) failed += write_all(descriptor, rendered(*record)) ? 0 : 1;
      lock.lock();
      dropped += failed;
      out = taken;
      changed.notify_all();
    }
  }

  std::string give_up(std::uint64_t count) {
    dropped += count;
    LogRecord record{.time = std::chrono::system_clock::now(), .level = LogLevel::kWarn};
    record.text = "lines were dropped: they came faster than they could be written";
    record.fields.push_back({"lines", std::to_string(count)});
    return rendered(record);
  }
};

Log::Log(LogOptions options) : state_(std::make_shared<State>(std::move(options))) {
  state_->level = state_->options.level;
  // Signals are for the threads of whoever has this log: a daemon waits for its own with sigwait.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  state_->writer = std::thread([state = state_] { state->run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Log::~Log() {
  const bool out = flush(kPatience);
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->changed.notify_all();
  if (out) {
    state_->writer.join();
  } else {
    state_->writer.detach();
  }
}

Logger Log::logger(LogFields fields) {
  return Logger([this, first = std::move(fields)](LogLevel level, std::string text, LogFields more) {
    more.insert(more.begin(), first.begin(), first.end());
    write(level, std::move(text), std::move(more));
  });
}

void Log::write(LogLevel level, std::string text, LogFields fields, std::string block) {
  if (level < state_->level.load(std::memory_order_relaxed)) return;
  LogRecord record{.time = std::chrono::system_clock::now(), .level = level};
  record.text = std::move(text);
  record.fields = std::move(fields);
  record.block = std::move(block);
  state_->push(std::move(record));
}

void Log::set_level(LogLevel level) { state_->level = level; }
LogLevel Log::level() const { return state_->level; }
const std::string& Log::program() const { return state_->options.program; }
LogFormat Log::format() const { return state_->options.format; }

LogLines Log::recent(const LogQuery& query) const {
  LogLines lines;
  const std::lock_guard lock(state_->mutex);
  const auto& ring = state_->ring;
  const std::uint64_t oldest = ring.empty() ? state_->last + 1 : ring.front()->number;
  // A number from before a restart names nothing: it begins anew.
  const std::uint64_t after = query.after > state_->last ? 0 : query.after;
  if (after != 0 && after + 1 < oldest) lines.missed = oldest - after - 1;
  lines.next = std::max(after, oldest - 1);
  for (const auto& record : ring) {
    if (record->number <= after) continue;
    const bool wanted = record->level >= query.least && (!query.since || record->time >= *query.since);
    if (wanted && lines.records.size() == query.limit) break;
    if (wanted) lines.records.push_back(record);
    lines.next = record->number;
  }
  if (query.tail && lines.records.size() > *query.tail) {
    lines.records.erase(lines.records.begin(), lines.records.end() - static_cast<std::ptrdiff_t>(*query.tail));
  }
  return lines;
}

std::uint64_t Log::dropped() const {
  const std::lock_guard lock(state_->mutex);
  return state_->dropped;
}

bool Log::flush(std::chrono::nanoseconds patience) {
  std::unique_lock lock(state_->mutex);
  const std::uint64_t until = state_->last;
  return state_->changed.wait_for(lock, patience, [&] { return state_->out >= until; });
}

std::optional<std::uint64_t> LogLimit::admit(Time now) {
  const std::lock_guard lock(mutex_);
  if (began_ == Time() || now - began_ >= interval_) {
    began_ = now;
    written_ = 0;
  }
  if (written_ == lines_) {
    ++held_;
    return std::nullopt;
  }
  ++written_;
  return std::exchange(held_, 0);
}

}  // namespace edge
