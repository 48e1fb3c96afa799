#include "runtime/session/accept/client_hello.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

using namespace std::string_literals;

std::string number(std::size_t value, int bytes) {
  std::string text;
  while (bytes-- > 0) text.push_back(static_cast<char>(value >> (8 * bytes) & 0xff));
  return text;
}

std::string sized(const std::string& text, int bytes) { return number(text.size(), bytes) + text; }

std::string extension(unsigned type, const std::string& body) { return number(type, 2) + sized(body, 2); }

std::string name_entry(const std::string& name, char type = '\0') { return type + sized(name, 2); }

std::string server_name(const std::string& name) { return extension(0, sized(name_entry(name), 2)); }

/// A message with these extensions; none at all when `extensions` is "-".
std::string hello(const std::string& extensions, const std::string& session = std::string(32, 's')) {
  std::string body =
      "\3\3"s + std::string(32, 'r') + sized(session, 1) + sized("\x13\x01\x0a\x0a"s, 2) + sized("\0"s, 1);
  if (extensions != "-") body += sized(extensions, 2);
  return "\1"s + sized(body, 3);
}

/// The message in records of at most `most` bytes.
std::string records(const std::string& message, std::size_t most = 16384) {
  std::string bytes;
  for (std::size_t at = 0; at < message.size(); at += most) bytes += "\x16\3\1"s + sized(message.substr(at, most), 2);
  return bytes;
}

/// The name that is asked for, or how reading it ended.
std::string read(const std::string& bytes) {
  ClientHello out;
  switch (parse_client_hello(bytes, out)) {
    case HelloState::kIncomplete:
      return "incomplete";
    case HelloState::kFault:
      return "fault";
    case HelloState::kComplete:
      break;
  }
  return "name " + std::string(out.server_name());
}

// GREASE (RFC 8701), ALPN, ECH with an outer name, padding.
const std::string kBrowser = extension(0x0a0a, "") + server_name("WWW.Shop.test") +
                             extension(16, sized(sized("h2", 1) + sized("http/1.1", 1), 2)) +
                             extension(0xfe0d, std::string(200, 'e')) + extension(21, std::string(300, '\0'));

TEST(ClientHello, TellsTheNameThatIsAskedFor) {
  EXPECT_EQ(read(records(hello(kBrowser))), "name www.shop.test");
  EXPECT_EQ(read(records(hello(server_name("a.test."), ""))), "name a.test");
  EXPECT_EQ(read(records(hello(server_name("a.test"))) + "more"), "name a.test");
}

TEST(ClientHello, MayAskForNone) {
  EXPECT_EQ(read(records(hello("-"))), "name ");
  EXPECT_EQ(read(records(hello(""))), "name ");
  EXPECT_EQ(read(records(hello(extension(16, sized(sized("h2", 1), 2))))), "name ");
  // A name of another type.
  EXPECT_EQ(read(records(hello(extension(0, sized(name_entry("x", '\7'), 2))))), "name ");
  EXPECT_EQ(read(records(hello(extension(0, sized(name_entry("x", '\7') + name_entry("a.test"), 2))))), "name a.test");
}

TEST(ClientHello, ComesInAnyNumberOfRecords) {
  const std::string message = hello(kBrowser);
  for (std::size_t most = 1; most <= message.size(); ++most) {
    const std::string bytes = records(message, most);
    EXPECT_EQ(read(bytes), bytes.size() <= kMaxClientHello ? "name www.shop.test" : "fault") << most;
  }
}

TEST(ClientHello, TornAtEveryByteItIsIncomplete) {
  for (const std::size_t most : {std::size_t{16384}, std::size_t{7}}) {
    const std::string bytes = records(hello(kBrowser), most);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(read(bytes.substr(0, size)), "incomplete") << size << " of records of " << most;
    }
  }
}

TEST(ClientHello, IsReadStrictly) {
  const std::string whole = records(hello(kBrowser));
  const auto with = [&](std::size_t at, char byte) {
    std::string bytes = whole;
    bytes[at] = byte;
    return bytes;
  };
  EXPECT_EQ(read(with(0, '\x17')), "fault");    // no handshake
  EXPECT_EQ(read(with(1, '\2')), "fault");      // no TLS
  EXPECT_EQ(read(with(5, '\2')), "fault");      // a ServerHello
  EXPECT_EQ(read(with(9, '\2')), "fault");      // its version
  EXPECT_EQ(read("\x16\3\1\0\0"s), "fault");    // an empty record
  EXPECT_EQ(read("\x16\3\1\x40\1"s), "fault");  // a record too long
  EXPECT_EQ(read("GET / HTTP/1.1\r\n\r\n"), "fault");
  EXPECT_EQ(read("\x80\x2e\1\3\1"s), "fault");  // SSL 2
  EXPECT_EQ(read(records(hello(kBrowser, std::string(33, 's')))), "fault");
  EXPECT_EQ(read(records(hello(server_name("a.test")).substr(0, 20)) + "\x15\3\1\0\2\2\0"s),
            "fault");  // an alert within
}

TEST(ClientHello, NamesHaveOneMeaning) {
  EXPECT_EQ(read(records(hello(server_name("a.test") + server_name("b.test")))), "fault");
  EXPECT_EQ(read(records(hello(extension(0, sized(name_entry("a.test") + name_entry("b.test"), 2))))), "fault");
  EXPECT_EQ(read(records(hello(extension(0, sized(name_entry("a.test"), 2) + "x")))), "fault");
  EXPECT_EQ(read(records(hello(extension(0, "")))), "fault");
  EXPECT_EQ(read(records(hello(extension(0, number(0, 2))))), "fault");
  for (const std::string& name :
       {""s, "a..test"s, "a.test:443"s, "a.test\0b"s, "a test"s, "a@b"s, "[::1]"s, std::string(256, 'a')}) {
    EXPECT_EQ(read(records(hello(server_name(name)))), "fault") << name;
  }
}

TEST(ClientHello, LengthsMustMeet) {
  const std::string message = hello(kBrowser);
  for (std::size_t at = 1; at < message.size(); ++at) {
    // Whatever byte is changed: it is read in bounds, and never taken for a longer one than it says.
    for (const char byte : {'\0', '\1', '\x7f', '\xff'}) {
      std::string changed = message;
      changed[at] = byte;
      const std::string found = read(records(changed));
      EXPECT_TRUE(found == "fault" || found == "incomplete" || found.starts_with("name ")) << at;
    }
  }
  std::string longer = message;
  longer[3] = static_cast<char>(longer[3] + 1);
  EXPECT_EQ(read(records(longer + "x")), "fault");
  EXPECT_EQ(read(records(longer)), "fault");
}

TEST(ClientHello, HasALimit) {
  const std::size_t empty = records(hello(extension(21, ""))).size();
  const auto padded = [&](std::size_t size) { return records(hello(extension(21, std::string(size - empty, '\0')))); };
  EXPECT_EQ(padded(kMaxClientHello).size(), kMaxClientHello);
  EXPECT_EQ(read(padded(kMaxClientHello - 1)), "name ");
  EXPECT_EQ(read(padded(kMaxClientHello)), "name ");
  EXPECT_EQ(read(padded(kMaxClientHello + 1)), "fault");
  // Known by the length alone, before it is waited for.
  EXPECT_EQ(read(padded(kMaxClientHello + 1).substr(0, 9)), "fault");
}

}  // namespace
}  // namespace edge::runtime
