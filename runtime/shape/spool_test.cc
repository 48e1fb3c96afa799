#include "runtime/shape/spool.h"

#include <future>
#include <memory>
#include <string>
#include <utility>
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
    if (piece.empty()) {
      std::promise<void> here;
      const auto more = spool.await(out.size(), [&] { here.set_value(); });
      if (more == BodySource::More::kNever) break;
      if (more == BodySource::More::kComes) here.get_future().wait();
      continue;
    }
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
}

/// Comes back when the disk has done what it was given.
void catch_up(SpoolSpace& space) {
  std::promise<void> done;
  space.disk().post([&] { done.set_value(); });
  done.get_future().wait();
}

/// A disk that does nothing until it is let go.
class Standstill {
 public:
  explicit Standstill(SpoolSpace& space) : space_(space) {
    space.disk().post([this] { go_.get_future().wait(); });
  }
  ~Standstill() { end(); }
  void end() {
    if (std::exchange(over_, true)) return;
    go_.set_value();
    catch_up(space_);
  }

 private:
  SpoolSpace& space_;
  std::promise<void> go_;
  bool over_ = false;
};

TEST(Spool, WithoutAFileItKeepsWhatItHasAndTakesNoMore) {
  SpoolSpace nowhere("/nonexistent", {.memory_each = 10});
  Spool lost(nowhere, 0);
  EXPECT_EQ(lost.append(pattern(10)), Put::kTaken);
  EXPECT_EQ(lost.append(pattern(1)), Put::kTaken);
  catch_up(nowhere);
  EXPECT_EQ(content(lost, 64), pattern(10) + "a");
  EXPECT_FALSE(lost.backlogged());
  EXPECT_EQ(lost.append(pattern(300'000)), Put::kFailed);
}

TEST(Spool, ADiskThatStandsStillStopsNobodyWhoReadsOrWrites) {
  constexpr std::size_t kPiece = 300'000;
  SpoolSpace space({}, {.memory_each = 10, .writing_each = kPiece});
  Standstill standstill(space);
  int woken = 0;
  Spool one(space, 0);
  EXPECT_EQ(one.append(pattern(kPiece)), Put::kTaken);
  EXPECT_FALSE(one.backlogged());
  EXPECT_FALSE(one.await_room([&] { ++woken; }));
  // One byte more than may be on its way. Another body goes its own.
  EXPECT_EQ(one.append(pattern(kPiece)), Put::kTaken);
  EXPECT_TRUE(one.await_room([&] { ++woken; }));
  Spool other(space, 0);
  EXPECT_EQ(other.append(pattern(100)), Put::kTaken);
  EXPECT_FALSE(other.backlogged());
  EXPECT_EQ(content(one, 4096), pattern(kPiece) + pattern(kPiece));
  EXPECT_EQ(content(other, 4096), pattern(100));
  EXPECT_EQ(space.writing(), 2 * kPiece + 100);
  standstill.end();
  EXPECT_EQ(woken, 1);
  EXPECT_FALSE(one.backlogged());
  EXPECT_EQ(space.writing(), 0U);
  EXPECT_EQ(content(one, 4096), pattern(kPiece) + pattern(kPiece));
}

TEST(Spool, WhatAllHaveOnTheirWayIsBounded) {
  SpoolSpace space({}, {.memory_each = 10, .writing_all = 1000});
  Standstill standstill(space);
  std::vector<std::unique_ptr<Spool>> spools;
  for (int i = 0; i < 11; ++i) {
    spools.push_back(std::make_unique<Spool>(space, 0));
    EXPECT_EQ(spools.back()->append(pattern(100)), Put::kTaken);
    EXPECT_EQ(spools.back()->backlogged(), i == 10);
  }
  // Who gives up writes no more.
  spools.clear();
  standstill.end();
  EXPECT_EQ(space.writing(), 0U);
  EXPECT_EQ(space.files_used(), 0U);
}

// A file system may not tell what is in its cache: then it is fetched.
TEST(Spool, WhatIsNotInMemoryIsFetched) {
  SpoolSpace space({}, {.memory_each = 10});
  Spool spool(space, 0);
  const std::string text = pattern(1'000'000);
  for (std::size_t at = 0; at < text.size(); at += 250'000) {
    ASSERT_EQ(spool.append(text.substr(at, 250'000)), Put::kTaken);
  }
  catch_up(space);
  std::vector<char> scratch(4096);
  for (const std::size_t at : {std::size_t{0}, std::size_t{999'000}, std::size_t{5}}) {
    std::promise<void> here;
    const auto more = spool.await(at, [&] { here.set_value(); });
    if (more == BodySource::More::kComes) here.get_future().wait();
    EXPECT_EQ(spool.await(at, [] {}), BodySource::More::kHere);
    const std::string_view read = spool.read(at, scratch);
    ASSERT_FALSE(read.empty());
    EXPECT_EQ(read, std::string_view(text).substr(at, read.size()));
  }
  EXPECT_EQ(spool.await(text.size(), [] {}), BodySource::More::kNever);
}

}  // namespace
}  // namespace edge::runtime
