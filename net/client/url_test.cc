#include "net/client/url.h"

#include <gtest/gtest.h>

namespace edge::net::client {
namespace {

TEST(Url, HasItsPartsInOneForm) {
  const Result<Url> url = parse_url("HTTPS://Example.COM./a/b?c=d&e");
  ASSERT_TRUE(url.ok());
  EXPECT_TRUE(url->secure);
  EXPECT_EQ(url->host, "example.com");
  EXPECT_EQ(url->port, 443);
  EXPECT_EQ(url->target, "/a/b?c=d&e");
  EXPECT_EQ(url->authority(), "example.com");
  EXPECT_EQ(url->origin(), "https://example.com");
}

TEST(Url, NamesAPortWhereItIsNotTheSchemes) {
  EXPECT_EQ(parse_url("http://a:8080")->origin(), "http://a:8080");
  EXPECT_EQ(parse_url("http://a:80/")->origin(), "http://a");
  EXPECT_EQ(parse_url("https://a:80/")->authority(), "a:80");
}

TEST(Url, TakesAddresses) {
  EXPECT_EQ(parse_url("http://10.0.0.1:81/x")->host, "10.0.0.1");
  const Result<Url> url = parse_url("http://[fd00::1]:81/x");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->host, "fd00::1");
  EXPECT_EQ(url->port, 81);
  EXPECT_EQ(url->authority(), "[fd00::1]:81");
}

TEST(Url, ATargetBeginsWithASlash) {
  EXPECT_EQ(parse_url("http://a")->target, "/");
  EXPECT_EQ(parse_url("http://a?q")->target, "/?q");
}

TEST(Url, RefusesWhatItIsNot) {
  const std::string long_text = "http://a/" + std::string(kMaxUrlBytes, 'x');
  for (const std::string& text : {std::string("ftp://a/"),
                                  std::string("a/b"),
                                  std::string("//a"),
                                  std::string("http:///x"),
                                  std::string("http://"),
                                  std::string("http://user@a/"),
                                  std::string("http://u:p@a/"),
                                  std::string("http://a/#f"),
                                  std::string("http://a b/"),
                                  std::string("http://a:0/"),
                                  std::string("http://a:65536/"),
                                  std::string("http://a:/"),
                                  std::string("http://a:8x/"),
                                  std::string("http://[::1/"),
                                  std::string("http://[a]/"),
                                  std::string("http://a\\b/"),
                                  std::string("http://a/\r\nX: y"),
                                  std::string("http://a/\x01"),
                                  std::string("http://\xc3\xa4/"),
                                  long_text}) {
    EXPECT_FALSE(parse_url(text).ok()) << text;
  }
}

TEST(Url, AnErrorQuotesNothing) {
  EXPECT_EQ(parse_url("http://name:password@host/").error().text.find("password"), std::string::npos);
}

}  // namespace
}  // namespace edge::net::client
