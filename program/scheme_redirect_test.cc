#include "program/scheme_redirect.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "program/section_builder.h"

namespace edge::program {
namespace {

struct Settings {
  std::string scheme = "https";
  std::uint32_t status = 301;
  std::uint32_t port = 443;
  std::vector<std::string> exclusions{};
};

/// `301 https://...`, or empty where the request is served as it is.
std::string redirected(const Settings& settings, const PlainRequest& request) {
  SectionBuilder builder(sizeof(ListenersHeader));
  std::vector<StringRef> exclusions;
  for (const std::string& text : settings.exclusions) exclusions.push_back(builder.string(text));
  const SchemeRedirectRecord record{builder.string(settings.scheme), settings.status, settings.port,
                                    builder.array(exclusions)};
  const std::vector<std::byte> bytes = std::move(builder).finish(ListenersHeader{});
  const auto to = scheme_redirect(SectionView(bytes), record, request);
  return to ? std::to_string(to->status) + " " + to->location : std::string();
}

TEST(SchemeRedirect, KeepsPathAndQueryAsTheyWereSent) {
  EXPECT_EQ(redirected({}, {"a.example:8080", "/x/%7Ey/../z", "/x/z", "q=1&r", true}),
            "301 https://a.example/x/%7Ey/../z?q=1&r");
  EXPECT_EQ(redirected({}, {"a.example", "/", "/", "", true}), "301 https://a.example/?");
  EXPECT_EQ(redirected({}, {"[2001:db8::1]:80", "/", "/", "", false}), "301 https://[2001:db8::1]/");
  EXPECT_EQ(redirected({}, {"a.example", "*", "*", "", false}), "301 https://a.example");
}

TEST(SchemeRedirect, ShowsAPortThatIsNotTheSchemes) {
  EXPECT_EQ(redirected({.status = 302, .port = 8443}, {"a.example", "/", "/", "", false}),
            "302 https://a.example:8443/");
  EXPECT_EQ(redirected({.port = 80}, {"a.example", "/", "/", "", false}), "301 https://a.example:80/");
}

TEST(SchemeRedirect, ExcludesPathsAndPrefixes) {
  const Settings settings{.exclusions = {"/health", "/.well-known/"}};
  const auto at = [&](std::string_view sent, std::string_view normal) {
    return redirected(settings, {"a", sent, normal, "", false}).empty();
  };
  EXPECT_TRUE(at("/health", "/health"));
  EXPECT_FALSE(at("/health/", "/health/"));
  EXPECT_FALSE(at("/healthz", "/healthz"));
  EXPECT_TRUE(at("/.well-known/acme", "/.well-known/acme"));
  EXPECT_TRUE(at("/.well-known/", "/.well-known/"));
  EXPECT_FALSE(at("/.well-known", "/.well-known"));
  EXPECT_FALSE(at("/.well-known/../secret", "/secret")) << "what is served is what counts";
}

}  // namespace
}  // namespace edge::program
