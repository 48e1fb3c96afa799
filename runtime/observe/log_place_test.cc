#include "runtime/observe/log_place.h"

#include <string>

#include <gtest/gtest.h>

#include "runtime/observe/log_entry.h"
#include "runtime/observe/test_entry.h"

namespace edge::runtime {
namespace {

const PlaceNames kWhole{.gateway_space = "shop",
                        .gateway = "web",
                        .listener = "https",
                        .route_space = "shop",
                        .route = "cart",
                        .rule = 1,
                        .backend_space = "shop",
                        .backend = "cart"};

TEST(LogPlace, IsWrittenAsLinesHaveIt) {
  EXPECT_EQ(place_text(kWhole), kSamplePlace);
  EXPECT_EQ(place_text({}), "");
  EXPECT_EQ(place_text({.gateway_space = "shop", .gateway = "web"}), ",\"gateway\":\"shop/web\"");
}

TEST(LogPlace, GivesEachMemberBack) {
  const std::string place = place_text(kWhole);
  EXPECT_EQ(place_member(place, "gateway"), "shop/web");
  EXPECT_EQ(place_member(place, "listener"), "https");
  EXPECT_EQ(place_member(place, "route"), "shop/cart");
  EXPECT_EQ(place_member(place, "rule"), "1");
  EXPECT_EQ(place_member(place, "backend"), "shop/cart");
  EXPECT_EQ(place_member(place, "web"), "");
  EXPECT_EQ(place_member("", "gateway"), "");
  EXPECT_EQ(place_member(place_text({.gateway = "web", .rule = 7}), "rule"), "7");
}

// No name has such bytes; a program that was made by somebody else must not break a line all the same.
TEST(LogPlace, NoNameEndsAMember) {
  const std::string hostile = "a\",\"route\":\"x\\\n\x7f\xff,b";
  const std::string place = place_text({.gateway = hostile, .route = "cart"});
  EXPECT_EQ(place_member(place, "gateway"), "a?,?route?:?x????,b");
  EXPECT_EQ(place_member(place, "route"), "cart");
}

TEST(LogPlace, FitsIntoAnEntryHoweverLongNamesAre) {
  const std::string name(10'000, 'n');
  const std::string place = place_text({name, name, name, name, name, 1, name, name});
  LogEntry entry;
  entry[LogText::kPlace] = place;
  std::string flat(entry.flat_size(), '\0');
  entry.flatten(flat);
  EXPECT_EQ(LogEntry::of(flat)[LogText::kPlace], place);
}

TEST(LogPlace, IsWrittenOnceForAProgram) {
  LogPlaces places;
  int written = 0;
  const auto names = [&] {
    ++written;
    return kWhole;
  };
  const int record = 0;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(places.text({&record, nullptr, nullptr}, names), kSamplePlace);
  EXPECT_EQ(written, 1);
  places.text({&record, &record, nullptr}, names);
  EXPECT_EQ(written, 2);
}

}  // namespace
}  // namespace edge::runtime
