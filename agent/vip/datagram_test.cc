#include "agent/vip/datagram.h"

#include <gtest/gtest.h>

namespace edge::agent::vip {
namespace {

constexpr std::string_view kKey = "a key that all agents have";

Word some_word() {
  return {.node = "edge-1",
          .instance = 7,
          .number = 1'000'000'000'000,
          .drained = true,
          .leaving = false,
          .addresses = {{.id = 1, .serves = Serves::kFull, .epoch = 3, .offered_to = "edge-2", .moved = true},
                        {.id = 9, .serves = Serves::kPartly, .epoch = 0, .offered_to = {}},
                        {.id = ~std::uint64_t{0}, .serves = Serves::kNone, .epoch = 1, .offered_to = "edge-2"}}};
}

TEST(Datagram, ComesBackAsItWas) {
  const Word word = some_word();
  const auto read = read_datagram(write_datagram(word, kKey), kKey);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->node, word.node);
  EXPECT_EQ(read->instance, word.instance);
  EXPECT_EQ(read->number, word.number);
  EXPECT_TRUE(read->drained);
  EXPECT_FALSE(read->leaving);
  EXPECT_EQ(read->addresses, word.addresses);
}

TEST(Datagram, OfAnotherKeyOrWithAnotherByteIsNone) {
  const std::string datagram = write_datagram(some_word(), kKey);
  EXPECT_FALSE(read_datagram(datagram, "another key"));
  EXPECT_FALSE(read_datagram(datagram, ""));
  for (std::size_t i = 0; i < datagram.size(); ++i) {
    std::string other = datagram;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_FALSE(read_datagram(other, kKey)) << i;
    EXPECT_FALSE(read_datagram(datagram.substr(0, i), kKey)) << i;
  }
  EXPECT_FALSE(read_datagram(datagram + "x", kKey));
}

TEST(Datagram, AsMuchAsThereMayBeFits) {
  Word word{.node = std::string(kMaxNodeName, 'n'), .addresses = {}};
  for (std::size_t i = 0; i < kMaxAddresses; ++i) {
    const std::string to = std::string(kMaxNodeName - 4, 'x') + std::to_string(i % kMaxOffered);
    word.addresses.push_back({.id = i, .serves = Serves::kFull, .epoch = 1, .offered_to = to});
  }
  const std::string datagram = write_datagram(word, kKey);
  EXPECT_LE(datagram.size(), kMaxDatagram);
  const auto read = read_datagram(datagram, kKey);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->addresses, word.addresses);
  word.addresses.push_back({.id = kMaxAddresses, .offered_to = {}});
  EXPECT_EQ(write_datagram(word, kKey), "");
}

TEST(Datagram, OffersToMoreNodesThanThereIsRoomForAreLeftOut) {
  Word word{.node = "n", .addresses = {}};
  for (std::size_t i = 0; i < kMaxOffered + 1; ++i) {
    word.addresses.push_back({.id = i, .epoch = 1, .offered_to = "node-" + std::to_string(i)});
  }
  const auto read = read_datagram(write_datagram(word, kKey), kKey);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->addresses[kMaxOffered - 1].offered_to, "node-" + std::to_string(kMaxOffered - 1));
  EXPECT_EQ(read->addresses[kMaxOffered].offered_to, "");
}

TEST(Datagram, AddressesThatDoNotAscendAreNone) {
  Word word{.node = "n", .addresses = {{.id = 2, .offered_to = {}}, {.id = 1, .offered_to = {}}}};
  EXPECT_FALSE(read_datagram(write_datagram(word, kKey), kKey));
  word.addresses[1].id = 2;
  EXPECT_FALSE(read_datagram(write_datagram(word, kKey), kKey));
}

}  // namespace
}  // namespace edge::agent::vip
