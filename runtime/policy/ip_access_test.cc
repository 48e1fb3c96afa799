#include "runtime/policy/ip_access.h"

#include <gtest/gtest.h>

#include "program/format/records.h"
#include "runtime/policy/test_policy_request.h"

namespace edge::runtime {
namespace {

using Texts = std::vector<std::string>;

class Lists {
 public:
  Lists(const Texts& allow, const Texts& deny) {
    const auto records = [this](const Texts& texts) {
      std::vector<program::CidrRecord> blocks;
      for (const std::string& text : texts) blocks.push_back(program::cidr_record(*parse_cidr(text)));
      return builder_.array(blocks);
    };
    const program::IpAccessRecord record{records(allow), records(deny)};
    bytes_ = std::move(builder_).finish(program::PoliciesHeader{});
    const program::SectionView view(bytes_);
    policy_.emplace(view, record);
    for (const char* client :
         {"10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0", "10.1.2.3", "192.0.2.1", "::1", "fd00::5"}) {
      EXPECT_EQ(passes(client), program::lets_pass(view, record, *parse_ip(client))) << client;
    }
  }

  bool passes(std::string_view client) const {
    const testing::TestRequest request("GET / HTTP/1.1\nHost: a", client);
    const auto answer = policy_->pass(request.policy_request());
    if (answer) EXPECT_EQ(answer->status, 403);
    return !answer;
  }

 private:
  program::SectionBuilder builder_{sizeof(program::PoliciesHeader)};
  std::vector<std::byte> bytes_;
  std::optional<IpAccess> policy_;
};

TEST(IpAccessPolicy, LetsThoseOfItsListPassAlone) {
  const Lists lists({"10.0.0.0/8", "192.0.2.1"}, {});
  EXPECT_TRUE(lists.passes("10.0.0.0"));
  EXPECT_TRUE(lists.passes("10.255.255.255"));
  EXPECT_FALSE(lists.passes("9.255.255.255"));
  EXPECT_FALSE(lists.passes("11.0.0.0"));
  EXPECT_TRUE(lists.passes("192.0.2.1"));
  EXPECT_FALSE(lists.passes("192.0.2.2"));
  EXPECT_FALSE(lists.passes("::1"));
}

TEST(IpAccessPolicy, KeepsOutBeforeItLetsPass) {
  const Lists lists({"10.0.0.0/8"}, {"10.1.0.0/16"});
  EXPECT_TRUE(lists.passes("10.0.0.1"));
  EXPECT_FALSE(lists.passes("10.1.2.3"));
  const Lists others({}, {"10.1.0.0/16", "fd00::/8"});
  EXPECT_TRUE(others.passes("::1"));
  EXPECT_FALSE(others.passes("10.1.2.3"));
  EXPECT_FALSE(others.passes("fd00::5"));
}

TEST(IpAccessPolicy, TakesBlocksWithinOthers) {
  const Lists lists({"10.1.0.0/16", "10.0.0.0/8", "10.1.2.0/24", "10.0.0.0/9", "10.0.0.0/8"}, {});
  EXPECT_TRUE(lists.passes("10.1.2.3"));
  EXPECT_TRUE(lists.passes("10.200.0.1"));
  EXPECT_FALSE(lists.passes("11.0.0.0"));
  const Lists everybody({"0.0.0.0/0"}, {});
  EXPECT_TRUE(everybody.passes("255.255.255.255"));
  EXPECT_FALSE(everybody.passes("fd00::1"));
  EXPECT_TRUE(Lists({"::/0"}, {}).passes("203.0.113.9"));
}

}  // namespace
}  // namespace edge::runtime
