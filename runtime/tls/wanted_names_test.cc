#include "runtime/tls/wanted_names.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

using namespace std::chrono_literals;

class WantedNamesTest : public ::testing::Test {
 protected:
  bool want(const std::string& host, const std::string& client = "198.51.100.1") {
    return names_.want(by_, host, *parse_ip(client), now_);
  }
  std::size_t told() { return names_.take(100'000, now_).size(); }

  bool want_other(const std::string& host, const std::string& client = "198.51.100.9") {
    return names_.want(other_, host, *parse_ip(client), now_);
  }
  /// As many clients ask, each for a few names.
  void crowd(const net::tls::OnDemand& by, int names, int net) {
    for (int i = 0; i < names; ++i) {
      const std::string client =
          "10." + std::to_string(net) + "." + std::to_string(i / 250) + "." + std::to_string(i % 250);
      names_.want(by, "n" + std::to_string(i) + ".example.com", *parse_ip(client), now_);
    }
  }

  const net::tls::OnDemand by_{"shop", "acme:web:https", {"*.example.com"}};
  const net::tls::OnDemand other_{"shop", "acme:other:https", {"*.example.com"}};
  net::Time now_ = net::Time(1h);
  WantedNames names_;
};

TEST_F(WantedNamesTest, AreToldOnceAMinuteAndAwaitedForSeconds) {
  EXPECT_TRUE(want("a.example.com"));
  EXPECT_TRUE(want("a.example.com"));
  EXPECT_EQ(names_.take(10, now_), (std::vector<WantedName>{{"shop", "acme:web:https", "a.example.com", false}}));
  now_ += WantedNames::kWait - 1ms;
  EXPECT_TRUE(want("a.example.com"));
  now_ += 1ms;
  EXPECT_FALSE(want("a.example.com"));
  EXPECT_EQ(told(), 0U);
  now_ += WantedNames::kToldAgain;
  EXPECT_TRUE(want("a.example.com"));
  EXPECT_EQ(told(), 1U);
}

TEST_F(WantedNamesTest, OneClientTakesNoOthersPlace) {
  for (int i = 0; i < 100; ++i) {
    const bool waits = want("n" + std::to_string(i) + ".example.com");
    EXPECT_EQ(waits, i < static_cast<int>(WantedNames::kMostOfClient)) << i;
  }
  // Addresses of one /64 are one client's.
  for (int i = 0; i < 100; ++i) want("m" + std::to_string(i) + ".example.com", "2001:db8::" + std::to_string(i));
  EXPECT_EQ(told(), 2 * WantedNames::kMostOfClient);
  EXPECT_TRUE(want("other.example.com", "198.51.100.2"));
  now_ += 1min;
  EXPECT_TRUE(want("later.example.com"));
}

TEST_F(WantedNamesTest, AllClientsTogetherAreBounded) {
  crowd(by_, 10'000, 0);
  EXPECT_EQ(told(), WantedNames::kMostOfListener);
  crowd(other_, 10'000, 1);
  EXPECT_EQ(told(), WantedNames::kMostOfListener);
  for (int minute = 0; minute < 100; ++minute) {
    now_ += 1s;
    for (int i = 0; i < 300; ++i) {
      want(std::to_string(minute) + "-" + std::to_string(i) + ".example.com", "10.1." + std::to_string(i / 4) + ".1");
    }
  }
  // A minute and two thirds of another.
  EXPECT_LE(told(), 2 * WantedNames::kMostOfListener);
}

TEST_F(WantedNamesTest, StrangersAtOtherListenersLeaveAListenersOwnPlaces) {
  for (int i = 0; i < 20; ++i) {
    crowd({"shop", "acme:loud" + std::to_string(i) + ":https", {"*.example.com"}}, 500, i);
  }
  // Two with all that one may have, and of the others what is their own.
  EXPECT_EQ(told(), WantedNames::kMostInMinute + 18 * WantedNames::kOwnOfListener);
  for (std::uint32_t i = 0; i < 2 * WantedNames::kOwnOfListener; ++i) {
    const bool waits = want("own" + std::to_string(i) + ".example.com", "198.51.100." + std::to_string(i));
    EXPECT_EQ(waits, i < WantedNames::kOwnWaitingOfListener) << i;
  }
  EXPECT_EQ(told(), WantedNames::kOwnOfListener);
}

TEST_F(WantedNamesTest, StrangersWithManyAddressesKeepNoClientFromBeingCounted) {
  crowd(by_, 2 * static_cast<int>(WantedNames::kMostClients), 0);
  EXPECT_TRUE(want_other("a.example.com"));
  names_.leave(other_, *parse_ip("198.51.100.9"));
  for (int i = 0; i < 100; ++i) want_other("m" + std::to_string(i) + ".example.com");
  const std::vector<WantedName> told = names_.take(100'000, now_);
  EXPECT_EQ(std::ranges::count(told, other_.secret, &WantedName::secret), WantedNames::kMostOfClient);
}

TEST_F(WantedNamesTest, HandshakesThatWaitAreBounded) {
  std::uint32_t waiting = 0;
  for (int i = 0; i < 100; ++i) waiting += want("a.example.com") ? 1 : 0;
  EXPECT_EQ(waiting, WantedNames::kMostWaitingOfClient);
  for (int i = 0; i < 100; ++i) {
    for (int j = 0; j < 10; ++j) waiting += want("a.example.com", "10.0.0." + std::to_string(i)) ? 1 : 0;
  }
  EXPECT_EQ(waiting, WantedNames::kMostWaitingOfListener);
  EXPECT_FALSE(want("a.example.com", "10.0.1.1"));
  EXPECT_TRUE(want_other("a.example.com"));
  names_.leave(by_, *parse_ip("198.51.100.1"));
  EXPECT_TRUE(want("a.example.com", "10.0.1.1"));
  // Who did not wait has nothing to leave.
  names_.leave(by_, *parse_ip("10.0.1.2"));
  names_.leave({"shop", "acme:gone:https", {}}, *parse_ip("10.0.1.1"));
  EXPECT_FALSE(want("a.example.com", "10.0.1.3"));
}

TEST_F(WantedNamesTest, UsesAreToldSeldom) {
  for (int i = 0; i < 10; ++i) names_.use(by_, "a.example.com", now_);
  EXPECT_EQ(names_.take(10, now_), (std::vector<WantedName>{{"shop", "acme:web:https", "a.example.com", true}}));
  now_ += WantedNames::kUsedAgain;
  names_.use(by_, "a.example.com", now_);
  EXPECT_EQ(told(), 1U);
}

TEST_F(WantedNamesTest, OfADayWithoutAControllerWhatIsAskedForNowIsTold) {
  names_.use(by_, "used.example.com", now_);
  for (int minute = 0; minute < 24 * 60; ++minute) {
    now_ += 1min;
    if (minute % 10 == 0) names_.use(by_, "used.example.com", now_);
    for (std::uint32_t i = 0; i < WantedNames::kMostOfListener; ++i) {
      const std::string client = "10.0." + std::to_string(i / 4) + ".1";
      EXPECT_TRUE(want(std::to_string(minute) + "-" + std::to_string(i) + ".example.com", client));
      names_.leave(by_, *parse_ip(client));
    }
  }
  now_ += 30s;
  want("now.example.com");
  const std::vector<WantedName> told = names_.take(100'000, now_);
  EXPECT_EQ(told.size(), WantedNames::kMostOfListener + 1) << "those of the last minute, and the use";
  EXPECT_EQ(std::ranges::count(told, "used.example.com", &WantedName::host), 1);
  EXPECT_EQ(told.front().host, "1439-0.example.com");
  EXPECT_EQ(told.back().host, "used.example.com");
  now_ += 30s;
  EXPECT_TRUE(want("now.example.com"));
  EXPECT_EQ(names_.take(10, now_), (std::vector<WantedName>{{"shop", "acme:web:https", "now.example.com", false}}));
}

TEST_F(WantedNamesTest, UsesThatNobodyTakesAreBounded) {
  for (std::size_t i = 0; i < 3 * WantedNames::kMostPending; ++i) {
    if (i % WantedNames::kMostKnown == 0) now_ += WantedNames::kUsedAgain;
    names_.use(by_, "n" + std::to_string(i) + ".example.com", now_);
  }
  const std::vector<WantedName> told = names_.take(100'000, now_);
  ASSERT_EQ(told.size(), WantedNames::kMostPending);
  EXPECT_EQ(told.back().host, "n" + std::to_string(3 * WantedNames::kMostPending - 1) + ".example.com");
}

TEST_F(WantedNamesTest, UsesTakeNoRoomOfNewNames) {
  for (std::size_t i = 0; i < 2 * WantedNames::kMostKnown; ++i) {
    names_.use(by_, "n" + std::to_string(i) + ".example.com", now_);
  }
  EXPECT_TRUE(want("new.example.com"));
  EXPECT_EQ(names_.take(1, now_).at(0).host, "new.example.com");
}

TEST(OnDemand, AllowsNamesAlone) {
  const net::tls::OnDemand some{"shop", "x", {"*.example.com", "a.example.net"}};
  EXPECT_TRUE(some.allows("a.example.com"));
  EXPECT_TRUE(some.allows("a.b.example.com"));
  EXPECT_TRUE(some.allows("a.example.net"));
  for (const char* const no : {"example.com", "example.net", "xexample.com", "b.example.net", ".example.com", ""}) {
    EXPECT_FALSE(some.allows(no)) << no;
  }
  const net::tls::OnDemand all{"shop", "x", {"*"}};
  EXPECT_TRUE(all.allows("a.test"));
  for (const char* const no : {"localhost", "192.0.2.1", "2001:db8::1", ""}) EXPECT_FALSE(all.allows(no)) << no;
}

}  // namespace
}  // namespace edge::runtime
