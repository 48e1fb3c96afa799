#include "edgectl/install/version.h"

#include <gtest/gtest.h>

namespace edge::edgectl {
namespace {

TEST(Version, ReadsNumbersAndPassesOverTheRest) {
  EXPECT_EQ(parse_version("0.1.0"), (Version{0, 1, 0}));
  EXPECT_EQ(parse_version("v1.31.0+edge.0.1.0"), (Version{1, 31, 0}));
  EXPECT_EQ(parse_version("5.15.0-1053-aws"), (Version{5, 15, 0}));
  EXPECT_EQ(parse_version("1.29"), (Version{1, 29, 0}));
  EXPECT_EQ(parse_version("1.2.3.4"), std::nullopt);
  for (const char* text : {"", "v", "latest", "1.", "1.x", "-1.2.3", "99999999999.0.0", "1.2.3rc1"}) {
    EXPECT_EQ(parse_version(text), std::nullopt) << text;
  }
}

TEST(Version, TellsHowFarTwoLieApart) {
  EXPECT_EQ(skew_of("0.1.0", "0.1.0"), Skew::kSame);
  EXPECT_EQ(skew_of("latest", "latest"), Skew::kSame);
  EXPECT_EQ(skew_of("0.1.0", "0.1.1"), Skew::kUpgrade);
  EXPECT_EQ(skew_of("0.1.9", "0.2.0"), Skew::kUpgrade);
  EXPECT_EQ(skew_of("0.2.0", "0.1.9"), Skew::kDowngrade);
  EXPECT_EQ(skew_of("0.1.0", "0.3.0"), Skew::kTooFar);
  EXPECT_EQ(skew_of("0.3.0", "0.1.0"), Skew::kTooFar);
  EXPECT_EQ(skew_of("0.9.0", "1.0.0"), Skew::kTooFar);
  EXPECT_EQ(skew_of("latest", "0.1.0"), Skew::kUnknown);
  EXPECT_EQ(skew_of("0.0.0", "0.2147483647.0"), Skew::kTooFar);
}

TEST(Version, SplitsTheNameOfAnImage) {
  const ImageName whole = read_image("registry.example.com:5000/edge/edge-operator:0.1.0");
  EXPECT_EQ(whole.repository, "registry.example.com:5000/edge");
  EXPECT_EQ(whole.component, "edge-operator");
  EXPECT_EQ(whole.tag, "0.1.0");
  EXPECT_EQ(read_image("localhost:5000/edge-operator").tag, "");
  EXPECT_EQ(read_image("localhost:5000/edge-operator").repository, "localhost:5000");
  EXPECT_EQ(read_image("edge-operator:1").repository, "");
  const ImageName digest = read_image("r.example/edge/edge-operator:0.1.0@sha256:00ff");
  EXPECT_EQ(digest.tag, "");
  EXPECT_EQ(digest.component, "edge-operator");
  EXPECT_EQ(read_image("").component, "");
}

}  // namespace
}  // namespace edge::edgectl
