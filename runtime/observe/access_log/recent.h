// Keeps the latest entries of the access log for admin requests. A reader states the number from which it wants
// entries, so that no state per reader is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/observe/access_log/entry.h"

namespace edge::runtime {

struct RecentQuery {
  /// `name` or `namespace/name`; empty: all.
  std::string gateway{};
  std::string route{};
  /// 404, or the hundreds of a class: 4 for 4xx. 0: all.
  int status = 0;
  std::uint64_t since_unix_milliseconds = 0;
  /// Entries with a higher number, the oldest first. nullopt: the latest.
  std::optional<std::uint64_t> after{};
  std::size_t limit = 1000;
};

class RecentLog {
 public:
  static constexpr std::size_t kMaxEntries = 8192;
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
  /// Size limit of one answer, in bytes.
  static constexpr std::size_t kMaxAnswer = std::size_t{1} << 20;

  /// Adds flat entries, the oldest first. Called by the writer thread.
  void add(std::span<const std::span<const char>> entries);
  /// Returns lines of JSON, each with its number as `seq`; the last line is {"next":N,"missed":M}: the value of `after`
  /// that continues from here, and how many entries after the given number are no longer kept. Any thread.
  std::string find(const RecentQuery& query) const;

 private:
  /// Total bytes stored before the entry, and its size.
  struct Kept {
    std::uint64_t at = 0;
    std::size_t size = 0;
  };

  void add_one(std::span<const char> flat);
  std::string from(std::uint64_t after, const RecentQuery& query) const;
  std::string latest(const RecentQuery& query) const;
  std::uint64_t oldest() const { return newest_ - count_ + 1; }
  const Kept& kept(std::uint64_t number) const { return kept_[number % kMaxEntries]; }
  LogEntry entry(std::uint64_t number) const {
    return LogEntry::of({bytes_.get() + kept(number).at % kMaxBytes, kept(number).size});
  }

  mutable std::mutex mutex_;
  // Both are circular buffers; null before the first entry.
  std::unique_ptr<char[]> bytes_;
  std::unique_ptr<Kept[]> kept_;
  std::uint64_t end_ = 0;  ///< total bytes ever stored
  /// The number of the last entry; numbers have no gaps.
  std::uint64_t newest_ = 0;
  std::size_t count_ = 0;
};

}  // namespace edge::runtime
