// Keys, variants, stored heads, updates, conditions and ranges.
#include "runtime/shape/cache/entry.h"

#include <thread>

#include <gtest/gtest.h>

#include "runtime/shape/cache/answer.h"
#include "runtime/shape/cache/test_messages.h"

namespace edge::runtime::cache {
namespace {

using testing::Answer;
using testing::Ask;
using testing::kNow;
using testing::kNowText;

const Target kTarget{"http", "example.com", "/dir/page", "q=1", true};
const Key kKey = make_key(kTarget, {"shop", "web", 0, 7, "example.com", "/dir/page"});
constexpr std::string_view kText = "0123456789";

std::shared_ptr<Entry> entry_of(const Answer& answer, const Ask& ask = Ask(), std::string_view text = kText) {
  auto entry = make_entry({kKey, ask, {}, {kNow, kNow}}, answer.head(), kNowText);
  if (entry == nullptr) return entry;
  auto body = std::make_shared<Body>();
  body->append(text);
  body->close();
  entry->body = body;
  return entry;
}

struct Written {
  std::string head;
  AnswerBody body;
  std::string text;
  std::string status() const { return head.substr(9, 3); }
  bool has(const std::string& line) const { return head.find("\r\n" + line + "\r\n") != std::string::npos; }
  bool names(const std::string& name) const { return head.find("\r\n" + name + ": ") != std::string::npos; }
};
Written answer(const Entry& entry, const std::string& request, Seconds later = 0, const std::string& method = "GET") {
  char buffer[4096];
  net::http1::HeadWriter out(buffer, sizeof buffer);
  const Ask ask(request, method);
  Written written;
  written.body = write_answer(entry, ask, kNow + later, out);
  written.head = out.text();
  while (written.text.size() < written.body.size()) written.text += written.body.read(*entry.body, written.text.size());
  return written;
}

const std::string kFull =
    "Cache-Control: max-age=60\nETag: \"v1\"\nLast-Modified: Sun, 06 Nov 1994 08:00:00 GMT\nContent-Type: text/plain\n"
    "Content-Length: 10\nDate: Sun, 06 Nov 1994 08:49:37 GMT\n";

// ---- Keys (§2) ----------------------------------------------------------------------------------------------------

TEST(Key, EveryPartTellsKeysApart) {
  const Way way{"shop", "web", 0, 7, "example.com", "/dir/page"};
  const auto other = [&](auto change) {
    Target target = kTarget;
    Way changed = way;
    change(target, changed);
    return make_key(target, changed) == kKey;
  };
  EXPECT_TRUE(other([](Target&, Way&) {}));
  EXPECT_FALSE(other([](Target& t, Way&) { t.scheme = "https"; }));
  EXPECT_FALSE(other([](Target& t, Way&) { t.host = "example.org"; }));
  EXPECT_FALSE(other([](Target& t, Way&) { t.path = "/dir"; }));
  EXPECT_FALSE(other([](Target& t, Way&) { t.query = "q=2"; }));
  EXPECT_FALSE(other([](Target& t, Way&) { t.query = "", t.has_query = false; }));
  EXPECT_FALSE(other([](Target&, Way& w) { w.route = "api"; }));
  EXPECT_FALSE(other([](Target&, Way& w) { w.name_space = "shops"; }));
  EXPECT_FALSE(other([](Target&, Way& w) { w.rule = 1; }));
  EXPECT_FALSE(other([](Target&, Way& w) { w.backend = 8; }));
  EXPECT_FALSE(other([](Target&, Way& w) { w.host = "inner"; }));
  EXPECT_FALSE(other([](Target&, Way& w) { w.path = "/v2/dir/page"; }));
  EXPECT_FALSE(other([](Target&, Way& w) { w.position = 1; }));
  EXPECT_FALSE(other([](Target&, Way& w) { w.origin = "example.com:1"; }));
  const Target parts = target_of(kKey);
  EXPECT_EQ(parts.host, "example.com");
  EXPECT_EQ(target_text(parts), kKey.target);
  EXPECT_EQ(route_of(kKey), "shop/web");
  const Target empty_query{"http", "a", "/", "", true};
  const Target no_query{"http", "a", "/", "", false};
  EXPECT_NE(target_text(empty_query), target_text(no_query));
  EXPECT_TRUE(target_of(make_key(empty_query, way)).has_query);
  EXPECT_FALSE(target_of(make_key(no_query, way)).has_query);
}

TEST(Key, HoldsWhatTheBackendIsToldOfTheUri) {
  const auto reported = [](const std::string& fields, bool trusted, std::string_view host) {
    const std::string text = "GET / HTTP/1.1\r\nHost: Shop.example:1\r\n" + fields + "\r\n";
    net::http1::ParseHint hint;
    net::http1::RequestHead head;
    EXPECT_EQ(parse_request(text, {}, hint, head).state, net::http1::ParseState::kComplete) << text;
    return forwarded_origin(head, trusted, host);
  };
  const std::string from_proxy =
      "X-Forwarded-Host: a\r\nX-Forwarded-Host: b\r\nX-Forwarded-Port: 2\r\nX-Forwarded-Proto: https\r\n"
      "Forwarded: for=\"[::1];host=no\";host=\"c;for=d,e\", FOR=192.0.2.1;proto=https;by=x\r\n";
  EXPECT_EQ(reported({}, false, "Shop.example:1"), "");
  EXPECT_EQ(reported({}, false, "inside"), "Shop.example:1");
  EXPECT_EQ(reported(from_proxy, false, "Shop.example:1"), "");
  EXPECT_EQ(reported(from_proxy, true, "inside"),
            "\nx-forwarded-host:a\nx-forwarded-host:b\nx-forwarded-port:2\nx-forwarded-proto:https\n"
            "host=\"c;for=d,e\";proto=https;");
  EXPECT_EQ(reported("X-Forwarded-Prefix: /app\r\nX-Forwarded-User: alice\r\n", true, "Shop.example:1"),
            "\nx-forwarded-prefix:/app");
  EXPECT_NE(reported("Forwarded: host=a;for=x\r\n", true, "inside"),
            reported("Forwarded: host=b;for=x\r\n", true, "inside"));
  EXPECT_EQ(reported("Forwarded: host=a;for=x\r\n", true, "inside"),
            reported("Forwarded: host=a;for=y\r\n", true, "inside"));
}

TEST(Key, LocationOfTheSameOriginAlone_4_4) {
  const auto text = [](std::string_view path, std::string_view query = {}) {
    return target_text({"http", "example.com", path, query, !query.empty()});
  };
  EXPECT_EQ(same_origin_target(kTarget, "/other?x=1"), text("/other", "x=1"));
  EXPECT_EQ(same_origin_target(kTarget, "next#part"), text("/dir/next"));
  EXPECT_EQ(same_origin_target(kTarget, "../up"), text("/up"));
  EXPECT_EQ(same_origin_target(kTarget, "http://EXAMPLE.com:80/a/%7eb"), text("/a/~b"));
  EXPECT_EQ(same_origin_target(kTarget, "//example.com/a"), text("/a"));
  for (const char* foreign : {"http://example.org/a", "https://example.com/a", "//evil/a", "mailto:a@example.com", "",
                              "/a/../../b", "http://example.com.evil/a", "http://x@example.com/"}) {
    EXPECT_EQ(same_origin_target(kTarget, foreign), std::nullopt) << foreign;
  }
}

// ---- Vary (§4.1) --------------------------------------------------------------------------------------------------

TEST(Vary, AllNamedFieldsMustMatch_4_1) {
  const Answer answer("Vary: Accept-Language\nVary: X-A , Accept-Encoding\n");
  const Ask first("Accept-Language: de, en\nX-A: 1\n");
  const std::string selection = *selection_of(answer.head().fields, first.head().fields);
  const auto matches = [&](const std::string& lines) { return selects(selection, Ask(lines).head().fields); };
  EXPECT_TRUE(matches("X-A: 1\nAccept-Language: de, en\n"));
  EXPECT_TRUE(matches("X-A: 1\nAccept-Language: de ,en\n"));
  EXPECT_TRUE(matches("X-A: 1\nAccept-Language: de\nAccept-Language:  en\nUser-Agent: x\n"));
  EXPECT_FALSE(matches("X-A: 1\nAccept-Language: en, de\n"));
  EXPECT_FALSE(matches("X-A: 1\n"));
  EXPECT_FALSE(matches("X-A: 1\nAccept-Language: de, en\nAccept-Encoding: gzip\n"));
  EXPECT_FALSE(matches("X-A: 1\nAccept-Language: de, en\nAccept-Encoding:\n"));
}

TEST(Vary, CommasInQuotesAreNotTakenApart_4_1) {
  const Answer answer("Vary: X-A\n");
  const std::string selection = *selection_of(answer.head().fields, Ask("X-A: \"a, b\"\n").head().fields);
  EXPECT_TRUE(selects(selection, Ask("X-A: \"a, b\"\n").head().fields));
  EXPECT_FALSE(selects(selection, Ask("X-A: \"a,b\"\n").head().fields));
}

TEST(Vary, TooMuchIsNotKeptNorWhatIsNoName) {
  EXPECT_EQ(selection_of(Answer("Vary: x-a:b\n").head().fields, Ask().head().fields), std::nullopt);
  std::string names = "Vary: ";
  for (int i = 0; i < 20; ++i) names += "x-" + std::to_string(i) + ", ";
  EXPECT_EQ(selection_of(Answer(names + "\n").head().fields, Ask().head().fields), std::nullopt);
  EXPECT_EQ(
      selection_of(Answer("Vary: x-a\n").head().fields, Ask("X-A: " + std::string(5000, 'a') + "\n").head().fields),
      std::nullopt);
  EXPECT_EQ(selection_of(Answer("").head().fields, Ask().head().fields), "");
}

// ---- Stored heads (§3.1) ------------------------------------------------------------------------------------------

TEST(Entry, KeepsEndToEndFieldsAlone_3_1) {
  const auto entry = entry_of(Answer(
      "Cache-Control: max-age=60, private=\"x-user\", no-cache=\"X-Once, x-twice\"\nX-User: me\nX-Once: 1\nX-Twice: "
      "2\nConnection: x-hop\nX-Hop: 1\nKeep-Alive: 5\nProxy-Authenticate: Basic\nProxy-Authentication-Info: "
      "a\nAge: 3\nContent-Length: 10\nX-Kept: yes\n"));
  const Written written = answer(*entry, "", 5);
  for (const char* name : {"X-User", "X-Once", "X-Twice", "Connection", "X-Hop", "Keep-Alive", "Proxy-Authenticate",
                           "Proxy-Authentication-Info"}) {
    EXPECT_FALSE(written.names(name)) << name;
  }
  EXPECT_TRUE(written.has("X-Kept: yes"));
  EXPECT_TRUE(written.has("Age: 8"));
  EXPECT_TRUE(written.has("Content-Length: 10"));
  EXPECT_TRUE(written.has("Date: " + std::string(kNowText)));
  EXPECT_EQ(written.head.find("HTTP/1.1 200 Word\r\n"), 0u);
  EXPECT_TRUE(written.head.ends_with("\r\n\r\n"));
}

// ---- Renewal (§3.2, §4.3.4, §4.3.5) -------------------------------------------------------------------------------

TEST(Renewal, A304ReplacesFieldsAndStartsANewLife_3_2) {
  const auto entry = entry_of(Answer(kFull + "X-Old: 1\nX-Both: old\n"));
  const Answer update(
      "Cache-Control: max-age=90\nETag: \"v1\"\nX-Both: new\nX-New: 1\nContent-Length: 3\nContent-Encoding: gzip\n",
      304, kNow + 100);
  ASSERT_TRUE(speaks_of(update, update.head(), *entry));
  const Ask ask;
  const auto renewed = renew_entry(*entry, {kKey, ask, {}, {kNow + 100, kNow + 100}}, update.head(), "NOW").entry;
  ASSERT_NE(renewed, nullptr);
  EXPECT_EQ(renewed->body, entry->body);
  const Written written = answer(*renewed, "", 110);
  EXPECT_TRUE(written.has("X-Old: 1"));
  EXPECT_TRUE(written.has("X-Both: new"));
  EXPECT_FALSE(written.has("X-Both: old"));
  EXPECT_TRUE(written.has("X-New: 1"));
  EXPECT_TRUE(written.has("Content-Length: 10"));
  EXPECT_FALSE(written.names("Content-Encoding"));
  EXPECT_TRUE(written.has("Date: NOW"));
  EXPECT_TRUE(written.has("Age: 10"));
  EXPECT_EQ(renewed->freshness.lifetime, 90);
  EXPECT_EQ(renewed->etag, "\"v1\"");
}

TEST(Renewal, A304ThatForbidsItEndsIt_3_2) {
  const auto entry = entry_of(Answer(kFull));
  const Answer update("Cache-Control: no-store\n", 304);
  const Ask ask;
  EXPECT_EQ(renew_entry(*entry, {kKey, ask, {}, {kNow, kNow}}, update.head(), kNowText).fate, Renewal::Fate::kEnds);
}

// Set-Cookie without leave ends what is stored (decision 37), and is this client's all the same.
TEST(Renewal, A304ThatMayNotBeKeptIsForItsClient_3_2) {
  const auto entry = entry_of(Answer(kFull));
  const Answer update("Set-Cookie: a=c\nETag: \"v1\"\n", 304);
  const Ask ask;
  const Renewal renewal = renew_entry(*entry, {kKey, ask, {}, {kNow, kNow}}, update.head(), kNowText);
  EXPECT_EQ(renewal.fate, Renewal::Fate::kEnds);
  ASSERT_NE(renewal.entry, nullptr);
  EXPECT_EQ(renewal.entry->body, entry->body);
  EXPECT_TRUE(answer(*renewal.entry, "").has("Set-Cookie: a=c"));
}

TEST(Renewal, ByWhatIsOneClientsOwnIsForThatClientAlone_3_5) {
  const auto entry = entry_of(Answer(kFull));
  const Answer update("Cache-Control: max-age=90\n", 304);
  const auto keeps = [&](const std::string& request) {
    const Ask ask(request);
    const Renewal renewal = renew_entry(*entry, {kKey, ask, {}, {kNow, kNow}}, update.head(), kNowText);
    EXPECT_NE(renewal.entry, nullptr);
    return renewal.fate == Renewal::Fate::kReplaced;
  };
  EXPECT_TRUE(keeps(""));
  EXPECT_FALSE(keeps("Authorization: Basic QTpC\n"));
  EXPECT_FALSE(keeps("Cache-Control: no-store\n"));
  EXPECT_TRUE(keeps("Cookie: a=b\n"));
}

TEST(Renewal, OnlyOfWhatItSpeaksOf_4_3_4) {
  const auto entry = entry_of(Answer(kFull));
  const auto speaks = [&](const std::string& lines) {
    const Answer update(lines, 304);
    return speaks_of(update, update.head(), *entry);
  };
  EXPECT_TRUE(speaks(""));
  EXPECT_TRUE(speaks("ETag: \"v1\"\n"));
  EXPECT_TRUE(speaks("ETag: W/\"v1\"\n"));
  EXPECT_FALSE(speaks("ETag: \"v2\"\n"));
  EXPECT_FALSE(speaks("Last-Modified: Sun, 06 Nov 1994 08:00:01 GMT\n"));
}

TEST(Renewal, TheAnswerToAHeadSpeaksOfItWhenAllFits_4_3_5) {
  const auto entry = entry_of(Answer(kFull));
  const auto speaks = [&](const std::string& lines, int status = 200) {
    const Answer update(lines, status);
    return speaks_of(update, update.head(), *entry);
  };
  EXPECT_TRUE(speaks("ETag: \"v1\"\nContent-Length: 10\n"));
  EXPECT_FALSE(speaks("ETag: \"v1\"\nContent-Length: 11\n"));
  EXPECT_FALSE(speaks("ETag: \"v2\"\nContent-Length: 10\n"));
  EXPECT_FALSE(speaks("ETag: \"v1\"\n", 404));
}

// ---- Conditions (§4.3.2) ------------------------------------------------------------------------------------------

TEST(Conditions, IfNoneMatchComparesWeaklyAndGoesFirst_9110_13_1_2) {
  const auto entry = entry_of(Answer(kFull));
  EXPECT_EQ(answer(*entry, "If-None-Match: \"v1\"\n").status(), "304");
  EXPECT_EQ(answer(*entry, "If-None-Match: \"a,b\", W/\"v1\"\n").status(), "304");
  EXPECT_EQ(answer(*entry, "If-None-Match: \"x\"\nIf-None-Match: \"v1\"\n").status(), "304");
  EXPECT_EQ(answer(*entry, "If-None-Match: *\n").status(), "304");
  EXPECT_EQ(answer(*entry, "If-None-Match: \"v2\"\n").status(), "200");
  EXPECT_EQ(answer(*entry, "If-None-Match: v1\n").status(), "200");
  EXPECT_EQ(answer(*entry, "If-None-Match: \"v2\"\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\n").status(),
            "200");
}

TEST(Conditions, IfModifiedSince_4_3_2) {
  const auto entry = entry_of(Answer(kFull));
  EXPECT_EQ(answer(*entry, "If-Modified-Since: Sun, 06 Nov 1994 08:00:00 GMT\n").status(), "304");
  EXPECT_EQ(answer(*entry, "If-Modified-Since: Sun, 06 Nov 1994 07:59:59 GMT\n").status(), "200");
  EXPECT_EQ(answer(*entry, "If-Modified-Since: yesterday\n").status(), "200");
  const auto undated = entry_of(Answer("Cache-Control: max-age=60\nDate: Sun, 06 Nov 1994 08:49:30 GMT\n"));
  EXPECT_EQ(answer(*undated, "If-Modified-Since: Sun, 06 Nov 1994 08:49:30 GMT\n").status(), "304");
  EXPECT_EQ(answer(*undated, "If-Modified-Since: Sun, 06 Nov 1994 08:49:29 GMT\n").status(), "200");
}

TEST(Conditions, A304DescribesNoBody_9110_15_4_5) {
  const auto entry = entry_of(Answer(kFull + "Vary: x\nContent-Location: /a\nExpires: 0\n"));
  const Written written = answer(*entry, "If-None-Match: \"v1\"\n", 3);
  for (const char* name : {"Cache-Control", "Content-Location", "Date", "ETag", "Expires", "Vary"}) {
    EXPECT_TRUE(written.names(name)) << name;
  }
  EXPECT_FALSE(written.names("Content-Type"));
  EXPECT_FALSE(written.names("Content-Length"));
  EXPECT_TRUE(written.has("Age: 3"));
  EXPECT_EQ(written.body.size(), 0u);
}

TEST(Conditions, OnlyWhereItWouldSucceed_9110_13_2_1) {
  const auto entry = entry_of(Answer(kFull, 404));
  EXPECT_EQ(answer(*entry, "If-None-Match: \"v1\"\n").status(), "404");
  EXPECT_EQ(answer(*entry, "Range: bytes=0-1\n").status(), "404");
}

// ---- Ranges (RFC 9110 §14) ----------------------------------------------------------------------------------------

TEST(Ranges, OneRangeOfBytes_9110_14_1_2) {
  const auto entry = entry_of(Answer(kFull));
  const auto part = [&](const std::string& range) { return answer(*entry, "Range: " + range + "\n"); };
  struct Case {
    const char* range;
    std::size_t first;
    std::size_t size;
    const char* content_range;
  };
  for (const Case& c : std::initializer_list<Case>{{"bytes=0-0", 0, 1, "bytes 0-0/10"},
                                                   {"bytes=2-4", 2, 3, "bytes 2-4/10"},
                                                   {"BYTES=2-", 2, 8, "bytes 2-9/10"},
                                                   {"bytes=-3", 7, 3, "bytes 7-9/10"},
                                                   {"bytes=-30", 0, 10, "bytes 0-9/10"},
                                                   {"bytes=9-1000", 9, 1, "bytes 9-9/10"}}) {
    const Written written = part(c.range);
    EXPECT_EQ(written.status(), "206") << c.range;
    EXPECT_EQ(written.text, kText.substr(c.first, c.size));
    EXPECT_TRUE(written.has(std::string("Content-Range: ") + c.content_range));
    EXPECT_TRUE(written.has("Content-Length: " + std::to_string(c.size)));
  }
  for (const char* outside : {"bytes=10-", "bytes=10-20", "bytes=-0"}) {
    const Written written = part(outside);
    EXPECT_EQ(written.status(), "416") << outside;
    EXPECT_TRUE(written.has("Content-Range: bytes */10"));
    EXPECT_TRUE(written.has("Content-Length: 0"));
  }
  for (const char* whole : {"lines=0-1", "bytes=,", "bytes=0-0,a", "bytes=", "bytes=-", "bytes=3-2", "bytes=a-b",
                            "bytes 0-1", "bytes=0-99999999999999999999"}) {
    EXPECT_EQ(part(whole).status(), "200") << whole;
  }
  EXPECT_EQ(answer(*entry, "Range: bytes=0-0\n", 0, "HEAD").status(), "200");
}

// ---- Several ranges (RFC 9110 §14.6, §15.3.7.2, §17.15) -----------------------------------------------------------

/// A body of 1000 bytes, in which no two places within 26 bytes look alike.
std::string alphabet() {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>('a' + i % 26);
  return text;
}
const std::string kLong = "Cache-Control: max-age=60\nContent-Type: text/plain\nContent-Length: 1000\n";

std::string boundary_of(const Written& written) {
  static const std::string kType = "Content-Type: multipart/byteranges; boundary=";
  const std::size_t at = written.head.find(kType);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kType.size();
  return written.head.substr(begin, written.head.find("\r\n", begin) - begin);
}

TEST(Ranges, SeveralAreSentAsParts_9110_14_6) {
  const std::string text = alphabet();
  const auto entry = entry_of(Answer(kLong), Ask(), text);
  const Written written = answer(*entry, "Range: bytes=0-1, 500-502 ,-3\n");
  EXPECT_EQ(written.status(), "206");
  const std::string boundary = boundary_of(written);
  ASSERT_EQ(boundary.size(), 32u);
  const auto part = [&](const std::string& range, const std::string& bytes) {
    return "--" + boundary + "\r\nContent-Type: text/plain\r\nContent-Range: bytes " + range + "/1000\r\n\r\n" + bytes +
           "\r\n";
  };
  EXPECT_EQ(written.text, part("0-1", "ab") + part("500-502", text.substr(500, 3)) + part("997-999", text.substr(997)) +
                              "--" + boundary + "--\r\n");
  EXPECT_TRUE(written.has("Content-Length: " + std::to_string(written.text.size())));
  EXPECT_FALSE(written.names("Content-Range"));
  EXPECT_FALSE(written.has("Content-Type: text/plain"));
  EXPECT_NE(boundary_of(answer(*entry, "Range: bytes=0-1,500-502\n")), boundary);
  EXPECT_EQ(answer(*entry, "Range: bytes=0-1,500-502\n", 0, "HEAD").status(), "200");
}

TEST(Ranges, PartsThatMeetAreOne_9110_15_3_7_2) {
  const std::string text = alphabet();
  const auto entry = entry_of(Answer(kLong), Ask(), text);
  const auto ranges = [&](const std::string& cache_request) {
    const Written written = answer(*entry, "Range: bytes=" + cache_request + "\n");
    std::string all = written.status();
    for (const AnswerBody::Part& part : written.body.parts()) {
      if (part.size != 0) all += " " + std::to_string(part.first) + "-" + std::to_string(part.first + part.size - 1);
    }
    return all;
  };
  EXPECT_EQ(ranges("0-9,5-20"), "206 0-20");
  EXPECT_EQ(ranges("0-9,10-20"), "206 0-20");
  // As far apart as what would stand between them, and one byte less.
  EXPECT_EQ(ranges("0-9,90-99"), "206 0-9 90-99");
  EXPECT_EQ(ranges("0-9,89-99"), "206 0-99");
  // In the order in which they were asked for; a third joins two.
  EXPECT_EQ(ranges("500-509,0-9"), "206 500-509 0-9");
  EXPECT_EQ(ranges("0-9,500-509,5-505"), "206 0-509");
  EXPECT_EQ(ranges("900-999,0-9,500-509,5-505"), "206 900-999 0-509");
  EXPECT_EQ(ranges("0-,0-,0-"), "206 0-999");
  // One that cannot be satisfied is left out, as long as there is another.
  EXPECT_EQ(ranges("1000-,0-1"), "206 0-1");
  EXPECT_EQ(ranges("1000-,2000-3000,-0"), "416");
  EXPECT_EQ(ranges(",, 0-1 ,"), "206 0-1");
  EXPECT_EQ(ranges("0-1,x"), "200 0-999");
}

TEST(Ranges, TheirNumberIsBounded_9110_17_15) {
  const auto entry = entry_of(Answer(kLong), Ask(), alphabet());
  std::string ranges = "bytes=0-0";
  for (std::size_t i = 1; i < kMaxRanges; ++i) ranges += ",0-0";
  EXPECT_EQ(answer(*entry, "Range: " + ranges + "\n").status(), "206");
  EXPECT_EQ(answer(*entry, "Range: " + ranges + ",0-0\n").status(), "200");
}

TEST(Ranges, PartsOfWhatIsCodedAreNotFramed) {
  const auto entry = entry_of(Answer(kLong + "Content-Encoding: gzip\n"), Ask(), alphabet());
  EXPECT_EQ(answer(*entry, "Range: bytes=0-1,500-501\n").status(), "200");
  EXPECT_EQ(answer(*entry, "Range: bytes=0-1\n").status(), "206");
}

TEST(Ranges, IfRangeComparesStrongly_9110_13_1_5) {
  const auto status = [](const Entry& entry, const std::string& value) {
    return answer(entry, "Range: bytes=0-0\nIf-Range: " + value + "\n").status();
  };
  const auto entry = entry_of(Answer(kFull));
  EXPECT_EQ(status(*entry, "\"v1\""), "206");
  EXPECT_EQ(status(*entry, "\"v2\""), "200");
  EXPECT_EQ(status(*entry, "W/\"v1\""), "200");
  EXPECT_EQ(status(*entry, "Sun, 06 Nov 1994 08:00:00 GMT"), "206");
  EXPECT_EQ(status(*entry, "Sun, 06 Nov 1994 08:00:01 GMT"), "200");
  const auto weak = entry_of(Answer("Cache-Control: max-age=9\nETag: W/\"v1\"\n"));
  EXPECT_EQ(status(*weak, "\"v1\""), "200");
  const auto just_made = entry_of(
      Answer("Cache-Control: max-age=9\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\nDate: Sun, 06 Nov 1994 08:49:37 "
             "GMT\n"));
  EXPECT_EQ(status(*just_made, "Sun, 06 Nov 1994 08:49:37 GMT"), "200");
  EXPECT_EQ(answer(*entry, "If-None-Match: \"v1\"\nRange: bytes=0-0\n").status(), "304");
}

TEST(Body, IsTheSameInWhateverPiecesItCame) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += static_cast<char>('a' + i % 23);
  for (const std::size_t step : {std::size_t{1}, std::size_t{4096}, std::size_t{5000}, text.size()}) {
    Body body;
    for (std::size_t at = 0; at < text.size(); at += step) body.append(std::string_view(text).substr(at, step));
    body.close();
    EXPECT_EQ(body.size(), text.size());
    EXPECT_EQ(body.capacity(), text.size());
    std::string read;
    while (read.size() < text.size()) read += body.at(read.size());
    EXPECT_EQ(read, text);
    EXPECT_EQ(body.at(text.size()), "");
    EXPECT_EQ(body.at(123'456).substr(0, 10), std::string_view(text).substr(123'456, 10));
  }
}

TEST(Body, IsReadWhileItGrows) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += static_cast<char>('a' + i % 23);
  Body body(text.size());
  EXPECT_EQ(body.size(), text.size());
  EXPECT_EQ(body.at(0), "");
  std::thread writer([&] {
    for (std::size_t at = 0; at < text.size(); at += 777) body.append(std::string_view(text).substr(at, 777));
    body.close();
  });
  std::string read;
  while (body.state() == Body::State::kGrowing || read.size() < text.size()) read += body.at(read.size());
  writer.join();
  EXPECT_EQ(read, text);
  EXPECT_EQ(body.capacity(), text.size());
}

}  // namespace
}  // namespace edge::runtime::cache
