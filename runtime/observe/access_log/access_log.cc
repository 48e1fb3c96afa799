#include "runtime/observe/access_log/access_log.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace edge::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Between two looks at the rings while entries come: one wakes the writer, those behind it are written with it, unless
/// a ring is half full before.
constexpr milliseconds kGather{20};
/// While the output takes nothing, or nothing is open.
constexpr milliseconds kRetry{250};
/// What waits for an output that takes nothing.
constexpr std::size_t kMaxLines = std::size_t{4} << 20;
/// Lines that are written in one piece: so few that they are in the processor's cache still.
constexpr std::size_t kPiece = std::size_t{64} << 10;
/// Entries that are looked at together, and times of that in one ring before the others have their turn.
constexpr std::size_t kTogether = 32;
constexpr int kTurn = 128;
constexpr auto kLastFlush = std::chrono::seconds(1);

std::uint64_t count_lines(std::string_view text) { return static_cast<std::uint64_t>(std::ranges::count(text, '\n')); }

}  // namespace

Result<std::unique_ptr<AccessLog>> AccessLog::open(LogFileOptions options, std::function<void(const std::string&)> tell,
                                                   net::Fd reopen_on) {
  LogFile file(std::move(options), std::move(tell));
  if (Status status = file.open(); !status) return status.error();
  std::unique_ptr<AccessLog> log(new AccessLog(std::move(file)));
  log->bell_ = net::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  log->reopen_on_ = std::move(reopen_on);
  if (!log->bell_.valid()) return Error{ErrorCode::kResourceExhausted, "no descriptor for the access log"};
  return log;
}

AccessLog::AccessLog(LogFile file) : file_(std::move(file)) {}

AccessLog::~AccessLog() {
  stop_ = true;
  ring_bell();
  if (thread_.joinable()) thread_.join();
}

AccessLog::Pen& AccessLog::add_thread() {
  const std::lock_guard lock(mutex_);
  return pens_.emplace_back(*this);
}

const LogFormat& AccessLog::format(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  const auto known = std::ranges::find_if(formats_, [&](const LogFormat& format) { return format.text() == text; });
  return known != formats_.end() ? *known : formats_.emplace_back(text);
}

void AccessLog::reopen() {
  reopen_ = true;
  ring_bell();
}

AccessLogCounts AccessLog::counts() const {
  AccessLogCounts counts{.written = written_.value(), .dropped_output = dropped_output_.value()};
  const std::lock_guard lock(mutex_);
  for (const Pen& pen : pens_) counts.dropped_busy += pen.ring_.dropped();
  return counts;
}

void AccessLog::ring_bell() const {
  const std::uint64_t one = 1;
  // Full only when it rings already.
  static_cast<void>(::write(bell_.get(), &one, sizeof(one)));
}

// ---- The writer's thread --------------------------------------------------------------------------------------------

void AccessLog::run() {
  for (;;) {
    const bool stopping = stop_;
    if (reopen_.exchange(false)) {
      flush();
      file_.reopen();
    }
    const std::size_t taken = take_entries();
    flush();
    if (stopping && taken == 0) break;
    if (!stopping) rest(taken);
  }
  const auto until = steady_clock::now() + kLastFlush;
  while (!lines_.empty() && steady_clock::now() < until) {
    pollfd output{file_.fd(), POLLOUT, 0};
    ::poll(&output, 1, static_cast<int>(kGather.count()));
    flush();
  }
}

/// \returns how many there were.
std::size_t AccessLog::take_entries() {
  std::vector<LogRing*> rings;
  {
    const std::lock_guard lock(mutex_);
    for (Pen& pen : pens_) rings.push_back(&pen.ring_);
  }
  std::size_t taken = 0;
  for (LogRing* ring : rings) {
    for (int i = 0; i < kTurn; ++i) {
      std::array<std::span<const char>, kTogether> room;
      const std::span entries(room.data(), ring->front(room));
      if (entries.empty()) break;
      taken += entries.size();
      recent_.add(entries);
      for (const std::span<const char> flat : entries) write_line(flat);
      ring->pop();
    }
  }
  return taken;
}

void AccessLog::write_line(std::span<const char> flat) {
  if (lines_.size() - flushed_ >= kMaxLines) return dropped_output_.add();
  writer_.write(LogEntry::of(flat), lines_);
  ++waiting_;
  if (lines_.size() >= try_at_) flush();
}

void AccessLog::flush() {
  while (flushed_ < lines_.size()) {
    const std::string_view rest = std::string_view(lines_).substr(flushed_);
    const LogFile::Wrote wrote = file_.write(rest);
    if (wrote.bytes == 0) break;
    const std::uint64_t lines = wrote.bytes == rest.size() ? waiting_ : count_lines(rest.substr(0, wrote.bytes));
    wrote.lost ? dropped_output_.add(lines) : written_.add(lines);
    waiting_ -= lines;
    flushed_ += wrote.bytes;
  }
  if (flushed_ == lines_.size()) {
    lines_.clear();
    flushed_ = 0;
  } else if (flushed_ > kMaxLines) {
    lines_.erase(0, flushed_);
    flushed_ = 0;
  }
  try_at_ = lines_.size() + kPiece;
}

// Until there may be something to do. While entries come nobody has to ring.
void AccessLog::rest(std::size_t taken) {
  std::array<pollfd, 3> wait{pollfd{bell_.get(), POLLIN, 0}, pollfd{reopen_on_.get(), POLLIN, 0},
                             pollfd{file_.fd(), POLLOUT, 0}};
  const bool blocked = !lines_.empty();
  int timeout = static_cast<int>(kGather.count());
  if (taken == 0) {
    asleep_.store(true, std::memory_order_seq_cst);
    const std::lock_guard lock(mutex_);
    const bool came = std::ranges::any_of(pens_, [](Pen& pen) { return !pen.ring_.front().empty(); });
    timeout = came ? 0 : blocked ? static_cast<int>(kRetry.count()) : -1;
  }
  ::poll(wait.data(), blocked && taken == 0 ? 3 : 2, timeout);
  asleep_ = false;
  std::uint64_t rung = 0;
  static_cast<void>(::read(bell_.get(), &rung, sizeof(rung)));
  // Behind the bell: whoever rang before it was taken is looked at now, and must not pass for one who hurries the next
  // rest, which nobody could then.
  hurried_ = false;
  std::array<char, 512> why;
  if (reopen_on_.valid() && ::read(reopen_on_.get(), why.data(), why.size()) > 0) reopen_ = true;
}

}  // namespace edge::runtime
