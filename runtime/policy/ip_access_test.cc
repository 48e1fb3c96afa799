#include "runtime/policy/ip_access.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/hash.h"
#include "program/format/records.h"
#include "runtime/policy/test_mmdb.h"
#include "runtime/policy/test_policy_request.h"

namespace edge::runtime {
namespace {

using Texts = std::vector<std::string>;

struct Names {
  Texts networks{};
  Texts lists{};  ///< names of ConfigMaps
  Texts files{};
  Texts countries{};
  std::vector<std::uint32_t> systems{};
};

program::SecretSet lists_of(const std::vector<std::pair<std::string, std::string>>& lists) {
  program::SecretSet set;
  for (const auto& [name, text] : lists) {
    set.secrets.push_back({"default", "configmap/" + name, {{"networks", std::make_shared<const std::string>(text)}}});
  }
  set.sort();
  return set;
}

std::shared_ptr<const GeoDatabase> database(GeoDatabase::Kind kind, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "access-" + std::to_string(::getpid()) + ".mmdb";
  std::ofstream(path, std::ios::binary) << bytes;
  auto opened = GeoDatabase::open(path, kind);
  std::filesystem::remove(path);
  EXPECT_TRUE(opened.ok());
  return opened ? *opened : nullptr;
}

/// One policy.
class Access {
 public:
  Access(const Names& allow, const Names& deny) {
    const std::vector<program::IpAccessRecord> records = {{sources(allow), sources(deny)}};
    const std::vector<program::PolicyRecord> policies = {{stable_id("ProxyPolicy", "default", "office"),
                                                          builder_.string("default"), builder_.string("office"),
                                                          program::PolicyType::kIpAccess, 0}};
    program::PoliciesHeader header{};
    header.policies = builder_.array(policies);
    header.ip_accesses = builder_.array(records);
    record_ = records[0];
    bytes_ = std::move(builder_).finish(header);
    give({}, {});
  }

  void give(const program::SecretSet& lists, const AccessFiles& files) {
    made_ = IpAccesses::make(program::SectionView(bytes_), lists, files, made_.get());
  }
  int status(std::string_view client) const {
    const testing::TestRequest request("GET / HTTP/1.1\nHost: a", client);
    const auto answer = made_->pass(0, request.policy_request());
    const auto foretold = program::lets_pass(program::SectionView(bytes_), record_, *parse_ip(client));
    if (foretold && made_->faults().empty()) EXPECT_EQ(!answer, *foretold) << client;
    return answer ? answer->status : 200;
  }
  const std::vector<std::string>& faults() const { return made_->faults(); }

 private:
  program::ArrayRef<program::StringRef> strings(const Texts& texts) {
    std::vector<program::StringRef> refs;
    for (const std::string& text : texts) refs.push_back(builder_.string(text));
    return builder_.array(refs);
  }
  program::AddressSourcesRecord sources(const Names& names) {
    std::vector<program::CidrRecord> networks;
    for (const std::string& text : names.networks) networks.push_back(program::cidr_record(*parse_cidr(text)));
    std::vector<program::SecretRecord> lists;
    for (const std::string& name : names.lists) {
      lists.push_back({builder_.string("default"), builder_.string("configmap/" + name), builder_.string("networks")});
    }
    return {builder_.array(networks), builder_.array(lists), strings(names.files), strings(names.countries),
            builder_.array(names.systems)};
  }

