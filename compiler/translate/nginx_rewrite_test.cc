#include "compiler/translate/nginx_rewrite.h"

#include <string>

#include <gtest/gtest.h>

namespace edge::compiler::translate {
namespace {

/// As filters of programs replace a prefix: the seam has one slash.
std::string replaced(std::string_view path, std::size_t prefix, std::string value) {
  const std::string rest(path.substr(prefix));
  while (!rest.empty() && value.ends_with('/')) value.pop_back();
  const std::string result = value + (rest.empty() || rest.starts_with('/') ? "" : "/") + rest;
  return result.starts_with('/') ? result : "/" + result;
}

/// What a path becomes; "refused" where the form is not served.
std::string become(std::string_view expression, std::string_view target, std::string_view path) {
  const auto rewrite = nginx_rewrite(expression, target);
  if (!rewrite) return "refused";
  return rewrite->prefix ? replaced(path, rewrite->prefix_length, rewrite->value) : rewrite->value;
}

TEST(NginxRewrite, MovesPrefixes) {
  EXPECT_EQ(become("/api(/|$)(.*)", "/$2", "/api/users"), "/users");
  EXPECT_EQ(become("/api(/|$)(.*)", "/$2", "/api"), "/");
  EXPECT_EQ(become("/api(/|$)(.*)", "/$2", "/api/"), "/");
  EXPECT_EQ(become("/api(/|$)(.*)", "/new/$2", "/api/users/7"), "/new/users/7");
  EXPECT_EQ(become("/api(/|$)(.*)", "/new$1$2", "/api/users"), "/new/users");
  EXPECT_EQ(become("/api(/|$)(.*)", "/new$1$2", "/api"), "/new");
  EXPECT_EQ(become("/api/(.*)", "/$1", "/api/users"), "/users");
  EXPECT_EQ(become("/api/?(.*)", "/$1", "/apiusers"), "/users");
  EXPECT_EQ(become("/api(/.*)?", "$1", "/api/users"), "/users");
  EXPECT_EQ(become("/api(/.*)", "/v2$1", "/api/users"), "/v2/users");
  EXPECT_EQ(become("/api(.*)", "$1", "/api/users"), "/users");
  EXPECT_EQ(become("/(.*)", "/$1", "/users"), "/users");
  EXPECT_EQ(become("/(.*)", "/app/$1", "/users"), "/app/users");
  EXPECT_EQ(become("/(.*)$", "/app/$1", "/users"), "/app/users");
  EXPECT_EQ(become("^/v1\\.0/(.*)", "/$1", "/v1.0/x"), "/x");
}

TEST(NginxRewrite, ReplacesTheWholePathWithoutGroups) {
  EXPECT_EQ(become("/api", "/", "/api/users"), "/");
  EXPECT_EQ(become("/api(/|$)(.*)", "/fixed", "/api/users"), "/fixed");
}

TEST(NginxRewrite, RefusesWhatItCannotSay) {
  EXPECT_EQ(become("/a/([0-9]+)/(.*)", "/$2/$1", "/a/1/b"), "refused");
  EXPECT_EQ(become("/api(/|$)(.*)", "/$1", "/api/users"), "refused");
  EXPECT_EQ(become("/api/(.*)", "/new$1", "/api/users"), "refused");
  EXPECT_EQ(become("/a[pb]i/(.*)", "/$1", "/api/users"), "refused");
  EXPECT_EQ(become("/\\w+/(.*)", "/$1", "/api/users"), "refused");
  EXPECT_EQ(become("/api/(.*)", "/$host/$1", "/api/users"), "refused");
  EXPECT_EQ(become("/api", "api", "/api"), "refused");
  EXPECT_EQ(become("/api\\", "/$1", "/api"), "refused");
  EXPECT_EQ(become("/caf\xc3\xa9/(.*)", "/$1", "/api"), "refused");
}

}  // namespace
}  // namespace edge::compiler::translate
