// Each test is a sentence of RFC 9111 (or RFC 5861) with its section.
#include "runtime/shape/cache/policy.h"

#include <gtest/gtest.h>

#include "runtime/shape/cache/http_date.h"
#include "runtime/shape/cache/test_messages.h"

namespace edge::runtime::cache {
namespace {

using net::http1::Method;
using testing::Answer;
using testing::Ask;
using testing::kNow;
using testing::kNowText;

const std::string kDated = "Date: " + std::string(kNowText) + "\n";
constexpr TtlLimits kLimits;
constexpr Times kAtOnce{kNow, kNow};

bool stored(const Ask& request, const Answer& response, const TtlLimits& limits = kLimits) {
  return storable(request, response, limits, kAtOnce);
}
bool stored(const std::string& response, int status = 200) { return stored(Ask(), Answer(response, status)); }

Freshness fresh(const std::string& lines, const Times& times = kAtOnce, const TtlLimits& limits = kLimits) {
  return freshness_of(Answer(lines, 200, times.response), limits, times);
}

Use used(const std::string& response, const std::string& request, Seconds later) {
  return choose_use(fresh(response), Ask(request), kNow + later);
}

// ---- §3: what is stored -------------------------------------------------------------------------------------------

TEST(Storable, NeedsALifetimeThatIsStated_3) {
  EXPECT_TRUE(stored("Cache-Control: max-age=60\n"));
  EXPECT_TRUE(stored("Cache-Control: s-maxage=60\n"));
  EXPECT_TRUE(stored(kDated + "Expires: Sun, 06 Nov 1994 08:50:37 GMT\n"));
  EXPECT_FALSE(stored(""));
  EXPECT_FALSE(stored("ETag: \"a\"\nLast-Modified: Sun, 06 Nov 1994 08:00:00 GMT\n"));
}

TEST(Storable, OnlyAnswersToGet_3) {
  const Answer answer("Cache-Control: public, max-age=60\n");
  for (const char* method : {"HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"}) {
    EXPECT_FALSE(stored(Ask("", method), answer)) << method;
  }
}

TEST(Storable, AnyFinalStatusThatSaysSoButNoPartAndNo304_3) {
  for (const int status : {200, 203, 301, 302, 307, 404, 410, 500, 503, 599}) {
    EXPECT_TRUE(stored("Cache-Control: max-age=60\n", status)) << status;
  }
  EXPECT_FALSE(stored("Cache-Control: max-age=60\nContent-Range: bytes 0-0/2\n", 206));
  EXPECT_FALSE(stored("Cache-Control: max-age=60\n", 304));
}

TEST(Storable, NotWithNoStoreOfEitherSide_5_2) {
  EXPECT_FALSE(stored("Cache-Control: max-age=60, no-store\n"));
  EXPECT_FALSE(stored("Cache-Control: max-age=60\nCache-Control: No-Store\n"));
  EXPECT_FALSE(stored(Ask("Cache-Control: no-store\n"), Answer("Cache-Control: max-age=60\n")));
}

TEST(Storable, MustUnderstandMeansItsNoStoreForOthers_5_2_2_3) {
  EXPECT_TRUE(stored("Cache-Control: max-age=60, must-understand, no-store\n"));
  EXPECT_FALSE(stored("Cache-Control: max-age=60, must-understand, no-store\n", 299));
  EXPECT_FALSE(stored("Cache-Control: max-age=60, must-understand\n", 299));
}

TEST(Storable, PrivateIsNotForASharedCache_5_2_2_7) {
  EXPECT_FALSE(stored("Cache-Control: max-age=60, private\n"));
  EXPECT_TRUE(stored("Cache-Control: max-age=60, private=\"x-user\"\n"));
  EXPECT_FALSE(stored("Cache-Control: max-age=60, private=\"\"\n"));
}

TEST(Storable, AuthorizationNeedsLeave_3_5) {
  const Ask request("Authorization: Basic QTpC\n");
  EXPECT_FALSE(stored(request, Answer("Cache-Control: max-age=60\n")));
  EXPECT_TRUE(stored(request, Answer("Cache-Control: max-age=60, public\n")));
  EXPECT_TRUE(stored(request, Answer("Cache-Control: max-age=60, must-revalidate\n")));
  EXPECT_TRUE(stored(request, Answer("Cache-Control: s-maxage=60\n")));
}

TEST(Storable, ASetCookieNeedsLeave_Decision37) {
  EXPECT_FALSE(stored("Cache-Control: max-age=60\nSet-Cookie: a=b\n"));
  EXPECT_TRUE(stored("Cache-Control: max-age=60, public\nSet-Cookie: a=b\n"));
  EXPECT_TRUE(stored("Cache-Control: s-maxage=60\nSet-Cookie: a=b\n"));
}

// A page that says nothing of caching may be of whoever the cookie names.
TEST(Storable, AGuessedLifetimeIsNoLeaveWhereTheRequestHasACookie_Decision93) {
  constexpr TtlLimits kGuesses{.default_ttl = 60};
  EXPECT_TRUE(stored(Ask(), Answer(""), kGuesses));
  EXPECT_FALSE(stored(Ask("Cookie: sid=alice\n"), Answer(""), kGuesses));
  EXPECT_FALSE(stored(Ask("COOKIE: sid=alice\n"), Answer("ETag: \"a\"\n"), kGuesses));
  // What the origin says itself stands.
  EXPECT_TRUE(stored(Ask("Cookie: sid=alice\n"), Answer("Cache-Control: max-age=60\n"), kGuesses));
  EXPECT_TRUE(stored(Ask("Cookie: sid=alice\n"), Answer("Cache-Control: public\n"), kGuesses));
  EXPECT_TRUE(stored(Ask("Cookie: sid=alice\n"), Answer("Cache-Control: no-cache\nETag: \"a\"\n"), kGuesses));
}

TEST(Storable, VaryOnEverythingNeverMatches_4_1) {
  EXPECT_FALSE(stored("Cache-Control: max-age=60\nVary: accept, *\n"));
  EXPECT_TRUE(stored("Cache-Control: max-age=60\nVary: accept\n"));
}

TEST(Storable, WhatIsStaleAtOnceOnlyIfItCanBeValidatedOrStandIn) {
  EXPECT_FALSE(stored("Cache-Control: max-age=0\n"));
  EXPECT_TRUE(stored("Cache-Control: max-age=0\nETag: \"a\"\n"));
  EXPECT_TRUE(stored("Cache-Control: max-age=0, stale-while-revalidate=60\n"));
  EXPECT_FALSE(stored("Cache-Control: max-age=0, must-revalidate, stale-if-error=60\n"));
  EXPECT_FALSE(stored("Cache-Control: max-age=60, no-cache\n"));
  EXPECT_TRUE(stored("Cache-Control: no-cache\nETag: \"a\"\n"));
}

TEST(Storable, ABrokenFieldIsNoLeave) {
  EXPECT_FALSE(stored("Cache-Control: max-age=60, private=\"x\n"));
  EXPECT_FALSE(stored("Cache-Control: max-age=60; public\n"));
  EXPECT_TRUE(stored("Cache-Control: ,, max-age=60 , community=\"UCI\"\n"));
}

// ---- RFC 9213: CDN-Cache-Control ----------------------------------------------------------------------------------

TEST(Targeted, StandsInThePlaceOfCacheControlAndExpires_9213_2_2) {
  const std::string cached = "Cache-Control: max-age=10000\n";
  const std::string expires = kDated + "Expires: Sun, 06 Nov 1994 18:49:37 GMT\n";
  for (const char* forbids : {"private", "no-cache", "no-store", "max-age=0"}) {
    EXPECT_FALSE(stored(cached + expires + "CDN-Cache-Control: " + forbids + "\n")) << forbids;
  }
  EXPECT_TRUE(stored("Cache-Control: no-store\nCDN-Cache-Control: max-age=10000\n"));
  EXPECT_TRUE(stored("Cache-Control: private\ncdn-cache-control: max-age=10000\n"));
  EXPECT_EQ(fresh(cached + expires + "CDN-Cache-Control: max-age=5\n").lifetime, 5);
  EXPECT_EQ(fresh("Cache-Control: max-age=1\nCDN-Cache-Control: max-age=3600\n").lifetime, 3600);
  EXPECT_EQ(fresh("CDN-Cache-Control: max-age=5, s-maxage=7, foobar;a=1\n").lifetime, 7);
  EXPECT_EQ(fresh("CDN-Cache-Control: max-age=5\nCDN-Cache-Control: max-age=6\n").lifetime, 6);
  // Says nothing of a lifetime: then nobody does.
  EXPECT_FALSE(stored(cached + expires + "CDN-Cache-Control: must-revalidate\n"));
  EXPECT_TRUE(stored("Cache-Control: no-store\nCDN-Cache-Control: max-age=60, private=\"x-user\"\n"));
}

TEST(Targeted, IsPassedOverWhereItIsNoDictionary_9213_2_1) {
  for (const char* value : {"", "max-age=10000, &&&&&", "max-age =100", "max-age= 100", "MaX-aGe=3600", "max-age=3600,",
                            "max-age=1 2", "max-age=\"1", "a=(1 2", "a=(1\"b\")", "a=1.", "a=1.2345",
                            "a=1234567890123456", "a=:b", "a=?2", "a;B=1", "a=@b"}) {
    EXPECT_FALSE(stored("Cache-Control: no-store\nCDN-Cache-Control: " + std::string(value) + "\n")) << value;
    EXPECT_EQ(fresh("Cache-Control: max-age=9\nCDN-Cache-Control: " + std::string(value) + "\n").lifetime, 9) << value;
  }
  for (const char* value : {"a", "a=1.5", "a=-1", "a=\"b\\\"c\"", "a=*b/c:d", "a=:YQ==:", "a=?0", "a=@1", "a=()",
                            "a=( 1  b;c )", "a;b;c=2", "a;  b=\"c\"", "*a=1"}) {
    EXPECT_EQ(fresh("CDN-Cache-Control: max-age=9 ,\t" + std::string(value) + "\n").lifetime, 9) << value;
  }
}

TEST(Targeted, AValueOfAnotherTypeNeverMakesItLiveLonger_9213_2_1) {
  for (const char* value :
       {"max-age=\"10000\"", "max-age=1.5", "max-age=-1", "max-age", "max-age=(60)", "max-age=60, no-store=1",
        "max-age=60, private=(a)", "max-age=60, private=\"a\\\"\"", "max-age=60, no-store;a=?0"}) {
    EXPECT_FALSE(stored("CDN-Cache-Control: " + std::string(value) + "\n")) << value;
  }
  EXPECT_TRUE(stored("CDN-Cache-Control: max-age=60, no-store=?0\n"));
}

// ---- §4.2.1: lifetime ---------------------------------------------------------------------------------------------

TEST(Lifetime, SMaxageBeforeMaxAgeBeforeExpires_4_2_1) {
  const std::string expires = kDated + "Expires: Sun, 06 Nov 1994 08:49:47 GMT\n";
  EXPECT_EQ(fresh(expires).lifetime, 10);
  EXPECT_EQ(fresh(expires + "Cache-Control: max-age=20\n").lifetime, 20);
  EXPECT_EQ(fresh(expires + "Cache-Control: max-age=20, s-maxage=30\n").lifetime, 30);
}

TEST(Lifetime, IsCutAtMaxTtl) {
  const TtlLimits limits{0, 60};
  EXPECT_EQ(fresh("Cache-Control: max-age=59\n", kAtOnce, limits).lifetime, 59);
  EXPECT_EQ(fresh("Cache-Control: max-age=60\n", kAtOnce, limits).lifetime, 60);
  EXPECT_EQ(fresh("Cache-Control: max-age=61\n", kAtOnce, limits).lifetime, 60);
}

TEST(Lifetime, TokenAndQuotedFormAreOne_5_2) { EXPECT_EQ(fresh("Cache-Control: MAX-AGE=\"20\"\n").lifetime, 20); }

TEST(Lifetime, TwoThatDifferAndOneThatIsNoneAreStale_4_2_1) {
  EXPECT_EQ(fresh("Cache-Control: max-age=20, max-age=30\n").lifetime, 0);
  EXPECT_EQ(fresh("Cache-Control: max-age=20, max-age=20\n").lifetime, 20);
  EXPECT_EQ(fresh("Cache-Control: max-age=soon\n").lifetime, 0);
  EXPECT_EQ(fresh("Cache-Control: max-age=-1\n").lifetime, 0);
  EXPECT_EQ(fresh("Cache-Control: max-age\n").lifetime, 0);
  EXPECT_EQ(fresh("Cache-Control: max-age=1.5\n").lifetime, 0);
}

TEST(Lifetime, ExpiresThatIsNoDateHasPassed_5_3) {
  EXPECT_EQ(fresh(kDated + "Expires: 0\n").lifetime, 0);
  EXPECT_EQ(fresh(kDated + "Expires: tomorrow\n").lifetime, 0);
  const std::string line = "Expires: Sun, 06 Nov 1994 08:49:47 GMT\n";
  EXPECT_EQ(fresh(kDated + line + line).lifetime, 0);
}

TEST(Lifetime, NumbersTooLargeAreLarge_1_2_2) {
  TtlLimits no_limit;
  no_limit.max_ttl = kLongest * 2;
  EXPECT_EQ(fresh("Cache-Control: max-age=99999999999999999999999999\n", kAtOnce, no_limit).lifetime, kLongest);
}

TEST(Lifetime, NeverOverMaxTtl) { EXPECT_EQ(fresh("Cache-Control: max-age=31536000\n").lifetime, 24 * 3600); }

TEST(Lifetime, DefaultTtlOnlyWhereALifetimeMayBeGuessed_4_2_2) {
  const TtlLimits limits{60, 3600};
  EXPECT_TRUE(stored(Ask(), Answer(""), limits));
  EXPECT_EQ(fresh("", kAtOnce, limits).lifetime, 60);
  EXPECT_EQ(fresh("Cache-Control: max-age=5\n", kAtOnce, limits).lifetime, 5);
  EXPECT_FALSE(stored(Ask(), Answer("", 302), limits));
  EXPECT_FALSE(stored(Ask(), Answer("", 500), limits));
  EXPECT_TRUE(stored(Ask(), Answer("Cache-Control: public\n", 302), limits));
  EXPECT_FALSE(stored(Ask("Authorization: Basic QTpC\n"), Answer(""), limits));
}

// ---- §4.2.3: age --------------------------------------------------------------------------------------------------

TEST(Age, IsTheLargerOfDateAndAgeField_4_2_3) {
  const std::string sent = "Cache-Control: max-age=60\nDate: Sun, 06 Nov 1994 08:49:27 GMT\n";
  EXPECT_EQ(fresh(sent).age(kNow), 10);
  EXPECT_EQ(fresh(sent + "Age: 25\n").age(kNow), 25);
  EXPECT_EQ(fresh(sent + "Age: 5\n").age(kNow), 10);
  EXPECT_EQ(fresh(sent + "Age: 25\n").age(kNow + 7), 32);
}

TEST(Age, TheTimeOnTheWayCounts_4_2_3) { EXPECT_EQ(fresh("Age: 5\n", {kNow - 3, kNow}).age(kNow), 8); }

TEST(Age, ClocksThatGoWrongMakeNothingYounger_4_2_3) {
  EXPECT_EQ(fresh("Age: 5\nDate: Sun, 06 Nov 1994 09:49:37 GMT\n").age(kNow), 5);
  EXPECT_EQ(fresh("Age: 5\n").age(kNow - 2), 5) << "by the clock of another thread";
}

TEST(Age, IsUnknownOnceTheClockIsSetBack) {
  const Freshness stored = fresh("Cache-Control: max-age=60, stale-while-revalidate=60, stale-if-error=60\n");
  EXPECT_EQ(choose_use(stored, Ask(), kNow), Use::kFresh);
  EXPECT_EQ(choose_use(stored, Ask(), kNow - 3600), Use::kValidate);
  EXPECT_FALSE(usable_on_error(stored, Ask(), kNow - 3600));
}

TEST(Age, OfAListTheFirstAndNoneIfItIsNoNumber_5_1) {
  EXPECT_EQ(fresh("Age: 7, 9\n").age(kNow), 7);
  EXPECT_EQ(fresh("Age: 7\nAge: 9\n").age(kNow), 7);
  EXPECT_EQ(fresh("Age: -7\n").age(kNow), 0);
  EXPECT_EQ(fresh("Age: 7.5\n").age(kNow), 0);
}

// ---- §4.2, §5.2.1: what it may be used for ------------------------------------------------------------------------

TEST(Use, FreshUntilTheLifetimeHasPassed_4_2) {
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "", 59), Use::kFresh);
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "", 60), Use::kValidate);
}

