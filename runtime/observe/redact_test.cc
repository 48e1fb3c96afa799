#include "runtime/observe/redact.h"

#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "runtime/observe/access_log/line.h"
#include "runtime/observe/access_log/notes.h"

namespace edge::runtime {
namespace {

std::string query(std::string_view text) {
  std::string out(most_redacted(text.size()), '\0');
  out.resize(write_redacted_query(text, out));
  return out;
}

std::string url(std::string_view text) {
  std::string out(most_redacted(text.size()), '\0');
  out.resize(write_redacted_url(text, out));
  return out;
}

TEST(Redact, CredentialsLeaveTheQuery) {
  EXPECT_EQ(query("a=1&access_token=hunter2&b=2"), "a=1&access_token=***&b=2");
  EXPECT_EQ(query("code=abc&state=xyz&page=3"), "code=***&state=***&page=3");
  EXPECT_EQ(query("X-Amz-Signature=deadbeef&X-Amz-Expires=60"), "X-Amz-Signature=***&X-Amz-Expires=60");
  EXPECT_EQ(query("ACCESS%5fTOKEN=hunter2"), "ACCESS%5fTOKEN=***");
  EXPECT_EQ(query("%74oken=hunter2"), "%74oken=***");
  EXPECT_EQ(query("a=1;password=hunter2&b"), "a=1;password=***&b");
  EXPECT_EQ(query("password=hun;ter2&b=1;c"), "password=***&b=1;c");
  EXPECT_EQ(query("client-secret=a=b&api.key=c"), "client-secret=***&api.key=***");
  EXPECT_EQ(query("token="), "token=");
  EXPECT_EQ(query("&&=&"), "&&=&");
  EXPECT_EQ(query(""), "");
}

TEST(Redact, CredentialsLeaveAQueryThatIsAValue) {
  EXPECT_EQ(query("next=/login?token=hunter2&b=2"), "next=/login?token=***&b=2");
  EXPECT_EQ(query("next=%2Flogin%3Fa%3D1%26code%3Dhunter2%26x%3D1&b=2"), "next=%2Flogin%3Fa%3D1%26code%3D***&b=2");
  EXPECT_EQ(query("rd=%252Fa%253Fsid%253Dhunter2"), "rd=%252Fa%253Fsid%253D***");
  EXPECT_EQ(query("u=https%3a%2f%2fa%2fb%23id_token%3dhunter2"), "u=https%3a%2f%2fa%2fb%23id_token%3d***");
  EXPECT_EQ(query("u=a%3Fuser%5Btoken%5D%3Dhunter2"), "u=a%3Fuser%5Btoken%5D%3D***");
  EXPECT_EQ(query("q=a=pin=1"), "q=a=pin=***");
  EXPECT_EQ(query("token%3Dhunter2"), "token%3D***");
  EXPECT_EQ(url("/login?next=%2Fa%3Fstate%3D1"), "/login?next=%2Fa%3Fstate%3D***");
}

TEST(Redact, OddEscapesStay) {
  for (const std::string_view text :
       {"a=%", "a=%2", "a=%25", "a=%2525", "a=%3", "a=%zz", "%=%3D%", "a=100%&b=2", "q=a%3Db"}) {
    EXPECT_EQ(query(text), text);
  }
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
  EXPECT_EQ(url("//user:hunter2@shop.example/"), "//shop.example/");
}

TEST(Redact, AnAddressInAReferrersQueryHidesNothingBeforeIt) {
  EXPECT_EQ(url("/login?token=hunter2&next=https://shop.example/"), "/login?token=***&next=https://shop.example/");
  EXPECT_EQ(url("?token=hunter2&next=//shop.example/"), "?token=***&next=//shop.example/");
}

TEST(Redact, WhatIsCutStaysWithinItsRoom) {
  std::string out(10, 'x');
  EXPECT_EQ(write_redacted_query("a=1&token=hunter2", std::span(out).first(9)), 9U);
  EXPECT_EQ(out, "a=1&tokenx");
  EXPECT_EQ(write_redacted_query("pin=1", std::span(out).first(6)), 6U);
  EXPECT_EQ(out, "pin=**kenx");
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
  // More than lies inside, each as it was.
  notes.keep(Notes::Text::kPath, std::string(5000, 'p'));
  notes.keep(Notes::Text::kUserAgent, std::string(300, 'u'));
  notes.keep(Notes::Text::kHost, std::string(250, 'h'));
  EXPECT_EQ(notes.text(Notes::Text::kPath), std::string(2048, 'p'));
  EXPECT_EQ(notes.text(Notes::Text::kUserAgent), std::string(300, 'u'));
  EXPECT_EQ(notes.text(Notes::Text::kHost), std::string(250, 'h'));
  EXPECT_EQ(notes.text(Notes::Text::kQuery), "token=***&a=1");
}

}  // namespace
}  // namespace edge::runtime
