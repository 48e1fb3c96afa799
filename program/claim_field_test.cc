#include "program/claim_field.h"

#include <gtest/gtest.h>

#include "base/text/ascii.h"

namespace edge::program {
namespace {

TEST(ClaimField, ComesBackAsItWas) {
  for (const std::string claim :
       {"plan", "Plan", "realm_access.roles", "https://a.example/Roles", "a b", "^41", "é", ""}) {
    const auto scalar = read_claim_field(claim_field(claim));
    ASSERT_TRUE(scalar) << claim;
    EXPECT_EQ(scalar->claim, claim);
    EXPECT_FALSE(scalar->item);
    for (const std::string item : {"admin", "Admin", " has ", "a has b", ""}) {
      const auto one = read_claim_field(claim_item_field(claim, item));
      ASSERT_TRUE(one) << claim << " " << item;
      EXPECT_EQ(one->claim, claim);
      EXPECT_EQ(one->item, item);
    }
  }
}

// Names of fields are compared without regard to case, those of claims are not.
TEST(ClaimField, TellsCapitalLettersApart) {
  EXPECT_NE(ascii_lower(claim_field("plan")), ascii_lower(claim_field("Plan")));
  EXPECT_NE(ascii_lower(claim_item_field("a", "X")), ascii_lower(claim_item_field("a", "x")));
  EXPECT_EQ(ascii_lower(claim_field("Plan")), claim_field("Plan"));
}

TEST(ClaimField, IsNoOther) {
  for (const std::string name :
       {"plan", ":path", ":claim", ":claim ^4", ":claim ^zz", ":claim Plan", ":claim a has ^"}) {
    EXPECT_FALSE(read_claim_field(name)) << name;
  }
  EXPECT_TRUE(is_claim_field(claim_field("plan")));
  EXPECT_FALSE(is_claim_field("plan"));
}

TEST(ClaimField, OfTypedClaims) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  const Pairs claims = {{"plan", "gold"}, {"roles", "a"}, {"roles", "b"}, {"roles", "a"}};
  Pairs fields = claim_fields(claims);
  const Pairs expected = {{claim_field("plan"), "gold"},
                          {claim_item_field("plan", "gold"), ""},
                          {claim_field("roles"), "a,b,a"},
                          {claim_item_field("roles", "a"), ""},
                          {claim_item_field("roles", "b"), ""}};
  EXPECT_EQ(fields, expected);
  fields.emplace(fields.begin(), "x-env", "prod");
  fields.emplace_back(claim_field("level"), "7");
  const Pairs taken = {{"roles", "a"}, {"roles", "b"}, {"plan", "gold"}, {"level", "7"}};
  EXPECT_EQ(take_claims(fields), taken);
  EXPECT_EQ(fields, (Pairs{{"x-env", "prod"}}));
}

TEST(ClaimField, AreTakenAsTheyWereTyped) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  const Pairs typed[] = {
      {{"scope", "read write"}},
      {{"scope", "read"}, {"scope", "write"}},
      {{"roles", "a,b"}, {"roles", "c"}},
      {{"plan", ""}},
      {{"roles", "a b"}},
  };
  for (const Pairs& claims : typed) {
    Pairs fields = claim_fields(claims);
    EXPECT_EQ(take_claims(fields), claims) << claims.front().second;
  }
}

TEST(ClaimField, IsWrittenAsInExpressions) {
  EXPECT_EQ(field_text("x-env"), "header:x-env");
  EXPECT_EQ(field_text(claim_field("plan")), "claim:plan");
  EXPECT_EQ(field_text(claim_field("a b")), R"(claim:"a b")");
  EXPECT_EQ(field_text(claim_item_field("Roles", "a \"b\"")), R"(claim:Roles contains "a \"b\"")");
}

}  // namespace
}  // namespace edge::program