TEST(Use, NoCacheIsAlwaysValidated_5_2_2_4) {
  EXPECT_EQ(used("Cache-Control: max-age=60, no-cache\n", "", 1), Use::kValidate);
  EXPECT_EQ(used("Cache-Control: max-age=60, no-cache=\"set-cookie\"\n", "", 1), Use::kFresh);
  EXPECT_EQ(used("Cache-Control: max-age=60, no-cache, stale-if-error=60\n", "Cache-Control: max-stale\n", 61),
            Use::kValidate);
}

TEST(Use, TheClientsNoCacheAndPragma_5_2_1_4_and_5_4) {
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Cache-Control: no-cache\n", 1), Use::kValidate);
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Pragma: x, no-cache\n", 1), Use::kValidate);
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Pragma: no-cache\nCache-Control: max-age=5\n", 1), Use::kFresh);
}

TEST(Use, TheClientsMaxAge_5_2_1_1) {
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Cache-Control: max-age=10\n", 10), Use::kFresh);
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Cache-Control: max-age=10\n", 11), Use::kValidate);
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Cache-Control: max-age=0\n", 1), Use::kValidate);
}

TEST(Use, TheClientsMinFresh_5_2_1_3) {
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Cache-Control: min-fresh=20\n", 40), Use::kFresh);
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Cache-Control: min-fresh=20\n", 41), Use::kValidate);
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Cache-Control: min-fresh=a\n", 1), Use::kValidate);
}

