#include "edgectl/web/login/login.h"

#include <gtest/gtest.h>

namespace edge::edgectl::web {
namespace {

std::string user(const LoginSettings& settings, const std::string& name) {
  const auto identity = identity_of(settings, name, {});
  return identity ? identity->user : "refused: " + identity.error().text;
}

TEST(LoginIdentity, UsersAreNamedAsKubernetesNamesThem) {
  LoginSettings settings{.issuer = "https://login.example", .client_id = {}, .client_secret = {}};
  EXPECT_EQ(user(settings, "ann"), "https://login.example#ann");
  settings.username_claim = "email";
  EXPECT_EQ(user(settings, "ann@example.com"), "ann@example.com");
  settings.username_prefix = "oidc:";
  EXPECT_EQ(user(settings, "ann"), "oidc:ann");
  settings.username_prefix = "-";
  EXPECT_EQ(user(settings, "ann"), "ann");
  EXPECT_EQ(user(settings, "system:admin"), "refused: A user whose name begins with system: cannot log in.");
  EXPECT_EQ(user(settings, ""), "refused: Your login has no claim email.");
}

TEST(LoginIdentity, GroupsOfTheApiItselfAreNotTaken) {
  LoginSettings settings{.issuer = "https://login.example", .client_id = {}, .client_secret = {}};
  EXPECT_EQ(identity_of(settings, "ann", {"b", "system:masters", "a", "b", ""})->groups,
            (std::vector<std::string>{"a", "b"}));
  settings.groups_prefix = "oidc:";
  EXPECT_EQ(identity_of(settings, "ann", {"system:masters"})->groups,
            (std::vector<std::string>{"oidc:system:masters"}));
  settings.groups_prefix = "system:";
  EXPECT_TRUE(identity_of(settings, "ann", {"masters"})->groups.empty());
}

}  // namespace
}  // namespace edge::edgectl::web
