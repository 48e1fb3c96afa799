#include "controller/publish/cause.h"

#include <gtest/gtest.h>

namespace edge::controller {
namespace {

TEST(Cause, NamesOneUserOrNone) {
  Cause cause;
  cause.add("ProxyRoute a/b", "kubectl");
  cause.add("ProxyRoute a/c", "kubectl");
  EXPECT_EQ(cause.line(), "ProxyRoute a/b and 1 more by kubectl");
  cause.add("ProxyRoute a/d", "helm");
  EXPECT_EQ(cause.line(), "ProxyRoute a/b and 2 more");
  Cause more;
  more.add(cause);
  more.add("ProxyRoute a/e", "kubectl");
  EXPECT_EQ(more.line(), "ProxyRoute a/b and 3 more");
}

}  // namespace
}  // namespace edge::controller
