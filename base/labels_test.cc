#include "base/labels.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edge {
namespace {

TEST(Labels, AreReadAsKubernetesHasThem) {
  const auto labels = parse_labels({"edgeproxy.io/group=canary", "tier=a_b.C-1", "empty="});
  ASSERT_TRUE(labels);
  EXPECT_EQ(labels_text(*labels), "edgeproxy.io/group=canary,empty=,tier=a_b.C-1");
}

TEST(Labels, AreRefusedWhereTheyAreNone) {
  for (const std::string& text :
       {std::string("a"), std::string("=b"), std::string("-a=b"), std::string("a=-b"), std::string("a=b c"),
        std::string("a=../b"), std::string("/a=b"), std::string("a/=b"), std::string("A.b/c=d"), std::string("a/b/c=d"),
        std::string("a=b\n"), "a=" + std::string(64, 'b'), std::string(64, 'a') + "=b",
        std::string(254, 'a') + "/b=c"}) {
    EXPECT_FALSE(parse_labels({text})) << text;
  }
  EXPECT_FALSE(parse_labels({"a=b", "a=c"}));
}

TEST(Labels, AreBounded) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kMaxLabels; ++i) texts.push_back("l" + std::to_string(i) + "=");
  EXPECT_TRUE(parse_labels(texts));
  texts.emplace_back("one-more=");
  EXPECT_FALSE(parse_labels(texts));
}

}  // namespace
}  // namespace edge
