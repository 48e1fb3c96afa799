#include "agent/wan/stamp.h"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace edge::agent::wan {
namespace {

const std::string kKey(32, 'k');
constexpr StampTime kSent{.nanoseconds = 1'790'000'000'123'456'789, .synchronized = true};

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<std::uint8_t>(c) >> 4U];
    out += kDigits[static_cast<std::uint8_t>(c) & 15U];
  }
  return out;
}

StampReply reply() {
  return {.number = 7,
          .sent = {.nanoseconds = 1'790'000'000'500'000'000},
          .received = {.nanoseconds = 1'790'000'000'400'000'001},
          .query = {.number = 9, .sent = kSent, .session = 0x1234},
          .ttl = 63};
}

TEST(Stamp, AnOpenQueryHasTheLayoutOfRfc8762) {
  // Section 4.2.1: number, NTP time, error estimate; SSID of RFC 8972 behind it; zeros.
  const std::string packet =
      write_query({.number = 0x01020304, .sent = {.nanoseconds = 500'000'000}, .session = 0xabcd}, "");
  EXPECT_EQ(hex(packet.substr(0, 16)),
            "01020304"
            "83aa7e8080000000"
            "1401"
            "abcd");
  EXPECT_EQ(packet.substr(16), std::string(28, '\0'));
}

TEST(Stamp, RepliesAreAsLongAsQueries) {
  EXPECT_EQ(write_query({}, "").size(), 44U);
  EXPECT_EQ(write_reply({}, "", "").size(), 44U);
  EXPECT_EQ(write_query({}, kKey).size(), 112U);
  EXPECT_EQ(write_reply({}, "", kKey).size(), 112U);
  EXPECT_EQ(write_reply({}, "tlv", kKey).substr(112), "tlv");
}

TEST(Stamp, PacketsAreReadAsWritten) {
  for (const std::string& key : {std::string(), kKey}) {
    const auto query = read_query(write_query({.number = 9, .sent = kSent, .session = 0x1234}, key), key);
    ASSERT_TRUE(query);
    EXPECT_EQ(query->number, 9U);
    EXPECT_EQ(query->sent.nanoseconds, kSent.nanoseconds);
    EXPECT_TRUE(query->sent.synchronized);
    EXPECT_EQ(query->session, 0x1234);

    const auto read = read_reply(write_reply(reply(), "", key), key);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->number, 7U);
    EXPECT_EQ(read->sent.nanoseconds, reply().sent.nanoseconds);
    EXPECT_FALSE(read->sent.synchronized);
    EXPECT_EQ(read->received.nanoseconds, reply().received.nanoseconds);
    EXPECT_EQ(read->query.number, 9U);
    EXPECT_EQ(read->query.sent.nanoseconds, kSent.nanoseconds);
    EXPECT_EQ(read->query.session, 0x1234);
    EXPECT_EQ(read->ttl, 63);
  }
}

TEST(Stamp, TimesOfPtpAndOfNtpsNextEraAreRead) {
  std::string packet = write_query({}, "");
  // 16 s and 5 ns since 1970, with Z set.
  packet.replace(4, 10, std::string("\0\0\0\x10\0\0\0\x05\x54\x01", 10));
  EXPECT_EQ(read_query(packet, "")->sent.nanoseconds, 16'000'000'005);
  // The first second of the era that begins on 2036-02-07.
  packet.replace(4, 10, std::string("\0\0\0\0\0\0\0\0\x14\x01", 10));
  EXPECT_EQ(read_query(packet, "")->sent.nanoseconds, 2'085'978'496'000'000'000);
}

TEST(Stamp, AnyChangeOfAnAuthenticatedPacketIsFound) {
  const std::string packet = write_reply(reply(), "", kKey);
  for (std::size_t at = 0; at < packet.size(); ++at) {
    std::string changed = packet;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(read_reply(changed, kKey)) << at;
  }
  EXPECT_FALSE(read_reply(packet, std::string(32, 'x')));
}

TEST(Stamp, PacketsOfOtherLengthsAreIgnored) {
  const std::string open = write_query({}, "");
  const std::string authenticated = write_query({}, kKey);
  for (std::size_t size = 0; size < open.size(); ++size) EXPECT_FALSE(read_query(open.substr(0, size), ""));
  for (std::size_t size = 0; size < authenticated.size(); ++size) {
    EXPECT_FALSE(read_query(authenticated.substr(0, size), kKey));
  }
  EXPECT_TRUE(read_query(open + std::string(kStampLongest - open.size(), 'p'), ""));
  EXPECT_FALSE(read_query(open + std::string(kStampLongest - open.size() + 1, 'p'), ""));
}

TEST(Stamp, TheHmacIsThatOfTheLibrary) {
  for (const std::string& key : {std::string(32, 'k'), std::string(64, '\xff'), std::string(1, 'x')}) {
    const std::string packet = write_query({.number = 7, .sent = {.nanoseconds = 1'700'000'000'123'456'789}}, key);
    std::array<unsigned char, 64> mac{};
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(packet.data()),
         96, mac.data(), &size);
    EXPECT_EQ(packet.substr(96, 16), std::string(mac.begin(), mac.begin() + 16));
  }
}

}  // namespace
}  // namespace edge::agent::wan