TEST(Use, TheClientsMaxStale_5_2_1_2) {
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Cache-Control: max-stale=10\n", 70), Use::kStaleAllowed);
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Cache-Control: max-stale=10\n", 71), Use::kValidate);
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Cache-Control: max-stale\n", 5000), Use::kStaleAllowed);
  EXPECT_EQ(used("Cache-Control: max-age=60\n", "Cache-Control: max-stale=x\n", 61), Use::kValidate);
}

TEST(Use, NothingStaleWhereTheOriginForbidsIt_4_2_4) {
  for (const char* word : {"max-age=60, must-revalidate", "max-age=60, proxy-revalidate", "s-maxage=60"}) {
    const std::string lines =
        std::string("Cache-Control: stale-while-revalidate=99, stale-if-error=99, ") + word + "\n";
    EXPECT_EQ(used(lines, "Cache-Control: max-stale\n", 61), Use::kValidate) << word;
    EXPECT_EQ(used(lines, "", 61), Use::kValidate) << word;
    EXPECT_FALSE(usable_on_error(fresh(lines), Ask(), kNow + 61)) << word;
  }
}

TEST(Use, StaleWhileRevalidate_5861_3) {
  const char* lines = "Cache-Control: max-age=60, stale-while-revalidate=30\n";
  EXPECT_EQ(used(lines, "", 59), Use::kFresh);
  EXPECT_EQ(used(lines, "", 60), Use::kStaleWhileRevalidate);
  EXPECT_EQ(used(lines, "", 90), Use::kStaleWhileRevalidate);
  EXPECT_EQ(used(lines, "", 91), Use::kValidate);
  EXPECT_EQ(used(lines, "Cache-Control: max-age=1000\n", 61), Use::kValidate);
}

