#include "edgectl/resources/sort_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::edgectl {
namespace {

using nlohmann::json;

std::string sorted(std::string_view path, std::vector<json> objects) {
  const auto key = SortKey::parse(path);
  if (!key) return key.error().text;
  key->sort(objects);
  std::string names;
  for (const json& object : objects) names += object["name"].get<std::string>();
  return names;
}

TEST(SortKey, PutsNumbersBySizeAndTextsByTheirBytes) {
  EXPECT_EQ(sorted(".n", {{{"name", "a"}, {"n", 10}}, {{"name", "b"}, {"n", 9}}, {{"name", "c"}, {"n", 9.5}}}), "bca");
  EXPECT_EQ(sorted("{.at}",
                   {{{"name", "a"}, {"at", "2026-02-01T00:00:00Z"}}, {{"name", "b"}, {"at", "2025-12-31T00:00:00Z"}}}),
            "ba");
}

TEST(SortKey, KeepsTheOrderOfEqualsAndPutsWhatHasNoneFirst) {
  EXPECT_EQ(sorted(".x", {{{"name", "a"}, {"x", 1}}, {{"name", "b"}}, {{"name", "c"}, {"x", 1}}, {{"name", "d"}}}),
            "bdac");
}

TEST(SortKey, RefusesWhatIsNoPath) {
  EXPECT_THAT(sorted("[", {}), testing::HasSubstr("--sort-by takes a path such as .metadata.name, not `[`"));
}

}  // namespace
}  // namespace edge::edgectl
