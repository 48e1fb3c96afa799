#include "edgectl/web/api/views/federation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edgectl/web/api/test_store.h"

namespace edge::edgectl::web {
namespace {

constexpr const char* kReply =
    R"({"items":[{"kind":"ProxyRoute","namespace":"shop","name":"cart"},)"
    R"({"kind":"ProxyRoute","namespace":"other","name":"secret"},)"
    R"({"kind":"Secret","namespace":"shop","name":"key"},{"kind":"Unknown","namespace":"shop"},7],)"
    R"("peers":[{"name":"berlin"}]})";

TEST(VisibleFederation, HasConflictsOfListableObjectsAlone) {
  const TestStore store;
  EXPECT_EQ(visible_federation(kReply, store.view()), kReply);
  Visible some;
  some.allow(*schemas::find_kind("ProxyRoute"), "shop");
  const nlohmann::json shown = parse_json(visible_federation(kReply, store.view(some)));
  ASSERT_EQ(shown["items"].size(), 1U);
  EXPECT_EQ(shown["items"][0]["name"], "cart");
  EXPECT_EQ(shown["hidden"], 4);
  EXPECT_EQ(shown["peers"].size(), 1U);
  const nlohmann::json none = parse_json(visible_federation(kReply, store.view(Visible())));
  EXPECT_TRUE(none["items"].empty());
}

}  // namespace
}  // namespace edge::edgectl::web
