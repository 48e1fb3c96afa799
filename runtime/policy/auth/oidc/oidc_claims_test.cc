#include "runtime/policy/auth/oidc/oidc_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::runtime::auth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

OidcIdentity identity_of(std::string_view claims) {
  const Result<Json> json = read_json(claims);
  EXPECT_TRUE(json.ok()) << claims;
  OidcIdentity identity;
  if (json.ok()) add_claims(*json, "shop.web", identity);
  return identity;
}

std::string forwarded(const OidcIdentity& identity, const std::vector<std::string>& headers) {
  RequestEdits edits;
  forward_claims(identity, forwarded_claims(headers), edits);
  std::string buffer(8192, '\0');
  net::http1::HeadWriter out(buffer.data(), buffer.size());
  edits.write(out, program::FieldEdits({}, {}, program::Side::kRequest, {}));
  return std::string(out.text());
}

TEST(OidcClaims, KnowRolesAndGroupsInEveryForm) {
  const OidcIdentity identity = identity_of(R"({"sub": "a", "roles": ["one", "two", 3, ""], "groups": "solo",
    "realm_access": {"roles": ["three", "one"]},
    "resource_access": {"shop.web": {"roles": ["four"]}, "shop": {"web": {"roles": ["five"]}}, "x": {"roles": ["six"]}}})");
  EXPECT_THAT(identity.roles, ElementsAre("one", "two", "three", "four"));
  EXPECT_THAT(identity.groups, ElementsAre("solo"));
  EXPECT_THAT(identity_of(R"({"roles": {"admin": true}, "groups": [["a"]], "realm_access": "admin"})").roles,
              IsEmpty());
}

TEST(OidcClaims, OfAnyOneOrOfAll) {
  const OidcIdentity identity = identity_of(R"({"roles": ["a", "b"], "groups": ["/g", "/x/y"]})");
  const auto holds = [&](std::vector<std::string> roles, std::vector<std::string> groups, bool all) {
    return satisfies(identity, {std::move(roles), std::move(groups), all});
  };
  EXPECT_TRUE(holds({}, {}, false));
  EXPECT_TRUE(holds({}, {}, true));
  EXPECT_TRUE(holds({"a", "z"}, {}, false));
  EXPECT_FALSE(holds({"a", "z"}, {}, true));
  EXPECT_TRUE(holds({"z"}, {"g"}, false));
  EXPECT_FALSE(holds({"z"}, {"g"}, true));
  EXPECT_TRUE(holds({"a", "b"}, {"/g"}, true));
  EXPECT_FALSE(holds({}, {"y"}, false));
  EXPECT_FALSE(holds({"A"}, {}, false));
}

TEST(OidcClaims, OfTheTokenItselfAreNotKept) {
  const OidcIdentity identity = identity_of(
      R"({"sub":"a","iss":"b","aud":"c","exp":1,"nonce":"n","azp":"z","age":7,"vip":true," access_token":"t","x":{"y":1}})");
  EXPECT_EQ(identity.claim("sub"), "a");
  EXPECT_EQ(identity.claim("age"), "7");
  EXPECT_EQ(identity.claim("vip"), "true");
  EXPECT_EQ(identity.claims.size(), 3U);
}

TEST(OidcClaims, AreBounded) {
  std::string many = "{";
  for (int i = 0; i < 200; ++i) many += "\"c" + std::to_string(i) + "\":\"v\",";
  EXPECT_LT(identity_of(many + R"("sub":"a"})").claims.size(), OidcIdentity::kMaxClaims);
  std::string groups;
  for (int i = 0; i < 3000; ++i) groups += ",\"group-" + std::to_string(i) + "\"";
  EXPECT_LE(identity_of("{\"groups\":[" + groups.substr(1) + "]}").groups.size(), OidcIdentity::kMaxMemberships);
  EXPECT_THAT(identity_of("{\"groups\":[\"" + std::string(2000, 'g') + "\"]}").groups, IsEmpty());
  EXPECT_EQ(identity_of("{\"long\":\"" + std::string(2000, 'g') + "\"}").claim("long"), "");
}

TEST(OidcClaims, BecomeHeaders) {
  const OidcIdentity identity = identity_of(
      R"({"sub":"a","email":"a@b.example","name":"A","department":"x","roles":["r","s,t"],"groups":["g"],"zone_info":"CET"})");
  const std::string lines =
      forwarded(identity, {"x-auth-department", "x-groups", "X-Auth-Roles", "x-zone-info", "x-none"});
  EXPECT_EQ(
      lines,
      "X-Auth-Subject: a\r\nX-Auth-Email: a@b.example\r\nX-Auth-Name: A\r\nx-auth-department: x\r\nx-groups: g\r\n"
      "X-Auth-Roles: r\r\nx-zone-info: CET\r\n");
}

TEST(OidcClaims, CannotWriteHeadersOfTheirOwn) {
  const OidcIdentity identity = identity_of(R"({"sub":"a\r\nX-Admin: 1","name":"b\u0000","groups":["a\nb","c"]})");
  EXPECT_THAT(forwarded(identity, {"x-groups"}), Not(HasSubstr("Admin")));
  EXPECT_EQ(forwarded(identity, {"x-groups"}), "x-groups: c\r\n");
}

TEST(OidcClaims, OfAnAddressThatNobodyVerifiedAreNotBelieved) {
  EXPECT_EQ(identity_of(R"({"email":"a@b","email_verified":false})").claim("email"), "");
  EXPECT_EQ(identity_of(R"({"email":"a@b","email_verified":"false"})").claim("email"), "");
  EXPECT_EQ(identity_of(R"({"email":"a@b","email_verified":true})").claim("email"), "a@b");
  EXPECT_EQ(identity_of(R"({"email":"a@b","email_verified":"true"})").claim("email"), "a@b");
  EXPECT_EQ(identity_of(R"({"email":"a@b"})").claim("email"), "a@b");
}

TEST(OidcClaims, TheFirstSourceIsBelieved) {
  OidcIdentity identity = identity_of(R"({"sub":"a","name":"of the id token"})");
  add_claims(*read_json(R"({"sub":"z","name":"of userinfo","email":"a@b"})"), "shop", identity);
  EXPECT_EQ(identity.claim("sub"), "a");
  EXPECT_EQ(identity.claim("name"), "of the id token");
  EXPECT_EQ(identity.claim("email"), "a@b");
}

TEST(OidcClaims, TheAccessTokenGoesWhereItIsAskedFor) {
  OidcIdentity identity = identity_of(R"({"sub":"a","access_token":"of the provider"})");
  identity.claims.push_back({std::string(kAccessTokenClaim), "token"});
  EXPECT_EQ(forwarded(identity, {"authorization", "x-auth-access-token"}),
            "X-Auth-Subject: a\r\nauthorization: Bearer token\r\nx-auth-access-token: token\r\n");
}

}  // namespace
}  // namespace edge::runtime::auth
