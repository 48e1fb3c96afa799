#include "runtime/observe/access_log/file.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

namespace edge::runtime {
namespace {

constexpr std::string_view kStandardOutput = "-";
/// Readable by whoever is meant to: addresses and paths of clients are nobody else's business.
constexpr mode_t kMode = 0640;
constexpr auto kRetryOpen = std::chrono::seconds(1);
constexpr auto kTellAgain = std::chrono::minutes(1);
constexpr auto kLookForOthers = std::chrono::seconds(1);
/// What a pipe takes in one piece when it says that it takes any (POSIX).
constexpr std::size_t kPipePiece = PIPE_BUF;

bool takes_some(int fd) {
  pollfd one{fd, POLLOUT, 0};
  return ::poll(&one, 1, 0) > 0;
}

ssize_t write_some(int fd, std::string_view text) {
  for (;;) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote >= 0 || errno != EINTR) return wrote;
  }
}

/// As many whole lines as fit into `most` bytes; at least one.
std::string_view whole_lines(std::string_view lines, std::size_t most) {
  if (lines.size() <= most) return lines;
  std::size_t end = most == 0 ? std::string_view::npos : lines.rfind('\n', most - 1);
  if (end == std::string_view::npos) end = lines.find('\n');
  return lines.substr(0, end == std::string_view::npos ? lines.size() : end + 1);
}

}  // namespace

LogFile::LogFile(LogFileOptions options, std::function<void(const std::string&)> tell)
    : options_(std::move(options)), tell_(std::move(tell)) {}

Status LogFile::open() {
  if (options_.path.empty()) return {};
  net::Fd fd;
  if (Status status = open_path(fd); !status) return status;
  if (fd.valid()) take(std::move(fd));
  return {};
}

// No fault and no descriptor: a FIFO without a reader.
Status LogFile::open_path(net::Fd& into) {
  tried_at_ = std::chrono::steady_clock::now();
  if (options_.path == kStandardOutput) {
    into.reset(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  } else {
    // Not blocking, or a FIFO would hold us until somebody reads it.
    into.reset(::open(options_.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, kMode));
  }
  if (into.valid() || errno == ENXIO) return {};
  return Error{ErrorCode::kFailedPrecondition,
               "cannot open the access log " + options_.path + ": " + std::strerror(errno)};
}

void LogFile::take(net::Fd fd) {
  struct stat about{};
  regular_ = ::fstat(fd.get(), &about) == 0 && S_ISREG(about.st_mode);
  size_ = regular_ ? static_cast<std::uint64_t>(about.st_size) : 0;
  torn_ = mid_line_ = false;
  fd_ = std::move(fd);
}

void LogFile::reopen() {
  if (options_.path.empty() || options_.path == kStandardOutput) return;
  net::Fd fd;
  if (Status status = open_path(fd); !status) return fault(status.error().text);
  if (fd.valid()) take(std::move(fd));
}

LogFile::Wrote LogFile::write(std::string_view lines) {
  if (options_.path.empty()) return {lines.size(), false};
  if (!fd_.valid()) {
    if (std::chrono::steady_clock::now() - tried_at_ >= kRetryOpen) reopen();
    if (!fd_.valid()) return {lines.size(), true};
  }
  if (regular_ && options_.max_size != 0 && !mid_line_) keep_in_bounds();
  if (!regular_ && !takes_some(fd_.get())) return {};
  if (torn_) {
    if (write_some(fd_.get(), "\n") < 0) return lose(lines, errno);
    torn_ = false;
  }
  const std::string_view piece = piece_of(lines);
  const ssize_t wrote = write_some(fd_.get(), piece);
  if (wrote < 0 && errno == EAGAIN) return {};
  if (wrote <= 0) return lose(lines, wrote == 0 ? ENOSPC : errno);
  const auto bytes = static_cast<std::size_t>(wrote);
  size_ += bytes;
  // The rest of a line that went in by a part comes next.
  mid_line_ = piece[bytes - 1] != '\n';
  return {bytes, false};
}

std::string_view LogFile::piece_of(std::string_view lines) const {
  if (!regular_) {
    const std::string_view piece = whole_lines(lines, kPipePiece);
    return piece.substr(0, kPipePiece);
  }
  if (options_.max_size == 0) return lines;
  return whole_lines(lines, static_cast<std::size_t>(options_.max_size - std::min(size_, options_.max_size)));
}

// Another process may write the same file and rotate it, as where one agent takes over from another: what it moved away
// is not written to for long, nor is what it has just begun moved away too.
void LogFile::keep_in_bounds() {
  if (size_ >= options_.max_size) {
    // A file system without locks has one writer, we hope; whoever holds this one is moving the file.
    if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return;
    was_moved() ? reopen() : rotate();
    ::flock(fd_.get(), LOCK_UN);
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_at_ < kLookForOthers) return;
  looked_at_ = now;
  if (was_moved()) reopen();
}

/// Something else has the path. Where nothing has, whoever moved it may be about to put a file of his own there.
bool LogFile::was_moved() const {
  struct stat there{};
  struct stat ours{};
  return ::stat(options_.path.c_str(), &there) == 0 && ::fstat(fd_.get(), &ours) == 0 &&
         (there.st_dev != ours.st_dev || there.st_ino != ours.st_ino);
}

void LogFile::rotate() {
  const auto numbered = [&](unsigned number) { return options_.path + "." + std::to_string(number); };
  // Not there is how it begins, and whoever rotates too may have been first.
  const auto done = [](int result) { return result == 0 || errno == ENOENT; };
  bool moved = true;
  // Nothing is put over what could not be moved away itself.
  for (unsigned number = options_.keep; moved && number > 1; --number) {
    moved = done(std::rename(numbered(number - 1).c_str(), numbered(number).c_str()));
  }
  if (moved) {
    moved = done(options_.keep == 0 ? ::unlink(options_.path.c_str())
                                    : std::rename(options_.path.c_str(), numbered(1).c_str()));
  }
  if (!moved) fault("cannot rotate the access log " + options_.path + ": " + std::strerror(errno));
  // Where it could not be moved away it grows on, and is looked at again after as much as before.
  net::Fd fd;
  if (!open_path(fd) || !fd.valid()) {
    size_ = 0;
    return;
  }
  take(std::move(fd));
  if (size_ >= options_.max_size) size_ = 0;
}

void LogFile::fault(const std::string& what) {
  const auto now = std::chrono::steady_clock::now();
  if (told_at_ != std::chrono::steady_clock::time_point{} && now - told_at_ < kTellAgain) return;
  told_at_ = now;
  if (tell_) tell_(what);
}

LogFile::Wrote LogFile::lose(std::string_view lines, int error) {
  fault("the access log " + options_.path + " loses lines: " + std::strerror(error));
  torn_ = torn_ || mid_line_;
  mid_line_ = false;
  // Its reader has gone: another may come.
  if (error == EPIPE && options_.path != kStandardOutput) fd_.reset();
  return {lines.size(), true};
}

}  // namespace edge::runtime
