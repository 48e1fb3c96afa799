#include "runtime/observe/access_log/destination.h"

#include <string>

#include <gtest/gtest.h>

#include "runtime/observe/access_log/entry.h"
#include "runtime/observe/access_log/test_entry.h"

namespace edge::runtime {
namespace {

const DestinationNames kWhole{.gateway_space = "shop",
                              .gateway = "web",
                              .listener = "https",
                              .route_space = "shop",
                              .route = "cart",
                              .rule = 1,
                              .backend_space = "shop",
                              .backend = "cart"};

TEST(LogDestination, IsWrittenAsLinesHaveIt) {
  EXPECT_EQ(destination_text(kWhole), kSampleDestination);
  EXPECT_EQ(destination_text({}), "");
  EXPECT_EQ(destination_text({.gateway_space = "shop", .gateway = "web"}), ",\"gateway\":\"shop/web\"");
}

TEST(LogDestination, GivesEachMemberBack) {
  const std::string destination = destination_text(kWhole);
  EXPECT_EQ(destination_member(destination, "gateway"), "shop/web");
  EXPECT_EQ(destination_member(destination, "listener"), "https");
  EXPECT_EQ(destination_member(destination, "route"), "shop/cart");
  EXPECT_EQ(destination_member(destination, "rule"), "1");
  EXPECT_EQ(destination_member(destination, "backend"), "shop/cart");
  EXPECT_EQ(destination_member(destination, "web"), "");
  EXPECT_EQ(destination_member("", "gateway"), "");
  EXPECT_EQ(destination_member(destination_text({.gateway = "web", .rule = 7}), "rule"), "7");
}

// No name has such bytes; a program that was made by somebody else must not break a line all the same.
TEST(LogDestination, NoNameEndsAMember) {
  const std::string hostile = "a\",\"route\":\"x\\\n\x7f\xff,b";
  const std::string destination = destination_text({.gateway = hostile, .route = "cart"});
  EXPECT_EQ(destination_member(destination, "gateway"), "a?,?route?:?x????,b");
  EXPECT_EQ(destination_member(destination, "route"), "cart");
}

TEST(LogDestination, NamesTheClusterOfAnEndpointElsewhere) {
  std::string destination = destination_text({.gateway = "web", .backend_space = "shop", .backend = "cart"});
  EXPECT_EQ(destination_member(destination, "cluster"), "");
  append_cluster({.name = "berlin", .region = "eu", .priority = 3}, destination);
  EXPECT_EQ(destination_member(destination, "cluster"), "berlin");
  EXPECT_EQ(destination_member(destination, "cluster_priority"), "3");
  EXPECT_EQ(destination_member(destination, "cluster_region"), "eu");
  std::string unknown;
  append_cluster({.name = "oslo", .region = {}, .priority = 1}, unknown);
  EXPECT_EQ(unknown, ",\"cluster\":\"oslo\",\"cluster_priority\":1");
}

TEST(LogDestination, FitsIntoAnEntryHoweverLongNamesAre) {
  const std::string name(10'000, 'n');
  const std::string destination = destination_text({name, name, name, name, name, 1, name, name});
  LogEntry entry;
  entry[LogText::kDestination] = destination;
  std::string flat(entry.flat_size(), '\0');
  entry.flatten(flat);
  EXPECT_EQ(LogEntry::of(flat)[LogText::kDestination], destination);
}

TEST(LogDestination, IsWrittenOnceForAProgram) {
  DestinationTexts destinations;
  int written = 0;
  const auto names = [&] {
    ++written;
    return kWhole;
  };
  const int record = 0;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(destinations.text({&record, nullptr, nullptr}, names), kSampleDestination);
  EXPECT_EQ(written, 1);
  destinations.text({&record, &record, nullptr}, names);
  EXPECT_EQ(written, 2);
}

}  // namespace
}  // namespace edge::runtime
