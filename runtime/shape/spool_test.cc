#include "runtime/shape/spool.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

using Put = Spool::Put;

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 23);
  return text;
}

std::string content(Spool& spool, std::size_t room) {
  std::vector<char> scratch(room);
  std::string out;
  while (out.size() < spool.size()) {
    const std::string_view piece = spool.read(out.size(), scratch);
    if (piece.empty()) break;
    out += piece;
  }
  return out;
}

TEST(Spool, HoldsInMemoryUpToItsShareAndInAFileBeyond) {
  SpoolSpace space({}, {.memory_each = 1000});
  for (const std::size_t size : {0, 1, 999, 1000, 1001, 200'000}) {
    for (const std::size_t piece : {1, 7, 1000, 200'000}) {
      if (size / piece > 40'000) continue;
      Spool spool(space, 0);
      const std::string text = pattern(size);
      for (std::size_t at = 0; at < size; at += piece) ASSERT_EQ(spool.append(text.substr(at, piece)), Put::kTaken);
      EXPECT_EQ(spool.size(), size);
      EXPECT_EQ(spool.in_file(), size > 1000) << size;
      EXPECT_EQ(content(spool, 4096), text);
      // Read again, as a second try does.
      EXPECT_EQ(content(spool, 333), text);
    }
  }
  EXPECT_EQ(space.memory_used(), 0U);
  EXPECT_EQ(space.files_used(), 0U);
}

TEST(Spool, TakesUpToItsLimit) {
  SpoolSpace space;
  for (const std::size_t size : {99, 100, 101}) {
    Spool spool(space, 100);
    EXPECT_EQ(spool.append(pattern(size)), size > 100 ? Put::kTooLarge : Put::kTaken);
    EXPECT_EQ(content(spool, 64), pattern(std::min<std::size_t>(size, 100)));
  }
  Spool spool(space, 100);
  EXPECT_EQ(spool.append(pattern(100)), Put::kTaken);
  EXPECT_EQ(spool.append("x"), Put::kTooLarge);
  EXPECT_EQ(spool.size(), 100U);
}

TEST(Spool, GoesToItsFileWhenMemoryIsShort) {
  constexpr std::uint64_t kStep = 64 * 1024;
  SpoolSpace space({}, {.memory_all = 2 * kStep});
  Spool first(space, 0);
  Spool second(space, 0);
  Spool third(space, 0);
  EXPECT_EQ(first.append("first"), Put::kTaken);
  EXPECT_EQ(second.append("second"), Put::kTaken);
  EXPECT_EQ(third.append("third"), Put::kTaken);
  EXPECT_EQ(space.memory_used(), 2 * kStep);
  EXPECT_FALSE(second.in_file());
  EXPECT_TRUE(third.in_file());
  EXPECT_EQ(content(third, 64), "third");
  // Grown beyond what is left, one that lay in memory moves.
  EXPECT_EQ(second.append(pattern(kStep)), Put::kTaken);
  EXPECT_TRUE(second.in_file());
  EXPECT_EQ(content(second, 4096), "second" + pattern(kStep));
  EXPECT_EQ(space.memory_used(), kStep);
}

TEST(Spool, SaysWhenThereIsNoRoom) {
  SpoolSpace space({}, {.memory_each = 10, .files_all = std::uint64_t{64} * 1024});
  auto first = std::make_unique<Spool>(space, 0);
  EXPECT_EQ(first->append(pattern(64 * 1024)), Put::kTaken);
  EXPECT_EQ(first->append("x"), Put::kFailed);
  Spool second(space, 0);
  EXPECT_EQ(second.append(pattern(11)), Put::kFailed);
  first.reset();
  Spool third(space, 0);
  EXPECT_EQ(third.append(pattern(11)), Put::kTaken);

  SpoolSpace nowhere("/nonexistent", {.memory_each = 10});
  Spool lost(nowhere, 0);
  EXPECT_EQ(lost.append(pattern(10)), Put::kTaken);
  EXPECT_EQ(lost.append("x"), Put::kFailed);
}

}  // namespace
}  // namespace edge::runtime
