#include "runtime/observe/redact.h"

#include <gtest/gtest.h>

#include "runtime/observe/log_line.h"
#include "runtime/observe/notes.h"

namespace edge::runtime {
namespace {

std::string query(std::string_view text) {
  std::string out;
  append_redacted_query(text, out);
  return out;
}

std::string url(std::string_view text) {
  std::string out;
  append_redacted_url(text, out);
  return out;
}

TEST(Redact, CredentialsLeaveTheQuery) {
  EXPECT_EQ(query("a=1&access_token=hunter2&b=2"), "a=1&access_token=***&b=2");
  EXPECT_EQ(query("code=abc&state=xyz&page=3"), "code=***&state=***&page=3");
  EXPECT_EQ(query("X-Amz-Signature=deadbeef&X-Amz-Expires=60"), "X-Amz-Signature=***&X-Amz-Expires=60");
  EXPECT_EQ(query("ACCESS%5fTOKEN=hunter2"), "ACCESS%5fTOKEN=***");
  EXPECT_EQ(query("%74oken=hunter2"), "%74oken=***");
  EXPECT_EQ(query("a=1;password=hunter2;b"), "a=1;password=***;b");
  EXPECT_EQ(query("client-secret=a=b&api.key=c"), "client-secret=***&api.key=***");
  EXPECT_EQ(query("token="), "token=");
  EXPECT_EQ(query("&&=&"), "&&=&");
  EXPECT_EQ(query(""), "");
}

TEST(Redact, OtherParametersStay) {
  for (const std::string_view text : {"keyword=tea", "encode=1", "country_code=de", "estate=1", "page=2&sort=-price"}) {
    EXPECT_EQ(query(text), text);
  }
}

TEST(Redact, AReferrerLosesUserAndFragment) {
  EXPECT_EQ(url("https://user:hunter2@shop.example/a?code=abc#token"), "https://shop.example/a?code=***");
  EXPECT_EQ(url("https://shop.example?x=a@b"), "https://shop.example?x=a@b");
  EXPECT_EQ(url("/local?sid=7"), "/local?sid=***");
  EXPECT_EQ(url("https://a@b@c/"), "https://c/");
}

TEST(Notes, TextsAreKeptCutAndRedacted) {
  const LogFormat format("json");
  const program::GatewayRecord gateway{};
  Notes notes(format, gateway);
  notes.keep(Notes::Text::kQuery, "token=hunter2&a=1");
  notes.keep(Notes::Text::kMethod, std::string(100, 'M'));
  notes.keep(Notes::Text::kReferer, "http://x/?state=1");
  EXPECT_EQ(notes.text(Notes::Text::kQuery), "token=***&a=1");
  EXPECT_EQ(notes.text(Notes::Text::kMethod), std::string(32, 'M'));
  EXPECT_EQ(notes.text(Notes::Text::kReferer), "http://x/?state=***");
  EXPECT_EQ(notes.text(Notes::Text::kPath), "");
}

}  // namespace
}  // namespace edge::runtime
