#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "program/section_builder.h"
#include "runtime/policy/auth/api_key/api_key_policy.h"
#include "runtime/policy/auth/api_key/api_keys.h"
#include "runtime/policy/auth/test_auth_context.h"

namespace edge::runtime::auth {
namespace {

constexpr const char* kAlice = "alice-0123456789";
constexpr const char* kBob = "bob-0123456789abcdef";

std::string name_of(const ApiKeys& keys, std::string_view key) {
  const std::string* const name = keys.find(key);
  return name == nullptr ? "" : *name;
}

TEST(ApiKeys, AreFoundByWhatIsSent) {
  ApiKeys keys;
  keys.add("# clients\n\nalice:" + std::string(kAlice) + "\r\nalice:alice-next-0123456\n");
  // echo -n bob-0123456789abcdef | openssl dgst -sha256 -binary | base64
  keys.add("bob:{SHA256}" + std::string("8ei8B0fLevKj5Ge5Hg8nJd51IzlXzdYzaYsyW0kTskQ=") + "\n");
  EXPECT_TRUE(keys.faults().empty());
  EXPECT_EQ(keys.size(), 3U);
  EXPECT_EQ(name_of(keys, kAlice), "alice");
  EXPECT_EQ(name_of(keys, "alice-next-0123456"), "alice") << "two keys of a name, while one takes the other's place";
  EXPECT_EQ(name_of(keys, kBob), "bob");
  for (const char* other : {"", "alice", "alice-012345678", "alice-01234567890", "Alice-0123456789",
                            "{SHA256}8ei8B0fLevKj5Ge5Hg8nJd51IzlXzdYzaYsyW0kTskQ="}) {
    EXPECT_EQ(name_of(keys, other), "") << other;
  }
}

TEST(ApiKeys, LinesAtFaultAreToldWithoutWhatIsInThem) {
  ApiKeys keys;
  keys.add("alice\n:0123456789abcdef\nalice:short\nalice:0123456789 abcdef\nalice:{SHA256}c2hvcnQ=\nbob:" +
           std::string(kBob) + "\ncarol:" + std::string(kBob) + "\nbob:" + std::string(kBob) + "\n");
  EXPECT_EQ(keys.size(), 1U);
  EXPECT_EQ(name_of(keys, kBob), "bob");
  const std::string none = "no key of 16 to 512 printable characters, and no `{SHA256}` with 32 bytes in base64";
  const std::vector<std::string> wanted = {
      "line 1: no `name:key`", "line 2: a name that is empty, longer than 255 bytes or has control bytes",
      "line 3: " + none,       "line 4: " + none,
      "line 5: " + none,       "line 7: a key that has another name above"};
  EXPECT_EQ(keys.faults(), wanted);
}

TEST(ApiKeys, AreBounded) {
  ApiKeys keys;
  keys.add(std::string(kMaxApiKeysBytes + 1, '\n'));
  EXPECT_EQ(keys.faults().front(), "larger than 16 MiB");
  ApiKeys bad;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "x\n";
  bad.add(text);
  EXPECT_EQ(bad.faults().size(), 21U);
}

class ApiKeyPolicyTest : public ::testing::Test {
 protected:
  using Made = Result<std::shared_ptr<const ApiKeyPolicy>>;

  Made make(const std::string& header, const std::string& cookie, const std::string& keys, bool strip = true) {
    program::SectionBuilder builder(sizeof(program::PoliciesHeader));
    const std::vector<program::SecretRecord> secrets = {
        {builder.string("shop"), builder.string("clients"), builder.string("api-keys")}};
    const program::ApiKeyRecord record{builder.string(header), builder.string(cookie), builder.string("x-client"),
                                       builder.array(secrets), strip ? 1U : 0U};
    const std::vector<std::byte> bytes = std::move(builder).finish(program::PoliciesHeader{});
    const program::SectionView section(bytes);
    program::SecretSet values;
    if (!keys.empty()) {
      values.secrets.push_back({"shop", "clients", {{"api-keys", std::make_shared<const std::string>(keys)}}});
    }
    return ApiKeyPolicy::make({section, values, context_.stores}, program::PolicyRecord{}, record);
  }
  AuthResult ask(const ApiKeyPolicy& policy, const std::string& fields) {
    return context_.ask(policy, "GET / HTTP/1.1\nHost: x" + fields);
  }

  testing::TestAuthContext context_;
};

TEST_F(ApiKeyPolicyTest, TellsTheBackendWhoseKeyItIs) {
  const Made made = make("x-api-key", "key", "alice:" + std::string(kAlice) + "\n");
  ASSERT_TRUE(made.ok());
  const AuthResult by_header = ask(**made, "\nX-API-Key: " + std::string(kAlice) + "\nX-Client: root");
  ASSERT_TRUE(by_header.passed());
  EXPECT_EQ(by_header.request.value("x-client"), "alice");
  EXPECT_EQ(by_header.subject, "alice") << "what limits by `identity` count by";
  EXPECT_TRUE(by_header.request.drops("X-Client")) << "what the client says of itself";
  EXPECT_TRUE(by_header.request.drops("X-Api-Key"));
  const AuthResult by_cookie = ask(**made, "\nCookie: a=1; key=" + std::string(kAlice) + "; b=2");
  ASSERT_TRUE(by_cookie.passed());
  EXPECT_EQ(by_cookie.request.value("Cookie"), "a=1; b=2");
  const Made kept = make("x-api-key", "", "alice:" + std::string(kAlice) + "\n", false);
  EXPECT_FALSE(ask(**kept, "\nX-API-Key: " + std::string(kAlice)).request.drops("X-Api-Key"));
}

TEST_F(ApiKeyPolicyTest, RefusesWhatIsMissingDoubledOrWrong) {
  const Made made = make("x-api-key", "key", "alice:" + std::string(kAlice) + "\n");
  ASSERT_TRUE(made.ok());
  const std::string header = "\nX-API-Key: ";
  for (const auto& [fields, reason] : std::vector<std::pair<std::string, std::string>>{
           {"", "credentials-missing"},
           {header, "credentials-missing"},
           {"\nCookie: other=" + std::string(kAlice), "credentials-missing"},
           {header + kAlice + header + kAlice, "credentials-malformed"},
           {"\nCookie: key=" + std::string(kAlice) + "; key=b", "credentials-malformed"},
           {header + "alice-012345678A", "credentials-wrong"},
           // The header counts where it is sent.
           {header + "wrong" + "\nCookie: key=" + kAlice, "credentials-wrong"}}) {
    const AuthResult refused = ask(**made, fields);
    EXPECT_FALSE(refused.passed()) << fields;
    EXPECT_EQ(refused.answer.status, 401);
    EXPECT_EQ(refused.answer.reason, reason) << fields;
    EXPECT_EQ(refused.answer.fields, "WWW-Authenticate: ApiKey\r\n");
  }
}

TEST_F(ApiKeyPolicyTest, WithoutAKeyItCannotBeEnforced) {
  EXPECT_EQ(make("x-api-key", "", "").error().text, "the secret with the key `api-keys` is missing");
  EXPECT_EQ(
      make("x-api-key", "", "alice:short\n").error().text,
      "no key in `api-keys`: line 1: no key of 16 to 512 printable characters, and no `{SHA256}` with 32 bytes in "
      "base64");
}

}  // namespace
}  // namespace edge::runtime::auth
