#include "edgectl/web/api/call_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::edgectl::web {
namespace {

using testing::ElementsAre;

TEST(CallTable, FindsByMethodAndPath) {
  EXPECT_EQ(find_call("GET", "/api/kinds").call->id, CallId::kKinds);
  EXPECT_EQ(find_call("HEAD", "/api/kinds").call->id, CallId::kKinds);
  const FoundCall object = find_call("GET", "/api/objects/proxyroutes/a%20b/c%2Fd");
  ASSERT_NE(object.call, nullptr);
  EXPECT_EQ(object.call->id, CallId::kObject);
  EXPECT_THAT(object.parameters, ElementsAre("proxyroutes", "a b", "c/d"));
  EXPECT_EQ(find_call("POST", "/api/agents/a/drain").call->id, CallId::kDrain);
}

TEST(CallTable, OtherMethodsAndPathsAreTold) {
  const FoundCall other = find_call("DELETE", "/api/agents/a/drain");
  EXPECT_EQ(other.call, nullptr);
  EXPECT_EQ(other.allow, "POST");
  for (const char* none : {"/api/", "/api", "/api/kinds/", "/api/objects//", "/api/objects/a/b/c/d", "/api/objects/%zz",
                           "/api/objects/%00", "/api//kinds", "//"}) {
    const FoundCall found = find_call("GET", none);
    EXPECT_EQ(found.call, nullptr) << none;
    EXPECT_EQ(found.allow, "") << none;
  }
}

}  // namespace
}  // namespace edge::edgectl::web
