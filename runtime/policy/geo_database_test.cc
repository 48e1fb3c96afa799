#include "runtime/policy/geo_database.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/policy/test_mmdb.h"

namespace edge::runtime {
namespace {

using testing::TestMmdb;
using Kind = GeoDatabase::Kind;

class GeoDatabaseTest : public ::testing::Test {
 protected:
  GeoDatabaseTest() : path_(::testing::TempDir() + "geo-" + std::to_string(::getpid()) + ".mmdb") {}
  ~GeoDatabaseTest() override { std::filesystem::remove(path_); }

  Result<std::shared_ptr<const GeoDatabase>> open(const std::string& bytes, Kind kind = Kind::kCountry) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return GeoDatabase::open(path_, kind);
  }
  std::string fault(const std::string& bytes, Kind kind = Kind::kCountry) const {
    const auto opened = open(bytes, kind);
    return opened ? "none" : opened.error().text;
  }

  const std::string path_;
};

std::uint32_t value_of(const GeoDatabase& database, std::string_view address) {
  const GeoDatabase::Found found = database.find(*parse_ip(address));
  EXPECT_TRUE(found.sound) << address;
  return found.value;
}

TEST_F(GeoDatabaseTest, TellsCountriesOfBothFamilies) {
  const auto database = open(TestMmdb("GeoLite2-Country")
                                 .country("10.0.0.0/8", "DE")
                                 .country("10.1.0.0/16", "FR")
                                 .country("2001:db8::/32", "NL")
                                 .add("192.0.2.0/24", TestMmdb::map({}))
                                 .bytes());
  ASSERT_TRUE(database.ok()) << database.error().text;
  EXPECT_EQ(value_of(**database, "10.2.3.4"), country_number("DE"));
  EXPECT_EQ(value_of(**database, "10.1.3.4"), country_number("FR"));
  EXPECT_EQ(value_of(**database, "2001:db8::1"), country_number("NL"));
  EXPECT_EQ(value_of(**database, "11.0.0.1"), 0U);
  EXPECT_EQ(value_of(**database, "2001:db9::1"), 0U);
  EXPECT_EQ(value_of(**database, "192.0.2.1"), 0U) << "a record without a country";
  EXPECT_EQ((*database)->built(), 1'764'115'200U);
  EXPECT_EQ((*database)->type(), "GeoLite2-Country");
}

TEST_F(GeoDatabaseTest, TellsAutonomousSystems) {
  const auto database = open(
      TestMmdb("GeoLite2-ASN", 4).system("10.0.0.0/8", 64500).system("10.1.0.0/16", 4'200'000'000).bytes(), Kind::kAsn);
  ASSERT_TRUE(database.ok()) << database.error().text;
  EXPECT_EQ(value_of(**database, "10.2.3.4"), 64500U);
  EXPECT_EQ(value_of(**database, "10.1.3.4"), 4'200'000'000U);
  EXPECT_EQ(value_of(**database, "2001:db8::1"), 0U) << "a database of IPv4 alone";
}

TEST_F(GeoDatabaseTest, IsNotAffectedByChangesOfTheFile) {
  const auto database = open(TestMmdb("GeoLite2-Country").country("10.0.0.0/8", "DE").bytes());
  ASSERT_TRUE(database.ok());
  std::filesystem::resize_file(path_, 0);
  EXPECT_EQ(value_of(**database, "10.2.3.4"), country_number("DE"));
}

TEST_F(GeoDatabaseTest, RefusesWhatIsNoneAndSaysWhy) {
  const std::string good = TestMmdb("GeoLite2-Country").country("10.0.0.0/8", "DE").bytes();
  EXPECT_EQ(fault(good), "none");
  EXPECT_EQ(fault(good, Kind::kAsn), "its type is `GeoLite2-Country`, which tells no autonomous systems");
  EXPECT_EQ(fault(TestMmdb("GeoLite2-ASN").system("10.0.0.0/8", 1).bytes()),
            "its type is `GeoLite2-ASN`, which tells no countries");
  EXPECT_NE(fault(""), "none");
  EXPECT_NE(fault("not a database"), "none");
  EXPECT_NE(fault(good.substr(good.size() / 2)), "none");
  EXPECT_EQ(GeoDatabase::open(path_ + ".absent", Kind::kCountry).error().text, "No such file or directory");
  EXPECT_EQ(GeoDatabase::open("/", Kind::kCountry).error().text, "it is no regular file");
}

/// What is wrong inside is found where an address leads there, and nowhere else.
TEST_F(GeoDatabaseTest, SaysWhereItIsCorrupt) {
  const auto database =
      open(TestMmdb("GeoLite2-Country")
               .country("10.0.0.0/8", "DE")
               .country("11.0.0.0/8", "??")
               .add("12.0.0.0/8", TestMmdb::map({{"country", TestMmdb::map({{"iso_code", TestMmdb::uint32(7)}})}}))
               .bytes());
  ASSERT_TRUE(database.ok());
  EXPECT_EQ(value_of(**database, "10.0.0.1"), country_number("DE"));
  EXPECT_FALSE((*database)->find(*parse_ip("11.0.0.1")).sound);
  EXPECT_FALSE((*database)->find(*parse_ip("12.0.0.1")).sound);
}

/// No byte of a database may crash the process: every lookup ends, whatever was changed.
TEST_F(GeoDatabaseTest, SurvivesChangesOfEveryByte) {
  const std::string good =
      TestMmdb("GeoLite2-Country").country("10.0.0.0/8", "DE").country("2001:db8::/16", "FR").bytes();
  int opened = 0;
  for (std::size_t at = 0; at < good.size(); at += 3) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0xff);
    const auto database = open(bad);
    if (!database) continue;
    ++opened;
    for (const char* address : {"10.0.0.1", "255.255.255.255", "2001:db8::1", "ffff::"}) {
      const GeoDatabase::Found found = (*database)->find(*parse_ip(address));
      if (!found.sound) EXPECT_EQ(found.value, 0U);
    }
  }
  EXPECT_GT(opened, 0);
}

TEST(CountryNumber, IsOfTwoCapitalLetters) {
  EXPECT_NE(country_number("DE"), 0U);
  EXPECT_NE(country_number("DE"), country_number("ED"));
  for (const char* other : {"", "D", "de", "DEU", "D1"}) EXPECT_EQ(country_number(other), 0U) << other;
}

}  // namespace
}  // namespace edge::runtime
