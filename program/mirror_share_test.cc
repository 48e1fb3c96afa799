#include "program/mirror_share.h"

#include <gtest/gtest.h>

namespace edge::program {
namespace {

TEST(MirrorShare, EqualSharesHaveOneForm) {
  EXPECT_EQ(reduced({1, 4}), (MirrorShare{25, 100}));
  EXPECT_EQ(reduced({50, 1000}), (MirrorShare{5, 100}));
  EXPECT_EQ(reduced({10, 2000}), (MirrorShare{1, 200}));
  EXPECT_EQ(reduced({5, 1000}), (MirrorShare{1, 200}));
  EXPECT_EQ(reduced({2, 6}), (MirrorShare{1, 3}));
  EXPECT_EQ(reduced({0, 7}), (MirrorShare{0, 100}));
  for (const MirrorShare all : {MirrorShare{7, 7}, MirrorShare{9, 7}, MirrorShare{1, 0}}) {
    EXPECT_EQ(reduced(all), (MirrorShare{100, 100}));
  }
  EXPECT_EQ(reduced({2'147'483'646, 2'147'483'647}), (MirrorShare{2'147'483'646, 2'147'483'647}));
}

TEST(MirrorShare, CopiesItsShareOfAllNumbers) {
  for (const MirrorShare share : {MirrorShare{1, 200}, MirrorShare{2, 3}, MirrorShare{25, 100}, MirrorShare{0, 100}}) {
    std::uint32_t copied = 0;
    for (std::uint64_t random = 0; random < share.denominator; ++random) copied += copies(share, random) ? 1 : 0;
    EXPECT_EQ(copied, share.numerator);
  }
}

TEST(MirrorShare, IsToldAsItIsWritten) {
  EXPECT_EQ(share_text({25, 100}), "25%");
  EXPECT_EQ(share_text({100, 100}), "100%");
  EXPECT_EQ(share_text({1, 200}), "0.5%");
  EXPECT_EQ(share_text({1, 1000}), "0.1%");
  EXPECT_EQ(share_text({999, 1000}), "99.9%");
  EXPECT_EQ(share_text({1, 3}), "1/3");
  EXPECT_EQ(share_text({1, 100'000}), "1/100000");
  EXPECT_DOUBLE_EQ(percent_of({1, 200}), 0.5);
}

}  // namespace
}  // namespace edge::program
