#include "daemon/cpu_profile.h"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace edge::daemon {

/// With a name that a reader of the profile can find, and not inlined into its caller.
[[gnu::noinline]] std::uint64_t burn_for_the_profile(double seconds) {
  std::uint64_t sum = 1;
  const std::clock_t until = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
  while (std::clock() < until) {
    for (int i = 0; i < 200'000; ++i) sum = sum * 6364136223846793005U + 1442695040888963407U;
  }
  return sum;
}

namespace {

using testing::HasSubstr;

std::uint64_t word(const std::string& bytes, std::size_t index) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

struct Counts {
  std::uint64_t all = 0;
  std::uint64_t burning = 0;  ///< interrupted in the function that burns
};

/// After checking that the records are as the format has them.
Counts samples_in(const std::string& profile) {
  EXPECT_EQ(word(profile, 0), 0U);
  EXPECT_EQ(word(profile, 1), 3U);
  EXPECT_EQ(word(profile, 3), 10'000U);
  constexpr std::uint64_t kLongestFunction = 4096;
  const auto burns = reinterpret_cast<std::uint64_t>(&burn_for_the_profile);
  Counts samples;
  std::size_t at = 5;
  while ((at + 2) * sizeof(std::uint64_t) < profile.size()) {
    const std::uint64_t count = word(profile, at);
    const std::uint64_t depth = word(profile, at + 1);
    if (count == 0) {
      EXPECT_EQ(depth, 1U);
      EXPECT_EQ(word(profile, at + 2), 0U);
      return samples;
    }
    EXPECT_GT(depth, 0U);
    samples.all += count;
    if (word(profile, at + 2) - burns < kLongestFunction) samples.burning += count;
    at += 2 + depth;
  }
  ADD_FAILURE() << "no end of the records";
  return samples;
}

TEST(CpuProfile, SamplesWhatRunsAndNamesTheMappings) {
  auto profile = CpuProfile::begin();
  ASSERT_NE(profile, nullptr);
  EXPECT_EQ(CpuProfile::begin(), nullptr) << "two at a time";
  EXPECT_NE(burn_for_the_profile(0.3), 0U);
  const std::string bytes = profile->finish();
  const Counts samples = samples_in(bytes);
  EXPECT_GT(samples.burning, 5U);
  EXPECT_GE(samples.all, samples.burning);
  EXPECT_THAT(bytes, HasSubstr("daemon_test"));
  EXPECT_NE(CpuProfile::begin(), nullptr) << "the one before has ended";
}

TEST(CpuProfile, IsReadByPprof) {
  if (std::system("go version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no go, whose pprof reads profiles";
  auto profile = CpuProfile::begin();
  ASSERT_NE(profile, nullptr);
  EXPECT_NE(burn_for_the_profile(0.5), 0U);
  const std::string path = testing::TempDir() + "edge-profile-" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << profile->finish();
  std::string text;
  FILE* const pprof = ::popen(("go tool pprof -top " + path + " 2>&1").c_str(), "r");
  ASSERT_NE(pprof, nullptr);
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pprof)) > 0;) text.append(buffer, got);
  EXPECT_EQ(::pclose(pprof), 0) << text;
  // The one that comes with Go names functions of Go alone; that it finds the program is what can be seen here.
  EXPECT_THAT(text, HasSubstr("Type: cpu"));
  EXPECT_THAT(text, HasSubstr("[daemon_test]"));
  ::unlink(path.c_str());
}

TEST(ProfilePage, RefusesTimesThatItDoesNotTake) {
  net::Loop loop;
  ProfilePage page;
  for (const char* query : {"seconds=0", "seconds=61", "seconds=x"}) {
    auto task = page.answer(loop, query);
    ASSERT_TRUE(task.await_ready()) << query;
    EXPECT_EQ(task.await_resume().status, 400) << query;
  }
}

TEST(ProfilePage, EndsEarlyWhenTheServerDoes) {
  net::Loop loop;
  ProfilePage page;
  page.end();
  auto task = page.answer(loop, "seconds=60");
  ASSERT_TRUE(task.await_ready());
  EXPECT_EQ(task.await_resume().status, 200);
}

TEST(HeapFigures, ComeFromTheAllocator) { EXPECT_THAT(heap_figures().body, HasSubstr("in_use_bytes ")); }

}  // namespace
}  // namespace edge::daemon
