#include "daemon/descriptors.h"

#include <sys/resource.h>

#include <csignal>

#include <gtest/gtest.h>

#include "daemon/ending.h"

namespace edge::daemon {
namespace {

TEST(Descriptors, AreAsManyAsTheHardLimitAllows) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 64;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(raise_descriptor_limit(), before.rlim_max);
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(Signals, OfFilesThatMayNotGrowAreErrorsOfWrites) {
  const auto before = std::signal(SIGXFSZ, SIG_DFL);
  block_ending_signals();
  EXPECT_EQ(std::signal(SIGXFSZ, before), SIG_IGN);
  release_ending_signals();
}

}  // namespace
}  // namespace edge::daemon
