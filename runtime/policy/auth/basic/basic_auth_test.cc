#include "runtime/policy/auth/basic/basic_auth.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/text/base64.h"
#include "runtime/policy/auth/test_auth_context.h"

namespace edge::runtime::auth {
namespace {

using testing::TestAuthContext;

// Of `secret` and of `changed`: htpasswd -nbB -C 4 alice ...
constexpr const char* kSecret = "alice:$2y$04$zUcERn.SYrPCsE1nekSMzu..qu5.bpzVSEI5H9ei4E0eVmkpHSwkG";
constexpr const char* kChanged = "alice:$2y$04$TFGQ2.02VMEIsV7dSNS9P.LGm.wFQB147S/xCl66crRXe9NBotG3.";

class BasicAuthTest : public ::testing::Test {
 protected:
  using Made = Result<std::shared_ptr<const BasicAuth>>;

  Made make(const std::string& file, bool strip = false, const std::string& realm = "Shop") {
    program::SectionBuilder builder(sizeof(program::PoliciesHeader));
    program::BasicAuthRecord record{};
    record.realm = builder.string(realm);
    record.users = {builder.string("shop"), builder.string("users"), builder.string("htpasswd")};
    record.strip_auth = strip ? 1 : 0;
    const std::vector<std::byte> bytes = std::move(builder).finish(program::PoliciesHeader{});
    const program::SectionView section(bytes);
    program::SecretSet secrets;
    if (!file.empty()) {
      secrets.secrets.push_back({"shop", "users", {{"htpasswd", std::make_shared<const std::string>(file)}}});
    }
    return BasicAuth::make({section, secrets, context.stores}, program::PolicyRecord{}, record);
  }
  AuthResult ask(const BasicAuth& policy, const std::string& credentials) {
    return context.ask(policy, "GET / HTTP/1.1\nHost: x\nAuthorization: Basic " + to_base64(credentials));
  }

  TestAuthContext context;
};

TEST_F(BasicAuthTest, WhoIsKnownIsNotCheckedTwice) {
  const auto policy = *make(kSecret);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask(*policy, "alice:secret").passed());
  EXPECT_EQ(context.stores.passwords.checks(), 1u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(*policy, "alice:wrong").answer.reason, "credentials-wrong");
  EXPECT_EQ(context.stores.passwords.checks(), 2u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(*policy, "mallory:secret").answer.reason, "credentials-wrong");
  EXPECT_EQ(context.stores.passwords.checks(), 3u);
}

TEST_F(BasicAuthTest, ANewPasswordIsFeltAtOnce) {
  EXPECT_TRUE(ask(**make(kSecret), "alice:secret").passed());
  const auto later = *make(kChanged);
  EXPECT_FALSE(ask(*later, "alice:secret").passed());
  EXPECT_TRUE(ask(*later, "alice:changed").passed());
}

TEST_F(BasicAuthTest, TellsTheBackendWhoItIs) {
  const AuthResult plain = ask(**make(kSecret), "alice:secret");
  EXPECT_EQ(plain.request.value("X-Auth-User"), "alice");
  EXPECT_TRUE(plain.request.drops("x_auth_user"));
  EXPECT_FALSE(plain.request.drops("Authorization"));
  EXPECT_TRUE(ask(**make(kSecret, true), "alice:secret").request.drops("Authorization"));
}

TEST_F(BasicAuthTest, TheRealmIsQuoted) {
  const auto policy = *make(kSecret, false, R"(a "b" \c)");
  EXPECT_EQ(ask(*policy, "alice:wrong").answer.fields, "WWW-Authenticate: Basic realm=\"a \\\"b\\\" \\\\c\"\r\n");
}

TEST_F(BasicAuthTest, FaultsAreToldAndAFileWithoutUsersIsOne) {
  const Made some = make(std::string(kSecret) + "\nbob:plain\n");
  ASSERT_TRUE(some.ok());
  EXPECT_EQ((*some)->faults().size(), 1u);
  EXPECT_EQ(make("").error().text, "the secret with the key `htpasswd` is missing");
  EXPECT_EQ(make("bob:plain\n").error().text.find("no user in `htpasswd`: line 1: "), 0u);
  EXPECT_EQ(make("bob:plain\n").error().text.find("plain\n"), std::string::npos);
}

}  // namespace
}  // namespace edge::runtime::auth
