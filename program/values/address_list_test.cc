#include "program/values/address_list.h"

#include <string>

#include <gtest/gtest.h>

namespace edge::program {
namespace {

std::string list_fault(std::string_view text) {
  const auto read = read_address_list(text);
  return read ? "none" : read.error().text;
}

TEST(AddressList, IsANetworkALineWithComments) {
  const auto read = read_address_list("# offices\n10.0.0.0/8\r\n\n  2001:db8::/32 # lab\n192.0.2.1");
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->size(), 3U);
  EXPECT_EQ(to_string((*read)[0]), "10.0.0.0/8");
  EXPECT_EQ(to_string((*read)[1]), "2001:db8::/32");
  EXPECT_EQ(to_string((*read)[2]), "192.0.2.1/32");
  EXPECT_EQ(read_address_list("")->size(), 0U);
}

TEST(AddressList, IsUsedAsAWholeOrNotAtAll) {
  EXPECT_EQ(list_fault("10.0.0.0/8\noffice\n10.0.0.0/33\n"), "line 2: `office` is no address or network");
  EXPECT_EQ(list_fault("10.0.0.0/33"), "line 1: `10.0.0.0/33` is no address or network");
  EXPECT_EQ(list_fault("10.0.0.1 10.0.0.2"), "line 1: `10.0.0.1 10.0.0.2` is no address or network");
  EXPECT_EQ(list_fault("\n\x1b[2J"), "line 2: `?[2J` is no address or network");
  EXPECT_EQ(list_fault(std::string(100, 'x')), "line 1: `" + std::string(60, 'x') + "` is no address or network");
}

TEST(AddressList, IsBounded) {
  EXPECT_EQ(list_fault(std::string(kMaxAddressListBytes + 1, '\n')), "larger than 64 MiB");
  std::string text;
  for (std::size_t i = 0; i < kMaxListedNetworks; ++i) text += "::1\n";
  EXPECT_EQ(list_fault(text), "none");
  EXPECT_EQ(list_fault(text + "::1\n"), "more than 1,000,000 networks");
}

}  // namespace
}  // namespace edge::program
