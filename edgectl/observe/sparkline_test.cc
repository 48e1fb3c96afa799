#include "edgectl/observe/sparkline.h"

#include <array>
#include <limits>

#include <gtest/gtest.h>

#include "edgectl/observe/live_screen.h"

namespace edge::edgectl {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

TEST(Sparkline, StandsOnTheRightAndReachesTheTop) {
  EXPECT_EQ(sparkline(std::array{0.0, 4.0, 8.0}, 5), "  ▁▅█");
  EXPECT_EQ(sparkline(std::array{9.0, 0.0, 1.0}, 2), "▁█");
  EXPECT_EQ(sparkline(std::array{0.0, kNothing, 0.0}, 3), "▁ ▁");
  EXPECT_EQ(sparkline({}, 2), "  ");
}

TEST(Numbers, InFewCharacters) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.25), "0.25");
  EXPECT_EQ(short_number(12.34), "12.3");
  EXPECT_EQ(short_number(999), "999");
  EXPECT_EQ(short_number(1200), "1.2k");
  EXPECT_EQ(short_number(3'400'000), "3.4M");
  EXPECT_EQ(short_number(kNothing), "-");
  EXPECT_EQ(short_time(0.00085), "850us");
  EXPECT_EQ(short_time(0.0123), "12.3ms");
  EXPECT_EQ(short_time(1.5), "1.5s");
  EXPECT_EQ(short_time(kNothing), "-");
  EXPECT_EQ(short_bytes(512), "512B");
  EXPECT_EQ(short_bytes(1536), "1.5KiB");
  EXPECT_EQ(percent(0), "0%");
  EXPECT_EQ(percent(0.0002), "0.02%");
  EXPECT_EQ(percent(0.125), "12.5%");
  EXPECT_EQ(percent(kNothing), "-");
}

TEST(CutTo, CountsCharactersAndKeepsThemWhole) {
  EXPECT_EQ(cut_to("abc", 5), "abc");
  EXPECT_EQ(cut_to("abc", 3), "abc");
  EXPECT_EQ(cut_to("▁▂▃", 2), "▁▂");
  EXPECT_EQ(cut_to("abc", 0), "");
}

}  // namespace
}  // namespace edge::edgectl
