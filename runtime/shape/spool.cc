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

/// Of a body that goes to its file, written at once.
constexpr std::uint64_t kBlock = std::uint64_t{256} * 1024;

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
  if (file_ != nullptr) file_->abandon();
  give_back_memory();
  if (in_files_ != 0) space_.files_.fetch_sub(in_files_, std::memory_order_relaxed);
}

Spool::Put Spool::append(std::string_view bytes) {
  const bool too_large = limit_ != 0 && bytes.size() > limit_ - size_;
  if (too_large) bytes = bytes.substr(0, static_cast<std::size_t>(limit_ - size_));
  const std::uint64_t after = size_ + bytes.size();
  if (!in_file() && after <= space_.limits_.memory_each && reserve_memory(after)) {
    buffer_.append(bytes);
  } else if (!append_to_file(bytes)) {
    return Put::kFailed;
  }
  size_ = after;
  return too_large ? Put::kTooLarge : Put::kTaken;
}

bool Spool::reserve_memory(std::uint64_t size) {
  if (size <= memory_) return true;
  const std::uint64_t more = whole_steps(size) - memory_;
  if (!SpoolSpace::take(space_.memory_, more, space_.limits_.memory_all)) return false;
  memory_ += more;
  return true;
}

bool Spool::reserve_file(std::uint64_t size) {
  if (size <= in_files_) return true;
  const std::uint64_t more = whole_steps(size) - in_files_;
  if (!SpoolSpace::take(space_.files_, more, space_.limits_.files_all)) return false;
  in_files_ += more;
  return true;
}

void Spool::give_back_memory() {
  if (memory_ != 0) space_.memory_.fetch_sub(memory_, std::memory_order_relaxed);
  memory_ = 0;
}

// In blocks that are worth a write, as long as there is memory to gather them; the last one need never be written.
bool Spool::append_to_file(std::string_view bytes) {
  if (!reserve_file(size_ + bytes.size())) return false;
  const bool begins = file_ == nullptr;
  if (begins) file_ = std::make_shared<SpoolFile>(space_);
  const std::uint64_t gathered = buffer_.size() + bytes.size();
  if (!begins && gathered < kBlock && reserve_memory(gathered)) {
    buffer_.append(bytes);
    return true;
  }
  std::string block;
  block.reserve(static_cast<std::size_t>(gathered));
  block.append(buffer_.view()).append(bytes);
  buffer_.release();
  give_back_memory();
  return file_->append(std::move(block));
}

std::string_view Spool::read(std::uint64_t at, std::span<char> scratch) {
  if (at >= size_) return {};
  const std::uint64_t in_file = file_ != nullptr ? file_->size() : 0;
  if (at >= in_file) return buffer_.view().substr(static_cast<std::size_t>(at - in_file));
  return file_->read(at, scratch);
}

BodySource::More Spool::await(std::uint64_t at, const std::function<void()>& wake) {
  if (file_ == nullptr || at >= size_) return More::kNever;
  return at >= file_->size() ? More::kHere : file_->await(at, wake);
}

}  // namespace edge::runtime
