#include "runtime/shape/spool.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

namespace edge::runtime {
namespace {

/// Room is taken from the space in steps, so that a body that grows by small pieces does not touch a shared line for
/// each.
constexpr std::uint64_t kStep = std::uint64_t{64} * 1024;

std::uint64_t whole_steps(std::uint64_t size) { return (size + kStep - 1) / kStep * kStep; }

}  // namespace

SpoolSpace::SpoolSpace(std::string directory, const SpoolLimits& limits)
    : directory_(std::move(directory)), limits_(limits) {
  if (!directory_.empty()) return;
  // Read before threads are started; nobody sets it.
  const char* set = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  directory_ = set != nullptr && *set != '\0' ? set : "/tmp";
}

bool SpoolSpace::take(std::atomic<std::uint64_t>& used, std::uint64_t size, std::uint64_t most) {
  const std::uint64_t before = used.fetch_add(size, std::memory_order_relaxed);
  if (before + size <= most) return true;
  used.fetch_sub(size, std::memory_order_relaxed);
  return false;
}

net::Fd SpoolSpace::open_file() const {
  net::Fd file(::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.valid() || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  // A file system that knows no file without a name.
  std::string path = directory_ + "/edge-body-XXXXXX";
  file.reset(::mkostemp(path.data(), O_CLOEXEC));
  if (file.valid()) ::unlink(path.c_str());
  return file;
}

Spool::~Spool() {
  if (memory_ != 0) space_.memory_.fetch_sub(memory_, std::memory_order_relaxed);
  if (in_files_ != 0) space_.files_.fetch_sub(in_files_, std::memory_order_relaxed);
}

Spool::Put Spool::append(std::string_view bytes) {
  const bool too_large = limit_ != 0 && bytes.size() > limit_ - size_;
  if (too_large) bytes = bytes.substr(0, static_cast<std::size_t>(limit_ - size_));
  const std::uint64_t after = size_ + bytes.size();
  if (!in_file() && !reserve_memory(after) && !spill()) return Put::kFailed;
  if (!in_file()) {
    buffer_.append(bytes);
  } else if (!write_file(bytes)) {
    return Put::kFailed;
  }
  size_ = after;
  return too_large ? Put::kTooLarge : Put::kTaken;
}

bool Spool::reserve_memory(std::uint64_t size) {
  if (size > space_.limits_.memory_each) return false;
  if (size <= memory_) return true;
  const std::uint64_t more = whole_steps(size) - memory_;
  if (!SpoolSpace::take(space_.memory_, more, space_.limits_.memory_all)) return false;
  memory_ += more;
  return true;
}

bool Spool::spill() {
  file_ = space_.open_file();
  if (!file_.valid() || !write_file(buffer_.view())) return false;
  buffer_.release();
  space_.memory_.fetch_sub(memory_, std::memory_order_relaxed);
  memory_ = 0;
  return true;
}

bool Spool::write_file(std::string_view bytes) {
  // What stands in memory at the time of a spill is written to the front.
  std::uint64_t at = buffer_.empty() ? size_ : 0;
  const std::uint64_t needed = at + bytes.size();
  if (needed > in_files_) {
    const std::uint64_t more = whole_steps(needed) - in_files_;
    if (!SpoolSpace::take(space_.files_, more, space_.limits_.files_all)) return false;
    in_files_ += more;
  }
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return true;
}

std::string_view Spool::read(std::uint64_t at, std::span<char> scratch) {
  if (at >= size_) return {};
  if (!in_file()) return buffer_.view().substr(static_cast<std::size_t>(at));
  const std::size_t most = static_cast<std::size_t>(std::min<std::uint64_t>(scratch.size(), size_ - at));
  ssize_t got = 0;
  do {
    got = ::pread(file_.get(), scratch.data(), most, static_cast<off_t>(at));
  } while (got < 0 && errno == EINTR);
  return got <= 0 ? std::string_view{} : std::string_view(scratch.data(), static_cast<std::size_t>(got));
}

}  // namespace edge::runtime
