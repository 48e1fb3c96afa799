#include "runtime/upstream/balance/affinity.h"

#include <gtest/gtest.h>

#include "base/ip.h"
#include "net/http1/parse.h"

namespace edge::runtime {
namespace {

using program::SessionSettings;

class AffinityTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kNow = 1'800'000'000;

  AffinityTest() : keys_(net::tls::SealingKeys::derive(std::string(32, 'k'), {}).value()) {
    settings_.name = "sticky";
    settings_.path = "/shop";
    endpoint_.backend_id = 7;
    endpoint_.address = {*parse_ip("10.1.2.3"), 8080};
  }

  Affinity of(const std::string& lines, std::uint64_t now = kNow, bool secure = false) {
    std::string text = "GET / HTTP/1.1\r\nHost: a" + lines + "\r\n\r\n";
    net::http1::RequestHead head;
    net::http1::ParseHint hint;
    EXPECT_EQ(net::http1::parse_request(text, {}, hint, head).state, net::http1::ParseState::kComplete);
    return Affinity(settings_, keys_, head.fields, now, secure);
  }
  /// What the client sends back for a Set-Cookie line.
  static std::string cookie(std::string_view line) {
    line.remove_prefix(line.find(": ") + 2);
    return "\r\nCookie: a=b; " + std::string(line.substr(0, line.find(';')));
  }

  net::tls::SealingKeys keys_;
  SessionSettings settings_;
  SessionEndpoint endpoint_;
};

TEST_F(AffinityTest, ACookieBringsTheClientBack) {
  const std::string line = of("").line(endpoint_);
  EXPECT_TRUE(line.starts_with("Set-Cookie: sticky=")) << line;
  EXPECT_TRUE(line.ends_with("; Path=/shop; HttpOnly; SameSite=Lax\r\n")) << line;
  EXPECT_EQ(line.find("10.1.2.3"), std::string::npos);
  const Affinity back = of(cookie(line), kNow + 1000);
  ASSERT_TRUE(back.remembered());
  EXPECT_EQ(*back.remembered(), endpoint_);
  EXPECT_EQ(back.line(endpoint_), "") << "the client has it";
  SessionEndpoint other = endpoint_;
  other.address.port = 81;
  EXPECT_NE(back.line(other), "") << "another endpoint answered";
  EXPECT_NE(of("", kNow, true).line(endpoint_).find("; Secure"), std::string::npos);
}

TEST_F(AffinityTest, AStrangersValueOpensToNothing) {
  std::string sent = cookie(of("").line(endpoint_));
  EXPECT_FALSE(of("\r\nCookie: sticky=10.1.2.3:8080").remembered());
  EXPECT_FALSE(of("\r\nCookie: sticky=" + std::string(4000, 'A')).remembered());
  for (std::size_t i = sent.find("sticky=") + 7; i + 1 < sent.size(); ++i) {
    std::string torn = sent;
    torn[i] = torn[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(of(torn).remembered()) << i;
  }
  // Of another name, as another rule has it.
  settings_.name = "stick2";
  EXPECT_FALSE(of(sent.replace(sent.find("sticky"), 6, "stick2")).remembered());
}

TEST_F(AffinityTest, TheFirstThatOpensCountsAmongAFew) {
  const std::string sent = cookie(of("").line(endpoint_));
  EXPECT_TRUE(of("\r\nCookie: sticky=x; sticky=y; sticky=z" + sent).remembered());
  EXPECT_FALSE(of("\r\nCookie: sticky=x; sticky=y; sticky=z; sticky=w" + sent).remembered());
}

TEST_F(AffinityTest, SessionsEndByTheirTimeouts) {
  settings_.timeout_s = 100;
  settings_.idle_s = 10;
  settings_.cookie_age_s = 100;
  const std::string first = of("").line(endpoint_);
  EXPECT_NE(first.find("; Max-Age=100;"), std::string::npos) << first;
  EXPECT_TRUE(of(cookie(first), kNow + 9).remembered());
  EXPECT_FALSE(of(cookie(first), kNow + 10).remembered());
  // Each answer has the time of the last request.
  std::string sent = cookie(first);
  std::uint64_t now = kNow;
  for (int i = 0; i < 11; ++i) {
    now += 9;
    const std::string next = of(sent, now).line(endpoint_);
    ASSERT_NE(next, "");
    EXPECT_NE(next.find("; Max-Age=" + std::to_string(100 - (now - kNow)) + ";"), std::string::npos) << next;
    sent = cookie(next);
  }
  EXPECT_TRUE(of(sent, kNow + 99).remembered());
  EXPECT_FALSE(of(sent, kNow + 100).remembered());
  // A clock that runs behind ours.
  EXPECT_TRUE(of(cookie(first), kNow - 5).remembered());
}

TEST_F(AffinityTest, AHeaderCarriesItAsWell) {
  settings_.name = "x-session";
  settings_.by_header = true;
  const std::string line = of("").line(endpoint_);
  EXPECT_TRUE(line.starts_with("x-session: "));
  EXPECT_TRUE(of("\r\nX-Session" + line.substr(9, line.size() - 11)).remembered());
}

}  // namespace
}  // namespace edge::runtime
