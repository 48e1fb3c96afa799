#include "runtime/observe/access_log/ring.h"

#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/observe/access_log/test_entry.h"

namespace edge::runtime {
namespace {

TEST(LogRing, GivesBackWhatItTook) {
  const LogFormat format("json");
  LogRing ring;
  EXPECT_TRUE(ring.front().empty());
  const LogEntry entry = sample_entry(format);
  ASSERT_TRUE(ring.put(entry));
  const LogEntry back = LogEntry::of(ring.front());
  EXPECT_EQ(back.texts, entry.texts);
  EXPECT_EQ(back.facts.total, entry.facts.total);
  EXPECT_EQ(back.facts.endpoint, entry.facts.endpoint);
  EXPECT_EQ(back.facts.format, &format);
  ring.pop();
  EXPECT_TRUE(ring.front().empty());
}

TEST(LogRing, DropsAndCountsWhenFull) {
  const LogFormat format("json");
  LogRing ring(4096);
  const LogEntry entry = sample_entry(format);
  std::uint64_t taken = 0;
  while (ring.put(entry)) ++taken;
  EXPECT_GE(taken, 4096 / (entry.flat_size() + 8) - 1);
  EXPECT_FALSE(ring.put(entry));
  EXPECT_EQ(ring.taken(), taken);
  EXPECT_EQ(ring.dropped(), 2U);
  for (std::uint64_t i = 0; i < taken; ++i) {
    ASSERT_FALSE(ring.front().empty());
    ring.pop();
  }
  EXPECT_TRUE(ring.front().empty());
  EXPECT_TRUE(ring.put(entry));
}

TEST(LogRing, SaysWhenItIsHalfFull) {
  const LogFormat format("json");
  LogRing ring(1 << 13);
  const LogEntry entry = sample_entry(format);
  const std::size_t piece = entry.flat_size() + 8;
  for (std::size_t used = piece; used <= (1U << 13); used += piece) {
    ASSERT_TRUE(ring.put(entry));
    EXPECT_EQ(ring.crowded(), used > (1U << 12)) << used;
  }
  while (!ring.front().empty()) ring.pop();
  ASSERT_TRUE(ring.put(entry));
  EXPECT_FALSE(ring.crowded());
}

TEST(LogRing, OneThatNeverFitsIsDropped) {
  const LogFormat format("json");
  LogRing ring(512);
  LogEntry entry = sample_entry(format);
  const std::string large(600, 'x');
  entry[LogText::kPath] = large;
  EXPECT_FALSE(ring.put(entry));
  EXPECT_EQ(ring.dropped(), 1U);
}

// As far as it is read, it begins anew; all of it can be used then, whoever reads still stands where it was.
TEST(LogRing, ComesBackToItsBeginningWhenAllIsRead) {
  const LogFormat format("json");
  LogRing ring(1 << 13);
  LogEntry entry = sample_entry(format);
  const char* first = nullptr;
  bool came_back = false;
  std::uint32_t next = 0;
  for (int round = 0; round < 100; ++round) {
    std::uint32_t put = next;
    for (entry.facts.attempts = put; ring.put(entry); entry.facts.attempts = put) ++put;
    EXPECT_GE(put - next, (1U << 13) / (entry.flat_size() + 8) - 1) << round;
    for (; next != put; ++next) {
      const std::span<const char> oldest = ring.front();
      ASSERT_EQ(LogEntry::of(oldest).facts.attempts, next);
      if (first == nullptr) first = oldest.data();
      ring.pop();
    }
    // One alone, which leaves what was read behind.
    ASSERT_TRUE(ring.put(entry));
    if (ring.front().data() == first) came_back = true;
    ring.pop();
    ++next;
    EXPECT_TRUE(ring.front().empty());
  }
  EXPECT_TRUE(came_back);
}

// Every entry that was taken comes out once, whole and in order, wherever the ring ends. Under TSan this shows that the
// two sides need no lock.
TEST(LogRing, TwoThreadsNeedNoLock) {
  constexpr std::uint32_t kEntries = 100'000;
  const LogFormat format("json");
  LogRing ring(1 << 13);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    std::string path;
    for (std::uint32_t i = 0; i < kEntries; ++i) {
      LogEntry entry = sample_entry(format);
      entry.facts.attempts = i;
      path.assign(i % 701, static_cast<char>('a' + i % 26));
      entry[LogText::kPath] = path;
      ring.put(entry);
    }
    done = true;
  });
  std::uint64_t seen = 0;
  std::uint64_t torn = 0;
  std::int64_t last = -1;
  for (bool over = false; !over;) {
    over = done;
    while (!ring.front().empty()) {
      const LogEntry entry = LogEntry::of(ring.front());
      const std::uint32_t i = entry.facts.attempts;
      const bool whole = entry[LogText::kPath] == std::string(i % 701, static_cast<char>('a' + i % 26));
      if (!whole || static_cast<std::int64_t>(i) <= last) ++torn;
      last = i;
      ++seen;
      ring.pop();
    }
  }
  writer.join();
  EXPECT_EQ(torn, 0U);
  EXPECT_EQ(seen, ring.taken());
  EXPECT_EQ(ring.taken() + ring.dropped(), kEntries);
}

}  // namespace
}  // namespace edge::runtime
