#include "compiler/cache/fingerprint.h"

#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "compiler/link/linked_config.h"

namespace edge::compiler {
namespace {

template <typename T>
program::Hash hash_of(const T& value) {
  Fingerprint fingerprint;
  fingerprint.add(value);
  return fingerprint.take();
}

TEST(Fields, AreCountedWhateverTheyAre) {
  struct Nothing {};
  struct Three {
    int a;
    std::string b;
    std::vector<std::string> c;
  };
  EXPECT_EQ(std::tuple_size_v<decltype(fields_of(std::declval<const Nothing&>()))>, 0u);
  Three three{1, "b", {}};
  std::get<1>(fields_of(three)) = "changed";
  EXPECT_EQ(three.b, "changed");
  EXPECT_EQ(std::tuple_size_v<decltype(fields_of(three))>, 3u);
}

TEST(Fingerprint, PlacesInFilesSayNothing) {
  LinkedRule rule;
  rule.matches.emplace_back().path.value = {"/a", {1, 2, 3}};
  const program::Hash before = hash_of(rule);
  rule.span = {4, 5, 6};
  rule.matches[0].path.value.span = {};
  EXPECT_EQ(hash_of(rule), before);
}

TEST(Fingerprint, EveryFieldSaysSomething) {
  const std::vector<std::function<void(LinkedRule&)>> changes = {
      [](LinkedRule& rule) { rule.matches.emplace_back(); },
      [](LinkedRule& rule) { rule.filters.push_back({program::FilterOp::kRewriteHost, "", "x"}); },
      [](LinkedRule& rule) { rule.backends.emplace_back(); },
      [](LinkedRule& rule) { rule.retry.emplace(); },
      [](LinkedRule& rule) { rule.request_timeout = std::chrono::seconds(1); },
      [](LinkedRule& rule) { rule.max_request_body = 0; },
      [](LinkedRule& rule) { rule.buffer_response = true; }};
  std::set<program::Hash> hashes = {hash_of(LinkedRule{})};
  for (const auto& change : changes) {
    LinkedRule rule;
    change(rule);
    EXPECT_TRUE(hashes.insert(hash_of(rule)).second);
  }
}

TEST(Fingerprint, TextsThatMeetAreToldApart) {
  using Texts = std::vector<std::string>;
  EXPECT_NE(hash_of(Texts{"ab", "c"}), hash_of(Texts{"a", "bc"}));
  EXPECT_NE(hash_of(Texts{"", "a"}), hash_of(Texts{"a", ""}));
  EXPECT_NE(hash_of(std::vector<Texts>{{"a"}, {}}), hash_of(std::vector<Texts>{{}, {"a"}}));
  EXPECT_NE(hash_of(std::optional<int>{}), hash_of(std::optional<int>{0}));
}

}  // namespace
}  // namespace edge::compiler
