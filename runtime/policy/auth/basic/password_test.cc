// Hashes and files of passwords, written by Apache's own htpasswd.
#include <array>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "runtime/policy/auth/basic/basic_credentials.h"
#include "runtime/policy/auth/basic/htpasswd.h"

namespace edge::runtime::auth {
namespace {

/// The line that htpasswd prints for a user, without its end. Empty: it is not installed.
std::string htpasswd(const std::string& how, const std::string& user, const std::string& password) {
  const std::string command = "htpasswd -nb " + how + " '" + user + "' '" + password + "' 2>/dev/null";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::array<char, 256> line{};
  const bool read = std::fgets(line.data(), line.size(), pipe) != nullptr;
  ::pclose(pipe);
  std::string text = read ? line.data() : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string hash_of(const std::string& line) { return line.substr(line.find(':') + 1); }

std::string fault(std::string_view text) {
  const Result<PasswordHash> hash = PasswordHash::read(text);
  return hash ? "none" : hash.error().text;
}

TEST(PasswordHash, ChecksWhatHtpasswdWrites) {
  if (htpasswd("-m", "a", "b").empty()) GTEST_SKIP() << "htpasswd is not installed";
  // Lengths around the blocks of MD5, and bytes beyond ASCII.
  for (const std::string& password :
       {std::string("p"), std::string("correct horse"), std::string(15, 'a'), std::string(16, 'b'),
        std::string(17, 'c'), std::string(63, 'd'), std::string("p\xc3\xa4ss"), std::string(72, 'e')}) {
    for (const char* how : {"-m", "-B -C 4"}) {
      const std::string line = htpasswd(how, "alice", password);
      const Result<PasswordHash> hash = PasswordHash::read(hash_of(line));
      ASSERT_TRUE(hash.ok()) << line << hash.error().text;
      EXPECT_TRUE(hash->verify(password)) << line;
      EXPECT_FALSE(hash->verify(password.substr(1))) << line;
      EXPECT_FALSE(hash->verify("x" + password.substr(1))) << line;
      EXPECT_FALSE(hash->verify("")) << line;
    }
  }
}

TEST(PasswordHash, TakesTheThreeNamesOfBcrypt) {
  if (htpasswd("-m", "a", "b").empty()) GTEST_SKIP() << "htpasswd is not installed";
  std::string text = hash_of(htpasswd("-B -C 4", "alice", "secret"));
  for (const char letter : {'a', 'b', 'y'}) {
    text[2] = letter;
    const Result<PasswordHash> hash = PasswordHash::read(text);
    ASSERT_TRUE(hash.ok());
    EXPECT_TRUE(hash->verify("secret")) << text;
    EXPECT_FALSE(hash->verify("Secret")) << text;
  }
}

TEST(PasswordHash, ChecksSha256) {
  // echo -n secret | openssl dgst -sha256 -binary | base64
  const Result<PasswordHash> hash = PasswordHash::read("{SHA256}K7gNU3sdo+OL0wNhqoVWhr3g6s1xYv72ol/pe/Unols=");
  ASSERT_TRUE(hash.ok());
  EXPECT_TRUE(hash->verify("secret"));
  EXPECT_FALSE(hash->verify("secreT"));
}

TEST(PasswordHash, NothingBehindAZeroByteIsLost) {
  const Result<PasswordHash> hash = PasswordHash::read("$2y$04$abcdefghijklmnopqrstuu5Lwlmqk8QPSkOOkEhCJX7sQIRIX8tQi");
  ASSERT_TRUE(hash.ok());
  EXPECT_FALSE(hash->verify(std::string_view("a\0b", 3)));
  EXPECT_FALSE(hash->verify(std::string(kMaxPasswordBytes + 1, 'a')));
}

TEST(PasswordHash, OtherFormsAreRefusedByName) {
  constexpr const char* kOther = "a hash that is none of bcrypt (`$2y$`, `$2a$`, `$2b$`), `{SHA256}` and `$apr1$`";
  for (const char* text : {"", "secret", "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", "$1$abc$xyz", "$6$abc$xyz", "$2x$04$abc",
                           "rqXexS6ZhobKA", "$apr2$abc$xyz", "{SSHA256}abc"}) {
    EXPECT_EQ(fault(text), kOther) << text;
  }
  EXPECT_EQ(fault("{SHA256}c2hvcnQ="), "`{SHA256}` without 32 bytes in base64");
  EXPECT_EQ(fault("{SHA256}???"), "`{SHA256}` without 32 bytes in base64");
  constexpr const char* kApr1 = "`$apr1$` without a salt of 1 to 8 and a hash of 22 digits";
  EXPECT_EQ(fault("$apr1$$0123456789012345678901"), kApr1);
  EXPECT_EQ(fault("$apr1$123456789$0123456789012345678901"), kApr1);
  EXPECT_EQ(fault("$apr1$salt$012345678901234567890"), kApr1);
  EXPECT_EQ(fault("$apr1$salt"), kApr1);
  constexpr const char* kBcrypt = "bcrypt without a cost of two digits and 53 digits of salt and hash";
  EXPECT_EQ(fault("$2y$"), kBcrypt);
  EXPECT_EQ(fault("$2y$04$" + std::string(52, 'a')), kBcrypt);
  EXPECT_EQ(fault("$2y$04$" + std::string(52, 'a') + "!"), kBcrypt);
  EXPECT_EQ(fault("$2y$31$" + std::string(53, 'a')), "bcrypt with a cost that is not 4 to 15");
  EXPECT_EQ(fault("$2y$03$" + std::string(53, 'a')), "bcrypt with a cost that is not 4 to 15");
}

constexpr std::string_view kSha = "{SHA256}K7gNU3sdo+OL0wNhqoVWhr3g6s1xYv72ol/pe/Unols=";

TEST(Htpasswd, ReadsUsersAndTellsFaultsByLine) {
  const std::string text = "# users\n\nalice:" + std::string(kSha) +
                           "\r\nbob:plain\n:x\nnobody\nalice:" + std::string(kSha) +
                           "\n  \ncarol smith:" + std::string(kSha);
  const Htpasswd file = Htpasswd::read(text);
  EXPECT_EQ(file.size(), 2u);
  ASSERT_NE(file.find("alice"), nullptr);
  EXPECT_TRUE(file.find("alice")->verify("secret"));
  EXPECT_NE(file.find("carol smith"), nullptr);
  EXPECT_EQ(file.find("bob"), nullptr);
  EXPECT_EQ(file.find("Alice"), nullptr);
  ASSERT_EQ(file.faults().size(), 4u);
  EXPECT_EQ(file.faults()[0],
            "line 4: a hash that is none of bcrypt (`$2y$`, `$2a$`, `$2b$`), `{SHA256}` and `$apr1$`");
  EXPECT_EQ(file.faults()[1], "line 5: a user name that is empty, longer than 255 bytes or has control bytes");
  EXPECT_EQ(file.faults()[2], "line 6: no `user:hash`");
  EXPECT_EQ(file.faults()[3], "line 7: a user that stands above already");
}

TEST(Htpasswd, TheDecoyIsTheCostliest) {
  EXPECT_EQ(Htpasswd::read("").decoy(), nullptr);
  const std::string apr1 = "$apr1$salt$0123456789012345678901";
  const std::string cheap = "$2y$04$" + std::string(53, 'a');
  const std::string dear = "$2y$06$" + std::string(53, 'a');
  const Htpasswd file =
      Htpasswd::read("a:" + cheap + "\nb:" + dear + "\nc:" + apr1 + "\nd:" + std::string(kSha) + "\n");
  EXPECT_EQ(file.size(), 4u);
  EXPECT_EQ(file.decoy(), file.find("b"));
}

TEST(Htpasswd, IsBounded) {
  EXPECT_EQ(Htpasswd::read(std::string(kMaxHtpasswdBytes + 1, 'a')).faults().front(), "larger than 4 MiB");
  std::string bad;
  for (int i = 0; i < 1000; ++i) bad += "x\n";
  const Htpasswd file = Htpasswd::read(bad);
  EXPECT_EQ(file.faults().size(), 21u);
  EXPECT_EQ(file.faults().back(), "further lines are at fault");
}

TEST(BasicCredentials, AreReadStrictly) {
  BasicCredentials read;
  // alice:secret
  EXPECT_EQ(read_basic_credentials("Basic YWxpY2U6c2VjcmV0", read), CredentialsFault::kNone);
  EXPECT_EQ(read.user, "alice");
  EXPECT_EQ(read.password, "secret");
  // a:b:c, and an empty password
  EXPECT_EQ(read_basic_credentials("bAsIc  YTpiOmM=", read), CredentialsFault::kNone);
  EXPECT_EQ(read.password, "b:c");
  EXPECT_EQ(read_basic_credentials("Basic YTo=", read), CredentialsFault::kNone);
  EXPECT_EQ(read.password, "");
  for (const char* other : {"", "Basic2 YTpi", "Bearer YTpi", "Basi", "YTpi"}) {
    EXPECT_EQ(read_basic_credentials(other, read), CredentialsFault::kOtherScheme) << other;
  }
  // No digits, no padding, no colon, no name, a zero byte, a line end.
  for (const char* bad : {"Basic", "Basic ", "Basic ???", "Basic YTo", "Basic YQ==", "Basic OmI=", "Basic YQBiOmM=",
                          "Basic YTpiCg==", "Basic YTpi YTpi", "Basic\tYTpi"}) {
    EXPECT_NE(read_basic_credentials(bad, read), CredentialsFault::kNone) << bad;
  }
  EXPECT_EQ(read_basic_credentials("Basic " + std::string(4096, 'A'), read), CredentialsFault::kMalformed);
}

}  // namespace
}  // namespace edge::runtime::auth