TEST(Use, StaleIfError_5861_4) {
  const Freshness stored = fresh("Cache-Control: max-age=60, stale-if-error=30\n");
  EXPECT_TRUE(usable_on_error(stored, Ask(), kNow + 90));
  EXPECT_FALSE(usable_on_error(stored, Ask(), kNow + 91));
  EXPECT_FALSE(usable_on_error(stored, Ask("Cache-Control: no-cache\n"), kNow + 61));
  EXPECT_FALSE(usable_on_error(fresh("Cache-Control: max-age=60\n"), Ask(), kNow + 61));
  for (const std::uint16_t status : {500, 502, 503, 504}) EXPECT_TRUE(is_error(status));
  for (const std::uint16_t status : {200, 304, 404, 501, 505}) EXPECT_FALSE(is_error(status));
}

TEST(Invalidation, ByUnsafeMethodsThatDidNotFail_4_4) {
  for (const Method method : {Method::kPost, Method::kPut, Method::kDelete, Method::kPatch, Method::kOther}) {
    EXPECT_TRUE(invalidates(method, 200));
    EXPECT_TRUE(invalidates(method, 303));
    EXPECT_FALSE(invalidates(method, 404));
    EXPECT_FALSE(invalidates(method, 500));
    EXPECT_FALSE(invalidates(method, 100));
  }
  for (const Method method : {Method::kGet, Method::kHead, Method::kOptions, Method::kTrace}) {
    EXPECT_FALSE(invalidates(method, 200));
  }
}

// ---- RFC 9110 §5.6.7 ----------------------------------------------------------------------------------------------

TEST(HttpDate, AllThreeForms) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", kNow), kNow);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", kNow), kNow);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994", kNow), kNow);
  EXPECT_EQ(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT", kNow), 0);
  EXPECT_EQ(parse_http_date("Thu, 29 Feb 2024 23:59:60 GMT", kNow), 1709251200);
}

TEST(HttpDate, TwoDigitsAreNeverMoreThan50YearsAhead) {
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-44 08:49:37 GMT", kNow),
            parse_http_date("Sun, 06 Nov 1944 08:49:37 GMT", 0));
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-44 08:49:37 GMT", 1800000000),
            parse_http_date("Sun, 06 Nov 2044 08:49:37 GMT", 0));
}

TEST(HttpDate, NothingElse) {
  for (const char* text :
       {"", "0", "-1", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "sun, 06 nov 1994 08:49:37 gmt",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT"}) {
    EXPECT_EQ(parse_http_date(text, kNow), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace edge::runtime::cache
