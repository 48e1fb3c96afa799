#include "runtime/observe/access_log/ring.h"

#include <algorithm>
#include <cstring>

namespace edge::runtime {
namespace {

/// Of its size, that is used before it begins anew.
constexpr std::size_t kWarmPart = 16;

}  // namespace

LogRing::LogRing(std::size_t size) : size_(size), bytes_(std::make_unique_for_overwrite<char[]>(size)) {}

void LogRing::put_head(std::uint64_t position, Head head) { std::memcpy(at(position), &head, sizeof(head)); }

LogRing::Head LogRing::head_at(std::uint64_t position) {
  Head head;
  std::memcpy(&head, at(position), sizeof(head));
  return head;
}

/// Where all is read the next entry goes to the ring's beginning again, if it has left that far behind: memory that was
/// used a moment ago is in the processor's cache still, and a ring that is used round and round never is.
bool LogRing::begins_anew(std::uint64_t written, std::size_t piece) {
  const std::size_t offset = written & (size_ - 1);
  if (offset <= size_ / kWarmPart || piece > size_ || read_.load(std::memory_order_acquire) != written) return false;
  left_at_ = written;
  goes_on_at_ = read_seen_ = written + (size_ - offset);
  return true;
}

bool LogRing::has_room(std::uint64_t end) {
  crowded_ = end - read_seen_ > size_ / 2;
  if (!crowded_) return true;
  // What was left out when it began anew counts as read.
  read_seen_ = std::max(read_seen_, read_.load(std::memory_order_acquire));
  crowded_ = end - read_seen_ > size_ / 2;
  return end - read_seen_ <= size_;
}

bool LogRing::put(const LogEntry& entry) {
  const std::size_t flat = entry.flat_size();
  const std::size_t piece = sizeof(Head) + flat;
  const std::uint64_t written = written_.load(std::memory_order_relaxed);
  const std::size_t to_end = size_ - (written & (size_ - 1));
  const bool anew = begins_anew(written, piece);
  // An entry lies in one piece: what is left of the ring's end is skipped where it is too little.
  const std::size_t skipped = anew || to_end < piece ? to_end : 0;
  if (!has_room(written + skipped + piece)) {
    dropped_.add();
    return false;
  }
  if (skipped != 0 && !anew) put_head(written, {static_cast<std::uint32_t>(skipped), 0});
  const std::uint64_t begin = written + skipped;
  put_head(begin, {static_cast<std::uint32_t>(piece), static_cast<std::uint32_t>(flat)});
  entry.flatten({at(begin + sizeof(Head)), flat});
  taken_.add();
  // Sequentially consistent, with the reader's flag: one of the two sides sees the other (AccessLog::put).
  written_.store(begin + piece, std::memory_order_seq_cst);
  return true;
}

std::size_t LogRing::front(std::span<std::span<const char>> into) {
  const std::uint64_t written = written_.load(std::memory_order_seq_cst);
  given_ = read_.load(std::memory_order_relaxed);
  std::size_t count = 0;
  while (count < into.size() && given_ != written) {
    if (given_ == left_at_) given_ = goes_on_at_;
    const Head head = head_at(given_);
    // A skipped end is published together with the entry behind it.
    if (head.entry != 0) into[count++] = {at(given_ + sizeof(Head)), head.entry};
    given_ += head.size;
  }
  return count;
}

void LogRing::pop() { read_.store(given_, std::memory_order_release); }

}  // namespace edge::runtime
