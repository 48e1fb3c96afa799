#include "net/proxy_protocol.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace edge::net {
namespace {

using State = ProxyHeaderState;
using namespace std::string_literals;

SocketAddress at(std::string_view address, std::uint16_t port) { return {*parse_ip(address), port}; }

std::string text(const SocketAddress& end) { return to_string(end.address) + " " + std::to_string(end.port); }

/// What a header says, or how reading it ended.
std::string read(std::string_view bytes) {
  ProxyHeader header;
  switch (parse_proxy_header(bytes, header)) {
    case State::kIncomplete:
      return "incomplete";
    case State::kFault:
      return "fault";
    case State::kComplete:
      break;
  }
  const std::string size = std::to_string(header.size) + ": ";
  return size + (header.ends ? text(header.ends->source) + " to " + text(header.ends->destination) : "own");
}

/// Of version 2. `size`: what the header says follows; by default what does.
std::string v2(char command, char family, const std::string& rest, std::optional<std::size_t> size = std::nullopt) {
  const std::size_t said = size.value_or(rest.size());
  return "\r\n\r\n\0\r\nQUIT\n"s + command + family + static_cast<char>(said >> 8) + static_cast<char>(said & 0xff) +
         rest;
}

const std::string kV4 = "\x0a\1\2\3\x0a\0\0\1\x1f\x90\1\xbb"s;
const std::string kV6 =
    "\x20\1\x0d\xb8"s + std::string(11, '\0') + "\1" + "\xfd"s + std::string(14, '\0') + "\2" + "\xc0\0\0\x50"s;

TEST(ProxyProtocol, OfVersion1IsALine) {
  EXPECT_EQ(read("PROXY TCP4 10.1.2.3 10.0.0.1 8080 443\r\nGET /"), "39: 10.1.2.3 8080 to 10.0.0.1 443");
  EXPECT_EQ(read("PROXY TCP6 2001:db8::1 fd00::2 49152 80\r\n"), "41: 2001:db8::1 49152 to fd00::2 80");
  EXPECT_EQ(read("PROXY UNKNOWN\r\n"), "15: own");
  EXPECT_EQ(read("PROXY UNKNOWN whatever it says 1 2\r\n"), "36: own");
}

TEST(ProxyProtocol, OfVersion1IsReadStrictly) {
  for (const char* line : {
           "PROXY TCP4 10.1.2.3 10.0.0.1 8080 443\n",
           "PROXY TCP4  10.1.2.3 10.0.0.1 8080 443\r\n",
           "PROXY TCP4 10.1.2.3 10.0.0.1 8080 443 \r\n",
           "PROXY TCP4 10.1.2.3 10.0.0.1 08080 443\r\n",
           "PROXY TCP4 10.1.2.3 10.0.0.1 65536 443\r\n",
           "PROXY TCP4 10.1.2.3 10.0.0.1 -1 443\r\n",
           "PROXY TCP4 10.1.2.3 10.0.0.1 8080\r\n",
           "PROXY TCP4 10.1.2 10.0.0.1 8080 443\r\n",
           "PROXY TCP4 fd00::1 10.0.0.1 8080 443\r\n",
           "PROXY TCP6 10.1.2.3 fd00::1 8080 443\r\n",
           "PROXY UDP4 10.1.2.3 10.0.0.1 8080 443\r\n",
           "PROXY \r\n",
           "PROXY\r\n",
           "proxy TCP4 10.1.2.3 10.0.0.1 8080 443\r\n",
           "GET / HTTP/1.1\r\n",
           "\n",
       }) {
    EXPECT_EQ(read(line), "fault") << line;
  }
}

TEST(ProxyProtocol, ALineHasALimit) {
  const std::string start = "PROXY UNKNOWN ";
  const auto line = [&](std::size_t size) { return start + std::string(size - start.size() - 2, 'x') + "\r\n"; };
  EXPECT_EQ(read(line(kMaxProxyLine - 1)), "106: own");
  EXPECT_EQ(read(line(kMaxProxyLine)), "107: own");
  EXPECT_EQ(read(line(kMaxProxyLine + 1)), "fault");
  EXPECT_EQ(read(line(kMaxProxyLine + 1).substr(0, kMaxProxyLine - 1)), "incomplete");
}

TEST(ProxyProtocol, OfVersion2IsBinary) {
  EXPECT_EQ(read(v2('\x21', '\x11', kV4)), "28: 10.1.2.3 8080 to 10.0.0.1 443");
  EXPECT_EQ(read(v2('\x21', '\x21', kV6)), "52: 2001:db8::1 49152 to fd00::2 80");
  // Type-length-values behind the addresses are passed over.
  EXPECT_EQ(read(v2('\x21', '\x11', kV4 + "\4\0\2ab"s) + "rest"), "33: 10.1.2.3 8080 to 10.0.0.1 443");
}

TEST(ProxyProtocol, ASenderMaySpeakForItself) {
  EXPECT_EQ(write_own_proxy_header(ProxyVersion::kV1), "PROXY UNKNOWN\r\n");
  EXPECT_EQ(write_own_proxy_header(ProxyVersion::kV2), v2('\x20', '\x00', ""));
}

TEST(ProxyProtocol, OfVersion2MayTellNothing) {
  EXPECT_EQ(read(v2('\x20', '\x00', "")), "16: own");
  // What a local connection says of addresses is not believed.
  EXPECT_EQ(read(v2('\x20', '\x11', kV4)), "28: own");
  EXPECT_EQ(read(v2('\x21', '\x00', "xyz")), "19: own");
  EXPECT_EQ(read(v2('\x21', '\x31', std::string(216, 'u'))), "232: own");
}

TEST(ProxyProtocol, OfVersion2IsReadStrictly) {
  EXPECT_EQ(read(v2('\x11', '\x11', kV4)), "fault");  // version
  EXPECT_EQ(read(v2('\x22', '\x11', kV4)), "fault");  // command
  EXPECT_EQ(read(v2('\x21', '\x41', kV4)), "fault");  // family
  EXPECT_EQ(read(v2('\x21', '\x12', kV4)), "fault");  // datagrams
  EXPECT_EQ(read(v2('\x21', '\x13', kV4)), "fault");
  EXPECT_EQ(read(v2('\x21', '\x11', kV4.substr(1))), "fault");
  EXPECT_EQ(read(v2('\x21', '\x21', kV6.substr(1))), "fault");
}

TEST(ProxyProtocol, OfVersion2HasALimit) {
  const auto header = [](std::size_t size) { return v2('\x21', '\x11', kV4 + std::string(size - 28, 't')); };
  EXPECT_EQ(read(header(kMaxProxyHeader - 1)), "4095: 10.1.2.3 8080 to 10.0.0.1 443");
  EXPECT_EQ(read(header(kMaxProxyHeader)), "4096: 10.1.2.3 8080 to 10.0.0.1 443");
  // Known by the length alone, before it is waited for.
  EXPECT_EQ(read(header(kMaxProxyHeader + 1).substr(0, 16)), "fault");
}

TEST(ProxyProtocol, TornAtEveryByteItIsIncomplete) {
  for (const std::string& whole : {"PROXY TCP4 10.1.2.3 10.0.0.1 8080 443\r\n"s, v2('\x21', '\x21', kV6 + "tlvs")}) {
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_EQ(read(whole.substr(0, size)), "incomplete") << size;
    EXPECT_EQ(read(whole), read(whole + "x"));
  }
}

TEST(ProxyProtocol, WhatIsWrittenIsRead) {
  for (const ProxyVersion version : {ProxyVersion::kV1, ProxyVersion::kV2}) {
    const std::string v4 = write_proxy_header(version, at("10.1.2.3", 8080), at("10.0.0.1", 443));
    EXPECT_EQ(read(v4), std::to_string(v4.size()) + ": 10.1.2.3 8080 to 10.0.0.1 443");
    const std::string v6 = write_proxy_header(version, at("2001:db8::1", 1), at("fd00::2", 65535));
    EXPECT_EQ(read(v6), std::to_string(v6.size()) + ": 2001:db8::1 1 to fd00::2 65535");
  }
  EXPECT_EQ(write_proxy_header(ProxyVersion::kV1, at("10.1.2.3", 8080), at("10.0.0.1", 443)),
            "PROXY TCP4 10.1.2.3 10.0.0.1 8080 443\r\n");
  EXPECT_EQ(write_proxy_header(ProxyVersion::kV2, at("10.1.2.3", 8080), at("10.0.0.1", 443)),
            v2('\x21', '\x11', kV4.substr(0, 4) + kV4.substr(4)));
}

TEST(ProxyProtocol, TwoFamiliesAreOneInVersion2) {
  const SocketAddress v4 = at("10.1.2.3", 8080);
  const SocketAddress v6 = at("fd00::2", 443);
  EXPECT_EQ(read(write_proxy_header(ProxyVersion::kV1, v4, v6)), "15: own");
  EXPECT_EQ(read(write_proxy_header(ProxyVersion::kV2, v4, v6)), "52: 10.1.2.3 8080 to fd00::2 443");
}

}  // namespace
}  // namespace edge::net
