#include "runtime/session/accept/client_address.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/http1/parse.h"
#include "runtime/phase/request_id.h"

namespace edge::runtime {
namespace {

program::CidrRecord block(const std::string& text) {
  const Cidr cidr = *parse_cidr(text);
  program::CidrRecord record{};
  std::copy(cidr.address.bytes.begin(), cidr.address.bytes.end(), record.address);
  record.prefix_length = cidr.prefix_length;
  return record;
}

std::string client_of(const std::string& peer, const std::vector<std::string>& forwarded) {
  static const std::vector<program::CidrRecord> kProxies = {block("10.0.0.0/9"), block("fd00::/8"), block("192.0.2.7")};
  std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (const std::string& value : forwarded) head += "X-Forwarded-For: " + value + "\r\n";
  head += "\r\n";
  net::http1::RequestHead parsed;
  net::http1::ParseHint hint;
  EXPECT_EQ(net::http1::parse_request(head, {}, hint, parsed).state, net::http1::ParseState::kComplete);
  return to_string(client_address(kProxies, *parse_ip(peer), parsed.fields));
}

TEST(ClientAddress, IsThePeersUnlessATrustedProxySaysOtherwise) {
  EXPECT_EQ(client_of("198.51.100.1", {"1.2.3.4"}), "198.51.100.1");
  EXPECT_EQ(client_of("10.0.0.1", {}), "10.0.0.1");
  EXPECT_EQ(client_of("10.0.0.1", {"1.2.3.4"}), "1.2.3.4");
  EXPECT_EQ(client_of("10.127.0.1", {"1.2.3.4"}), "1.2.3.4");
  EXPECT_EQ(client_of("10.128.0.1", {"1.2.3.4"}), "10.128.0.1") << "outside 10.0.0.0/9";
  EXPECT_EQ(client_of("192.0.2.7", {"1.2.3.4"}), "1.2.3.4");
  EXPECT_EQ(client_of("192.0.2.8", {"1.2.3.4"}), "192.0.2.8");
  EXPECT_EQ(client_of("fd00::1", {"2001:db8::1"}), "2001:db8::1");
}

TEST(ClientAddress, IsTheLastOneThatNoTrustedProxyHas) {
  EXPECT_EQ(client_of("10.0.0.1", {"6.6.6.6, 1.2.3.4, 10.0.0.2"}), "1.2.3.4");
  EXPECT_EQ(client_of("10.0.0.1", {"6.6.6.6", "1.2.3.4, 10.0.0.2", "10.0.0.3"}), "1.2.3.4");
  EXPECT_EQ(client_of("10.0.0.1", {"10.0.0.3, 10.0.0.2"}), "10.0.0.3");
}

TEST(ClientAddress, StopsAtWhatIsNoAddress) {
  EXPECT_EQ(client_of("10.0.0.1", {"1.2.3.4, unknown"}), "10.0.0.1");
  EXPECT_EQ(client_of("10.0.0.1", {"1.2.3.4, nonsense, 10.0.0.2"}), "10.0.0.2");
  EXPECT_EQ(client_of("10.0.0.1", {"1.2.3.4:567"}), "1.2.3.4");
  EXPECT_EQ(client_of("10.0.0.1", {"[2001:db8::1]:567"}), "2001:db8::1");
}

TEST(RequestId, IsAUuidOfVersionSeven) {
  Random random(1);
  RequestId id;
  id.generate(0x0123456789ab, random);
  const std::string text(id.text());
  ASSERT_EQ(text.size(), 36u);
  EXPECT_EQ(text.substr(0, 14), "01234567-89ab-");
  EXPECT_EQ(text[14], '7');
  EXPECT_NE(std::string("89ab").find(text[19]), std::string::npos);
  RequestId other;
  other.generate(0x0123456789ab, random);
  EXPECT_NE(other.text(), text);
}

TEST(RequestId, KeepsOnlyWhatIsShortAndVisible) {
  RequestId id;
  EXPECT_TRUE(id.keep("abc-1"));
  EXPECT_EQ(id.text(), "abc-1");
  EXPECT_FALSE(id.keep(""));
  EXPECT_FALSE(id.keep("a b"));
  EXPECT_FALSE(id.keep(std::string(65, 'a')));
  EXPECT_TRUE(id.keep(std::string(64, 'a')));
}

}  // namespace
}  // namespace edge::runtime
