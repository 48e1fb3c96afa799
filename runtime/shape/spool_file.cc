#include "runtime/shape/spool_file.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <unistd.h>

#include "runtime/shape/spool.h"

namespace edge::runtime {
namespace {

/// Fetched at once for a reader whose bytes are not in memory.
constexpr std::uint64_t kFetched = std::uint64_t{256} * 1024;

}  // namespace

SpoolFile::~SpoolFile() { space_.writing_.fetch_sub(waiting_bytes_, std::memory_order_relaxed); }

bool SpoolFile::append(std::string block) {
  const std::lock_guard lock(mutex_);
  if (failed_) return false;
  size_ += block.size();
  waiting_bytes_ += block.size();
  space_.writing_.fetch_add(block.size(), std::memory_order_relaxed);
  waiting_.push_back(std::make_shared<const std::string>(std::move(block)));
  space_.disk_.post([file = shared_from_this()] { file->write_next(); });
  return true;
}

bool SpoolFile::backlogged() const {
  const std::lock_guard lock(mutex_);
  if (failed_ || waiting_bytes_ == 0) return false;
  const SpoolLimits& limits = space_.limits();
  return waiting_bytes_ > limits.writing_each || space_.writing_.load(std::memory_order_relaxed) > limits.writing_all;
}

bool SpoolFile::await_room(const std::function<void()>& wake) {
  if (!backlogged()) return false;
  const std::lock_guard lock(mutex_);
  // Written meanwhile, all of it: nobody would call.
  if (failed_ || waiting_bytes_ == 0) return false;
  wake_writer_ = wake;
  return true;
}

void SpoolFile::write_next() {
  Block block;
  {
    const std::lock_guard lock(mutex_);
    if (failed_ || abandoned_ || waiting_.empty()) return;
    if (!file_.valid()) file_ = space_.open_file();
    block = waiting_.front();
  }
  // Only this thread changes the descriptor and what is written.
  const bool done = file_.valid() && write(*block, written_);
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (done) {
      written_ += block->size();
      waiting_.pop_front();
      waiting_bytes_ -= block->size();
      space_.writing_.fetch_sub(block->size(), std::memory_order_relaxed);
    } else {
      // What is here stays in memory, and no more is taken.
      failed_ = true;
    }
    wake = std::exchange(wake_writer_, nullptr);
  }
  if (wake) wake();
}

bool SpoolFile::write(std::string_view bytes, std::uint64_t at) const {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return true;
}

std::string_view SpoolFile::read(std::uint64_t at, std::span<char> scratch) {
  const std::lock_guard lock(mutex_);
  if (at >= written_) {
    std::uint64_t begin = written_;
    for (const Block& block : waiting_) {
      if (at < begin + block->size()) {
        lent_ = block;
        return std::string_view(*block).substr(static_cast<std::size_t>(at - begin));
      }
      begin += block->size();
    }
    return {};
  }
  if (fetched_ != nullptr && at >= fetched_at_ && at < fetched_at_ + fetched_->size()) {
    lent_ = fetched_;
    return std::string_view(*lent_).substr(static_cast<std::size_t>(at - fetched_at_));
  }
  // What the page cache has costs no wait; what it has not is for `await`.
  const iovec into{scratch.data(), static_cast<std::size_t>(std::min<std::uint64_t>(scratch.size(), written_ - at))};
  const ssize_t got = ::preadv2(file_.get(), &into, 1, static_cast<off_t>(at), RWF_NOWAIT);
  return got <= 0 ? std::string_view{} : std::string_view(scratch.data(), static_cast<std::size_t>(got));
}

BodySource::More SpoolFile::await(std::uint64_t at, const std::function<void()>& wake) {
  const std::lock_guard lock(mutex_);
  if (at >= size_) return BodySource::More::kNever;
  const bool here = at >= written_ || (fetched_ != nullptr && at >= fetched_at_ && at < fetched_at_ + fetched_->size());
  if (here) return BodySource::More::kHere;
  // Fetched, and of no use: it cannot be read.
  if (fetched_ != nullptr && at == fetched_at_) return BodySource::More::kNever;
  wake_reader_ = wake;
  if (!std::exchange(fetching_, true)) {
    const std::uint64_t size = std::min(kFetched, written_ - at);
    space_.disk_.post([file = shared_from_this(), at, size] { file->fetch(at, size); });
  }
  return BodySource::More::kComes;
}

void SpoolFile::fetch(std::uint64_t at, std::uint64_t size) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  ssize_t got = 0;
  do {
    got = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
  } while (got < 0 && errno == EINTR);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    fetched_ = std::make_shared<const std::string>(std::move(bytes));
    fetched_at_ = at;
    fetching_ = false;
    wake = std::exchange(wake_reader_, nullptr);
  }
  if (wake) wake();
}

void SpoolFile::abandon() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    wake_writer_ = wake_reader_ = nullptr;
  }
  // To free a large file takes its time as well.
  space_.disk_.post([file = shared_from_this()] {});
}

}  // namespace edge::runtime
