// Keeps the latest entries of the access log for admin requests. A reader names the number from which on it wants them,
// so that no state of readers is kept.
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
  /// Those with a higher number, the oldest first. nullopt: the latest.
  std::optional<std::uint64_t> after{};
  std::size_t limit = 1000;
};

class RecentLog {
 public:
  static constexpr std::size_t kMaxEntries = 8192;
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
  /// Limit of one answer.
  static constexpr std::size_t kMaxAnswer = std::size_t{1} << 20;

  /// Adds flat entries, the oldest first. Called by the one writing thread.
  void add(std::span<const std::span<const char>> entries);
  /// Lines of JSON, each with its number as `seq`; the last one is {"next":N,"missed":M}: what to give as `after` to go
  /// on from here, and how many entries after the given one are not kept any more. From any thread.
  std::string find(const RecentQuery& query) const;

 private:
  /// Bytes ever kept before it, and its own.
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
  // Both are used round and round; null before the first entry comes.
  std::unique_ptr<char[]> bytes_;
  std::unique_ptr<Kept[]> kept_;
  std::uint64_t end_ = 0;  ///< bytes ever kept
  /// Numbered without gaps; the last is `newest_`.
  std::uint64_t newest_ = 0;
  std::size_t count_ = 0;
};

}  // namespace edge::runtime
