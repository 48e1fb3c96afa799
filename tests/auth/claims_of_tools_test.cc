// Tools have claims as they are typed, agents as a token has them: both match the same.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "program/claim_field.h"
#include "runtime/policy/auth/json.h"
#include "runtime/policy/auth/jwt/jwt_policy.h"

namespace edge::runtime::auth {
namespace {

struct Row {
  std::string claim;
  std::vector<std::string> typed;
  std::string in_token;
  std::vector<std::string> asked;
};

const Row kRows[] = {
    {"plan", {"gold"}, R"("gold")", {"gold", "go"}},
    {"plan", {""}, R"("")", {"gold", ""}},
    {"roles", {"a", "b"}, R"(["a","b"])", {"a", "b", "a,b", "c"}},
    {"roles", {"a", "a"}, R"(["a","a"])", {"a", "a,a"}},
    // An element that would be read as two.
    {"roles", {"a,b", "c"}, R"(["a,b","c"])", {"a,b", "a", "b", "c", "a,b,c"}},
    {"roles", {"a", ""}, R"(["a",""])", {"a", "", "a,"}},
    {"plan", {"a,b"}, R"("a,b")", {"a,b", "a", "b"}},
    // Words.
    {"scope", {"read write"}, R"("read write")", {"read", "write", "read write", "rea", "read,write"}},
    {"scope", {" read  write "}, R"(" read  write ")", {"read", "write", "", " read  write "}},
    {"scp", {"read write"}, R"("read write")", {"read", "write"}},
    {"scope", {"read", "write"}, R"(["read","write"])", {"read", "write", "read write", "read,write"}},
    {"scope", {"read write", "all"}, R"(["read write","all"])", {"read", "write", "read write", "all"}},
    {"roles", {"site admin"}, R"("site admin")", {"site", "admin", "site admin"}},
    {"Scope", {"read write"}, R"("read write")", {"read", "read write"}},
};

TEST(ClaimsOfTools, MatchAsThoseOfTokens) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.claim + " " + row.in_token);
    std::vector<std::pair<std::string, std::string>> typed;
    for (const std::string& value : row.typed) typed.emplace_back(row.claim, value);
    const auto fields = program::claim_fields(typed);
    const auto field = [&fields](const std::string& name) {
      return std::ranges::find(fields, name, [](const auto& one) { return one.first; });
    };
    const auto claim = read_json(row.in_token);
    ASSERT_TRUE(claim);
    const auto text = field(program::claim_field(row.claim));
    ASSERT_NE(text, fields.end());
    EXPECT_EQ(text->second, claim_text(*claim));
    for (const std::string& item : row.asked) {
      EXPECT_EQ(field(program::claim_item_field(row.claim, item)) != fields.end(),
                claim_contains(row.claim, *claim, item))
          << item;
    }
  }
}

}  // namespace
}  // namespace edge::runtime::auth
