#include "runtime/observe/log_ring.h"

#include <cstring>

namespace edge::runtime {

LogRing::LogRing(std::size_t size) : size_(size), bytes_(std::make_unique_for_overwrite<char[]>(size)) {}

void LogRing::put_head(std::uint64_t position, Head head) { std::memcpy(at(position), &head, sizeof(head)); }

LogRing::Head LogRing::head_at(std::uint64_t position) {
  Head head;
  std::memcpy(&head, at(position), sizeof(head));
  return head;
}

bool LogRing::put(const LogEntry& entry) {
  const std::size_t flat = entry.flat_size();
  const std::size_t piece = sizeof(Head) + flat;
  const std::uint64_t written = written_.load(std::memory_order_relaxed);
  const std::size_t to_end = size_ - (written & (size_ - 1));
  // An entry lies in one piece: what is left of the ring's end is skipped where it is too little.
  const std::size_t skipped = to_end < piece ? to_end : 0;
  if (size_ - (written - read_seen_) < skipped + piece) {
    read_seen_ = read_.load(std::memory_order_acquire);
    if (size_ - (written - read_seen_) < skipped + piece) {
      dropped_.add();
      return false;
    }
  }
  if (skipped != 0) put_head(written, {static_cast<std::uint32_t>(skipped), 0});
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
    const Head head = head_at(given_);
    // A skipped end is published together with the entry behind it.
    if (head.entry != 0) into[count++] = {at(given_ + sizeof(Head)), head.entry};
    given_ += head.size;
  }
  return count;
}

void LogRing::pop() { read_.store(given_, std::memory_order_release); }

}  // namespace edge::runtime
