#include "base/resource_id.h"

#include <string>

#include <gtest/gtest.h>

#include "base/hash.h"

namespace edge {
namespace {

const ResourceId kOwn{"ProxyRoute", "shop", "cart"};
const ResourceId kForeign{"ProxyRoute", "shop", "cart", "berlin"};

TEST(ResourceId, HasOneTextAndIsReadFromIt) {
  EXPECT_EQ(kOwn.text(), "ProxyRoute shop/cart");
  EXPECT_EQ(kForeign.text(), "ProxyRoute berlin:shop/cart");
  const ResourceId own_class{"GatewayClass", {}, "edge"};
  const ResourceId foreign_class{"GatewayClass", {}, "edge", "berlin"};
  const ResourceId port{"ProxyBackend", "shop", "web:8080", "berlin"};
  EXPECT_EQ(own_class.text(), "GatewayClass edge");
  EXPECT_EQ(foreign_class.text(), "GatewayClass berlin:edge");
  EXPECT_EQ(port.text(), "ProxyBackend berlin:shop/web:8080");
  for (const ResourceId& id : {kOwn, kForeign, own_class, foreign_class, port}) {
    const auto read = parse_resource_id(id.text());
    ASSERT_TRUE(read) << id.text();
    EXPECT_EQ(*read, id);
    EXPECT_EQ(ResourceId::of(id.kind, id.qualified_namespace(), id.name), id);
  }
}

TEST(ResourceId, OfTwoClustersIsNeverEqual) {
  EXPECT_NE(kOwn, kForeign);
  EXPECT_NE(kOwn.text(), kForeign.text());
  EXPECT_NE(kOwn.stable_id(), kForeign.stable_id());
  // What programs of one cluster have stays as it was.
  EXPECT_EQ(kOwn.stable_id(), stable_id("ProxyRoute", "shop", "cart"));
  EXPECT_EQ(kForeign.stable_id(), stable_id("ProxyRoute", "berlin:shop", "cart"));
}

TEST(ResourceId, IsNotReadFromWhatIsNone) {
  const std::string label(64, 'a');
  for (const std::string& text : {std::string(),
                                  std::string("ProxyRoute"),
                                  std::string("ProxyRoute "),
                                  std::string(" shop/cart"),
                                  std::string("ProxyRoute /cart"),
                                  std::string("ProxyRoute shop/"),
                                  std::string("ProxyRoute :shop/cart"),
                                  std::string("ProxyRoute berlin:/cart"),
                                  std::string("ProxyRoute a:b:shop/cart"),
                                  std::string("ProxyRoute shop/a/b"),
                                  std::string("ProxyRoute Shop/cart"),
                                  std::string("ProxyRoute -a:shop/cart"),
                                  std::string("ProxyRoute shop/ca\nrt"),
                                  std::string("ProxyRoute  shop/cart"),
                                  std::string("GatewayClass :edge"),
                                  std::string("Proxy-Route shop/cart"),
                                  "ProxyRoute " + label + "/cart",
                                  "ProxyRoute " + label + ":shop/cart",
                                  "ProxyRoute shop/" + std::string(254, 'a'),
                                  "ProxyRoute shop/" + std::string(ResourceId::kMaxText, 'a')}) {
    EXPECT_FALSE(parse_resource_id(text)) << text;
  }
}

}  // namespace
}  // namespace edge
