// The vectors of project Wycheproof for JSON Web Signatures: each must be taken or refused as it says.
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "runtime/policy/auth/jwt/jose.h"

namespace edge::runtime::auth {
namespace {

constexpr const char* kFile = "tests/data/wycheproof/json_web_signature_test.json";

// Two results of this group are swapped in the source. 370 is named for a fault in its base64, and has none: byte by
// byte it is the same token as 362 without its fault, and its MAC is right. 372 has a `?` in the middle of its header,
// which is no base64url (RFC 7515 §2), and its MAC is right for the header without it alone. Whoever gives the stated
// results takes a token that was changed on its way and refuses the one that was signed.
const std::set<std::int64_t> kSwapped = {370, 372};

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool takes(std::string_view token, const KeySet& keys) {
  AlgorithmSet every;
  for (const char* name : {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
                           "HS256", "HS384", "HS512"}) {
    every.add(*algorithm_named(name));
  }
  Jws jws;
  return read_jws(token, jws) == TokenFault::kNone && verify_jws(jws, keys, every) == TokenFault::kNone;
}

class Wycheproof : public testing::TestWithParam<bool> {};

/// With the tables of a key on P-256 and without.
INSTANTIATE_TEST_SUITE_P(, Wycheproof, testing::Bool(),
                         [](const auto& info) { return info.param ? "WithTables" : "Without"; });

TEST_P(Wycheproof, EveryVectorGivesTheStatedResult) {
  const Result<Json> document =
      read_json(read_file(kFile), {.bytes = std::size_t{1} << 20, .depth = 16, .values = 20'000, .members = 64});
  ASSERT_TRUE(document.ok()) << document.error().text;
  std::map<std::string, int> counts;
  for (const Json& group : document->find("testGroups")->items()) {
    const Json* const jwk = group.find("public") != nullptr ? group.find("public") : group.find("private");
    KeySet keys;
    // A key for another purpose is no key: everything that it signed is refused.
    if (Result<Key> key = Key::read(*jwk, KeyOrigin::kConfigured)) {
      if (GetParam()) key->prepare();
      keys.keys.push_back(*std::move(key));
    }
    for (const Json& test : group.find("tests")->items()) {
      const std::int64_t id = *test.find("tcId")->integer();
      const bool stated = test.text_of("result") == "valid";
      const bool wanted = kSwapped.contains(id) ? !stated : stated;
      EXPECT_EQ(takes(*test.text_of("jws"), keys), wanted) << id << " " << *test.text_of("comment");
      ++counts[wanted ? "valid" : "invalid"];
    }
  }
  EXPECT_EQ(counts["valid"], 22);
  EXPECT_EQ(counts["invalid"], 178);
}

TEST(WycheproofKeys, NoPublishedKeyTakesAMac) {
  const Result<Json> document =
      read_json(read_file(kFile), {.bytes = std::size_t{1} << 20, .depth = 16, .values = 20'000, .members = 64});
  ASSERT_TRUE(document.ok());
  for (const Json& group : document->find("testGroups")->items()) {
    const Json& secret = *group.find("private");
    if (secret.text_of("kty") == "oct") EXPECT_FALSE(Key::read(secret, KeyOrigin::kPublished).ok());
  }
}

}  // namespace
}  // namespace edge::runtime::auth
