#include "agent/sync/seal.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/sync/agent_store.h"
#include "base/os/file.h"
#include "base/test_log.h"
#include "net/tls/identity.h"

namespace edge::agent {
namespace {

namespace fs = std::filesystem;

class SealTest : public testing::Test {
 protected:
  SealTest() {
    std::string pattern = (fs::temp_directory_path() / "seal.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~SealTest() override { fs::remove_all(directory_); }
  std::string directory_;
};

TEST_F(SealTest, OpensWhatItSealedAndNothingElse) {
  const std::string key = *seal_key(directory_ + "/seal.key");
  EXPECT_EQ(*seal_key(directory_ + "/seal.key"), key);
  const std::string sealed = *seal(key, "a", "some secret");
  EXPECT_EQ(sealed.find("secret"), std::string::npos);
  EXPECT_EQ(*open_sealed(key, "a", sealed), "some secret");
  EXPECT_NE(*seal(key, "a", "some secret"), sealed);
  EXPECT_FALSE(open_sealed(key, "b", sealed));
  EXPECT_FALSE(open_sealed(std::string(kSealKeyBytes, 'k'), "a", sealed));
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] ^= 1;
    EXPECT_FALSE(open_sealed(key, "a", changed)) << i;
    EXPECT_FALSE(open_sealed(key, "a", sealed.substr(0, i))) << i;
  }
  EXPECT_EQ(*open_sealed(key, "a", *seal(key, "a", "")), "");
}

TEST_F(SealTest, AKeyThatOthersMayReadIsNone) {
  const std::string path = directory_ + "/seal.key";
  ASSERT_TRUE(seal_key(path));
  fs::permissions(path, fs::perms::others_read, fs::perm_options::add);
  EXPECT_EQ(seal_key(path).error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(SealTest, AKeyThatIsNoneIsSetAsideAndReplaced) {
  ASSERT_TRUE(AgentStore::open(directory_, "edge-1", ""));
  const std::string path = directory_ + "/seal.key";
  ASSERT_TRUE(write_file(path, std::string_view(""), FileAccess::kOwnerOnly));
  TestLog log;
  EXPECT_TRUE(AgentStore::open(directory_, "edge-1", "", log.logger()));
  EXPECT_NE(log.text().find("renamed to " + path + ".broken and replaced"), std::string::npos) << log.text();
  EXPECT_EQ(seal_key(path)->size(), kSealKeyBytes);
  EXPECT_EQ(seal_key(path + ".broken").error().code, ErrorCode::kDataLoss);
  // One that somebody gave is not ours to replace.
  EXPECT_EQ(AgentStore::open(directory_, "edge-1", path + ".broken").error().code, ErrorCode::kDataLoss);
}

TEST_F(SealTest, AStoreWithoutItsSecretsGivesTheRestAndSaysWhy) {
  const auto store = AgentStore::open(directory_, "edge-1", "");
  ASSERT_TRUE(store) << store.error().text;
  std::string fault;
  EXPECT_EQ(store->last(fault).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(store->keep_values({}, {}));
  ASSERT_TRUE(store->keep_program({std::byte{1}}));
  EXPECT_EQ(store->last(fault)->program->size(), 1U);
  EXPECT_EQ(fault, "");
  // Another agent's, or with another key: not opened.
  const auto other = AgentStore::open(directory_, "edge-2", "");
  EXPECT_TRUE(other->last(fault));
  EXPECT_EQ(fault, "no secrets: not sealed with this key, or changed since");
}

TEST_F(SealTest, AnIdentityThatIsBrokenIsNotTaken) {
  const auto store = AgentStore::open(directory_, "edge-1", "");
  EXPECT_EQ(store->identity().error().code, ErrorCode::kNotFound);
  for (const char* file : {"agent.pem", "authorities.pem", "program.key.pub"}) {
    ASSERT_TRUE(write_file(directory_ + "/" + file, std::string_view("text"), FileAccess::kOwnerOnly));
  }
  EXPECT_EQ(store->identity().error().code, ErrorCode::kFailedPrecondition);
}

TEST(Identity, KnowsCertificatesFromOtherText) {
  EXPECT_FALSE(net::tls::are_certificates(""));
  EXPECT_FALSE(net::tls::are_certificates("text"));
  EXPECT_FALSE(net::tls::are_certificates("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"));
  EXPECT_FALSE(net::tls::are_certificates(*net::tls::make_private_key()));
  EXPECT_FALSE(net::tls::certificate_request("text"));
  EXPECT_TRUE(net::tls::certificate_request(*net::tls::make_private_key()));
}

TEST_F(SealTest, ADirectoryThatOthersMayWriteToIsNotUsed) {
  fs::permissions(directory_, fs::perms::all);
  EXPECT_EQ(AgentStore::open(directory_, "edge-1", "").error().code, ErrorCode::kFailedPrecondition);
}

}  // namespace
}  // namespace edge::agent