  program::SectionBuilder builder_{sizeof(program::PoliciesHeader)};
  program::IpAccessRecord record_{};
  std::vector<std::byte> bytes_;
  std::shared_ptr<const IpAccesses> made_;
};

TEST(IpAccessPolicy, LetsThoseOfItsListPassAlone) {
  const Access access({.networks = {"10.0.0.0/8", "192.0.2.1"}}, {});
  EXPECT_EQ(access.status("10.255.255.255"), 200);
  EXPECT_EQ(access.status("11.0.0.0"), 403);
  EXPECT_EQ(access.status("192.0.2.1"), 200);
  EXPECT_EQ(access.status("192.0.2.2"), 403);
  EXPECT_EQ(access.status("::1"), 403);
}

TEST(IpAccessPolicy, KeepsOutBeforeItLetsPass) {
  const Access access({.networks = {"10.0.0.0/8"}}, {.networks = {"10.1.0.0/16"}});
  EXPECT_EQ(access.status("10.0.0.1"), 200);
  EXPECT_EQ(access.status("10.1.2.3"), 403);
  const Access others({}, {.networks = {"10.1.0.0/16", "fd00::/8"}});
  EXPECT_EQ(others.status("::1"), 200);
  EXPECT_EQ(others.status("10.1.2.3"), 403);
  EXPECT_EQ(others.status("fd00::5"), 403);
}

TEST(IpAccessPolicy, UsesListsAndTheirNextVersions) {
  Access access({.networks = {"192.0.2.1"}, .lists = {"offices"}}, {.lists = {"blocked"}});
  EXPECT_EQ(access.status("192.0.2.1"), 503) << "the lists are not there yet";
  ASSERT_EQ(access.faults().size(), 1U);
  EXPECT_EQ(access.faults()[0],
            "policy default/office: the list default/configmap/offices: is missing; what it protects is answered 503");
  access.give(lists_of({{"offices", "10.0.0.0/8"}, {"blocked", ""}}), {});
  EXPECT_TRUE(access.faults().empty());
  EXPECT_EQ(access.status("192.0.2.1"), 200);
  EXPECT_EQ(access.status("10.1.1.1"), 200);
  EXPECT_EQ(access.status("11.1.1.1"), 403);
  access.give(lists_of({{"offices", "10.0.0.0/8"}, {"blocked", "10.1.0.0/16"}}), {});
  EXPECT_EQ(access.status("10.1.1.1"), 403);
  EXPECT_EQ(access.status("10.2.1.1"), 200);
  // A list that cannot be read is none, and nobody passes by the part of it that can.
  access.give(lists_of({{"offices", "10.0.0.0/8"}, {"blocked", "10.1.0.0/16\n10.2.0.0/"}}), {});
  EXPECT_EQ(access.status("10.2.1.1"), 503);
  EXPECT_EQ(access.faults()[0],
            "policy default/office: the list default/configmap/blocked: line 2: `10.2.0.0/` is no address or network; "
            "what it protects is answered 503");
}

TEST(IpAccessPolicy, AnEmptyListOfThoseThatMayPassLetsNobodyPass) {
  Access access({.lists = {"offices"}}, {});
  access.give(lists_of({{"offices", "# none yet\n"}}), {});
  EXPECT_EQ(access.status("10.0.0.1"), 403);
}

TEST(IpAccessPolicy, UsesFilesOfTheAgent) {
  Access access({}, {.files = {"blocked.txt"}});
  EXPECT_EQ(access.status("10.0.0.1"), 503);
  AccessFiles files;
  files.lists["blocked.txt"] = nullptr;
  access.give({}, files);
  EXPECT_EQ(access.status("10.0.0.1"), 503);
  EXPECT_EQ(access.faults()[0],
            "policy default/office: the file `blocked.txt` of --address-lists cannot be used; what it protects is "
            "answered 503");
  const std::vector<Cidr> blocked = {*parse_cidr("10.0.0.0/8")};
  files.lists["blocked.txt"] = std::make_shared<const AddressSet>(blocked);
  access.give({}, files);
  EXPECT_EQ(access.status("10.0.0.1"), 403);
  EXPECT_EQ(access.status("11.0.0.1"), 200);
}

TEST(IpAccessPolicy, UsesCountriesAndSystems) {
  Access access({.networks = {"192.0.2.1"}, .countries = {"DE", "AT"}}, {.systems = {64500}});
  EXPECT_EQ(access.status("192.0.2.1"), 503) << "no database";
  AccessFiles files;
  files.countries = database(GeoDatabase::Kind::kCountry, testing::TestMmdb("GeoLite2-Country")
                                                              .country("10.0.0.0/8", "DE")
                                                              .country("10.1.0.0/16", "FR")
                                                              .country("10.2.0.0/16", "??")
                                                              .country("2001:db8::/32", "AT")
                                                              .bytes());
  access.give({}, files);
  EXPECT_EQ(access.status("192.0.2.1"), 503) << "one of two databases";
  EXPECT_EQ(access.faults()[0],
            "policy default/office: no database of --geoip-asn can be used; what it protects is answered 503");
  files.systems =
      database(GeoDatabase::Kind::kAsn, testing::TestMmdb("GeoLite2-ASN").system("10.9.0.0/16", 64500).bytes());
  access.give({}, files);
  EXPECT_EQ(access.status("192.0.2.1"), 200);
  EXPECT_EQ(access.status("10.0.0.1"), 200);
  EXPECT_EQ(access.status("10.1.0.1"), 403);
  EXPECT_EQ(access.status("2001:db8::1"), 200);
  EXPECT_EQ(access.status("203.0.113.1"), 403) << "of no country";
  EXPECT_EQ(access.status("10.9.0.1"), 403) << "of a system that is denied";
  EXPECT_EQ(access.status("10.2.0.1"), 503) << "where the database is corrupt";
}

}  // namespace
}  // namespace edge::runtime
