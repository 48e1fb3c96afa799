#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "base/hash.h"
#include "base/hostname.h"
#include "base/ip.h"
#include "base/path.h"
#include "base/source.h"
#include "base/text/base64.h"
#include "base/units.h"

namespace edge {
namespace {

std::string normalised(std::string_view raw) {
  std::vector<char> buffer(raw.size() + 1);
  const auto path = normalise_path(raw, buffer.data());
  return path ? std::string(*path) : "(refused)";
}

TEST(Path, IsLeftAloneWhenNothingChanges) {
  char buffer[64];
  const std::string_view raw = "/a/b.c/d..e//x;y=1:2@/f....";
  const auto path = normalise_path(raw, buffer);
  ASSERT_TRUE(path);
  EXPECT_EQ(path->data(), raw.data());
  EXPECT_EQ(*path, raw);
}

TEST(Path, DecodesUnreservedAndNothingElse) {
  EXPECT_EQ(normalised("/%61%7e%2D%5f%41"), "/a~-_A");
  EXPECT_EQ(normalised("/a%2fb%5cc%20d%c3%a9"), "/a%2Fb%5Cc%20d%C3%A9");
  EXPECT_EQ(normalised("/%2541"), "/%2541");
}

TEST(Path, RemovesDotSegmentsAndKeepsEmptyOnes) {
  EXPECT_EQ(normalised("/a/./b"), "/a/b");
  EXPECT_EQ(normalised("/a/../b"), "/b");
  EXPECT_EQ(normalised("/a/.."), "/");
  EXPECT_EQ(normalised("/a/."), "/a/");
  EXPECT_EQ(normalised("/."), "/");
  EXPECT_EQ(normalised("/a//../b"), "/a/b");
  EXPECT_EQ(normalised("//a"), "//a");
  EXPECT_EQ(normalised("/a/%2e%2E/b"), "/b");
  EXPECT_EQ(normalised("/a/b/c/./../../g"), "/a/g");
  EXPECT_EQ(normalised("/..a/.b/..."), "/..a/.b/...");
  EXPECT_EQ(normalised("/a/%2e"), "/a/");
}

std::string ruled(const PathRules& rules, std::string_view raw) {
  std::vector<char> buffer(raw.size() + 1);
  const auto path = normalise_path(raw, buffer.data());
  if (!path) return "(malformed)";
  const auto done = apply_path_rules(rules, *path, buffer.data());
  if (!done) return "(refused)";
  // Whatever is done to it, it is a path as every other.
  EXPECT_EQ(normalised(*done), *done) << raw;
  std::vector<char> again(done->size() + 1);
  EXPECT_EQ(apply_path_rules(rules, *done, again.data()), *done) << raw;
  return std::string(*done);
}

TEST(PathRules, WithoutAnyAPathStaysAsItIs) {
  for (const char* path : {"//admin", "/%2Fadmin", "/a%5Cb", "/x/..;/admin", "/admin;x=1", "/a%3Bb", "/"}) {
    EXPECT_EQ(ruled({}, path), path);
  }
}

TEST(PathRules, MergeSlashes) {
  const PathRules rules{.merge_slashes = true};
  EXPECT_EQ(ruled(rules, "//admin"), "/admin");
  EXPECT_EQ(ruled(rules, "/a///b//"), "/a/b/");
  EXPECT_EQ(ruled(rules, "///"), "/");
  EXPECT_EQ(ruled(rules, "/a/.//b"), "/a/b");
  EXPECT_EQ(ruled(rules, "/a//../b"), "/a/b");
  EXPECT_EQ(ruled(rules, "/%2F/admin"), "/%2F/admin");
}

TEST(PathRules, EscapedSlashes) {
  const PathRules reject{.escaped_slashes = EscapedSlashes::kReject};
  for (const char* path : {"/%2Fadmin", "/admin%2f", "/a%5cb", "/a/..%2Fb"})
    EXPECT_EQ(ruled(reject, path), "(refused)");
  EXPECT_EQ(ruled(reject, "/a%252Fb"), "/a%252Fb");
  EXPECT_EQ(ruled(reject, "//admin;x"), "//admin;x");
  const PathRules unescape{.merge_slashes = true, .escaped_slashes = EscapedSlashes::kUnescape};
  EXPECT_EQ(ruled(unescape, "/%2Fadmin"), "/admin");
  EXPECT_EQ(ruled(unescape, "/admin%2f"), "/admin/");
  EXPECT_EQ(ruled(unescape, "/x/..%2fadmin"), "/admin");
  EXPECT_EQ(ruled(unescape, "/x/%2e%2e%2Fadmin/%2e"), "/admin/");
  EXPECT_EQ(ruled(unescape, "/a%2F.%2Fb"), "/a/b");
  EXPECT_EQ(ruled(unescape, "/..%2Fadmin"), "(refused)");
  EXPECT_EQ(ruled(unescape, "/a%5Cb"), "(refused)");
  EXPECT_EQ(ruled(unescape, "/a%252Fb"), "/a%252Fb");
  const PathRules kept{.escaped_slashes = EscapedSlashes::kUnescape};
  EXPECT_EQ(ruled(kept, "/%2Fadmin"), "//admin");
}

TEST(PathRules, Parameters) {
  const PathRules rules{.reject_parameters = true};
  for (const char* path : {"/admin;x=1", "/x/..;/admin", "/a%3bb", "/;"}) EXPECT_EQ(ruled(rules, path), "(refused)");
  EXPECT_EQ(ruled(rules, "/a%2Fb//c"), "/a%2Fb//c");
}

// Every path of up to four of these pieces: what comes out keeps what the rules promise (and what `ruled` asks).
TEST(PathRules, HoldForEveryPath) {
  constexpr std::string_view kPieces[] = {"/", "a", ".", "..", "%2f", "%5C", ";", "%3B", "%252F"};
  constexpr PathRules kRules[] = {{.merge_slashes = true},
                                  {.escaped_slashes = EscapedSlashes::kUnescape},
                                  {.merge_slashes = true, .escaped_slashes = EscapedSlashes::kUnescape},
                                  {.merge_slashes = true, .escaped_slashes = EscapedSlashes::kReject},
                                  {true, EscapedSlashes::kUnescape, true}};
  std::vector<std::string> paths = {"/"};
  for (std::size_t begin = 0, depth = 0; depth < 4; ++depth) {
    const std::size_t end = paths.size();
    for (std::size_t i = begin; i < end; ++i) {
      for (const std::string_view piece : kPieces) paths.push_back(paths[i] + std::string(piece));
    }
    begin = end;
  }
  for (const PathRules& rules : kRules) {
    for (const std::string& path : paths) {
      const std::string result = ruled(rules, path);
      const auto has = [&](std::string_view text) { return result.find(text) != std::string::npos; };
      if (result.front() != '/') continue;
      EXPECT_FALSE(rules.merge_slashes && has("//")) << path << " became " << result;
      EXPECT_FALSE(rules.escaped_slashes != EscapedSlashes::kKeep && (has("%2F") || has("%5C"))) << path;
      EXPECT_FALSE(rules.reject_parameters && (has(";") || has("%3B"))) << path;
    }
  }
}

TEST(Path, RefusesWhatIsNoPathOrClimbsAboveTheRoot) {
  for (const char* bad : {"",
                          "a",
                          "*",
                          "/..",
                          "/../a",
                          "/a/../..",
                          "/a/../../b",
                          "/%2e%2e/",
                          "/a%00",
                          "/a%0",
                          "/a%",
                          "/a%zz",
                          "/a b",
                          "/a\tb",
                          "/a\x7f",
                          "/a\x80",
                          "/a\\b",
                          "/a?b",
                          "/a#b",
                          "/a\r\n",
                          "/abcdefghijklmnopqrstuvwxyz/0123456789\x01",
                          "/abcdefghijklmnopqrstuvw/\xff/0123456789"}) {
    EXPECT_EQ(normalised(bad), "(refused)") << bad;
  }
}

// Every position of a special byte, so that each lane and the overlapping last block of the vector scan are met.
TEST(Path, FindsASpecialByteAtEveryPosition) {
  for (std::size_t size = 2; size < 70; ++size) {
    for (std::size_t at = 1; at < size; ++at) {
      std::string raw(size, 'a');
      raw[0] = '/';
      raw[at] = '\n';
      EXPECT_EQ(normalised(raw), "(refused)");
      if (at + 2 >= size) continue;
      raw.replace(at, 3, "%41");
      std::string expected = raw;
      expected.replace(at, 3, "A");
      EXPECT_EQ(normalised(raw), expected);
    }
  }
}

TEST(Path, NormalisingTwiceChangesNothing) {
  std::mt19937 random(20261121);
  const std::string_view alphabet[] = {"/", "/", ".", "..", "%2e", "%2F", "a", "bc", "%41", "%c3", "//", "~", "%25"};
  for (int round = 0; round < 20'000; ++round) {
    std::string raw = "/";
    for (unsigned n = random() % 12; n > 0; --n) raw += alphabet[random() % std::size(alphabet)];
    const std::string once = normalised(raw);
    if (once == "(refused)") continue;
    EXPECT_LE(once.size(), raw.size());
    EXPECT_EQ(normalised(once), once) << raw;
    for (const char* dots : {"/./", "/../"}) EXPECT_EQ(once.find(dots), std::string::npos) << raw;
  }
}

std::string host_of(std::string_view text) {
  char buffer[256];
  const auto host = canonical_host(text, buffer);
  return host ? std::string(*host) : "(refused)";
}

TEST(Host, IsCanonical) {
  EXPECT_EQ(host_of("example.com"), "example.com");
  EXPECT_EQ(host_of("Example.COM.:8080"), "example.com");
  EXPECT_EQ(host_of("example.com:"), "example.com");
  EXPECT_EQ(host_of("10.0.0.1:80"), "10.0.0.1");
  EXPECT_EQ(host_of("[::1]:80"), "[::1]");
  EXPECT_EQ(host_of("[0:0::0:1]"), "[::1]");
  EXPECT_EQ(host_of("[2001:DB8::A]"), "[2001:db8::a]");
  EXPECT_EQ(host_of("my_host"), "my_host");
  EXPECT_EQ(host_of(std::string(255, 'a')), std::string(255, 'a'));
  EXPECT_EQ(host_of(std::string(255, 'A') + ".:65535"), std::string(255, 'a'));
}

TEST(Host, RefusesWhatIsNoAuthority) {
  for (const char* bad :
       {"",          ".",      ".a",         "a..b", "a b", "user@a", "a:b",      "a:65536", "a:80:80", "[::1", "::1",
        "[1.2.3.4]", "[::1]x", "[::1%eth0]", "a/b",  "%61", "a,b c",  "\xc3\xa9", "[v1.x]",  ":80",     ".:80"}) {
    EXPECT_EQ(host_of(bad), "(refused)") << bad;
  }
  EXPECT_EQ(host_of(std::string(256, 'a')), "(refused)");
}

HostPattern pattern(std::string_view text) {
  const auto parsed = HostPattern::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(HostPattern());
}

TEST(HostPattern, ParsesNamesAndWildcards) {
  EXPECT_EQ(pattern("Shop.Example.com.").text(), "shop.example.com");
  EXPECT_EQ(pattern("*.Example.com").text(), "*.example.com");
  EXPECT_EQ(pattern("[::0:1]").text(), "[::1]");
  EXPECT_EQ(pattern("10.1.2.3").text(), "10.1.2.3");
  for (const char* bad : {"", "*", "*.", "a.*.b", "*a.b", "-a.b", "a-.b", "a..b", "a_b", "a b", "**.a", "*.*.a", "a:80",
                          "*.10.0.0.1", "http://a", "a/b", "é.com"}) {
    EXPECT_FALSE(HostPattern::parse(bad)) << bad;
  }
  EXPECT_FALSE(HostPattern::parse(std::string(64, 'a') + ".b"));
  EXPECT_TRUE(HostPattern::parse(std::string(63, 'a') + ".b"));
  std::string longest;
  while (longest.size() < 252) longest += "a.";
  EXPECT_TRUE(HostPattern::parse(longest + "a"));
  EXPECT_FALSE(HostPattern::parse(longest + "aa"));
}

TEST(HostPattern, WildcardCoversLabelsOnTheirBoundary) {
  const HostPattern wildcard = pattern("*.example.com");
  EXPECT_TRUE(wildcard.matches("a.example.com"));
  EXPECT_TRUE(wildcard.matches("a.b.example.com"));
  EXPECT_FALSE(wildcard.matches("example.com"));
  EXPECT_FALSE(wildcard.matches("evilexample.com"));
  EXPECT_FALSE(wildcard.matches(".example.com"));
  EXPECT_TRUE(HostPattern().matches("anything"));
  EXPECT_FALSE(pattern("a.com").matches("b.a.com"));
}

TEST(HostPattern, Intersects) {
  const auto both = [](std::string_view a, std::string_view b) {
    const auto result =
        HostPattern::intersect(a.empty() ? HostPattern() : pattern(a), b.empty() ? HostPattern() : pattern(b));
    return result ? result->text() : "(none)";
  };
  EXPECT_EQ(both("", "a.com"), "a.com");
  EXPECT_EQ(both("*.com", ""), "*.com");
  EXPECT_EQ(both("*.a.com", "x.a.com"), "x.a.com");
  EXPECT_EQ(both("x.a.com", "*.com"), "x.a.com");
  EXPECT_EQ(both("*.a.com", "*.com"), "*.a.com");
  EXPECT_EQ(both("*.com", "*.a.com"), "*.a.com");
  EXPECT_EQ(both("*.a.com", "*.aa.com"), "(none)");
  EXPECT_EQ(both("*.a.com", "a.com"), "(none)");
  EXPECT_EQ(both("a.com", "b.com"), "(none)");
  EXPECT_EQ(both("*.a.com", "*.a.com"), "*.a.com");
}

TEST(HostPattern, OrdersBySpecificity) {
  std::vector<HostPattern> patterns = {HostPattern(), pattern("*.com"), pattern("b.com"), pattern("*.x.com"),
                                       pattern("a.com")};
  std::sort(patterns.begin(), patterns.end(), HostPattern::more_specific);
  std::vector<std::string> texts;
  for (const HostPattern& p : patterns) texts.push_back(p.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"a.com", "b.com", "*.x.com", "*.com", ""}));
}

TEST(Ip, ParsesAndPrints) {
  for (const char* text : {"0.0.0.0", "255.255.255.255", "127.0.0.1", "::1", "2001:db8::1", "fe80::1:2:3"}) {
    const auto address = parse_ip(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(to_string(*address), text);
  }
  EXPECT_EQ(to_string(*parse_ip("::ffff:10.0.0.1")), "10.0.0.1");
  for (const char* bad : {"", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "1.2.3.4 ", "fe80::1%eth0", "[::1]",
                          ":::", "1.2.3.4:80", "12345::", "a"}) {
    EXPECT_FALSE(parse_ip(bad)) << bad;
  }
  EXPECT_FALSE(parse_ip(std::string_view("1.2.3.4\0", 8)));
}

TEST(Ip, CidrContains) {
  const auto contains = [](std::string_view cidr, std::string_view ip) {
    return parse_cidr(cidr)->contains(*parse_ip(ip));
  };
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.0.1"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(contains("10.0.0.0/13", "10.7.0.0"));
  EXPECT_FALSE(contains("10.0.0.0/13", "10.8.0.0"));
  EXPECT_TRUE(contains("0.0.0.0/0", "1.2.3.4"));
  EXPECT_FALSE(contains("0.0.0.0/0", "::1"));
  EXPECT_TRUE(contains("::/0", "1.2.3.4"));
  EXPECT_TRUE(contains("fd00::/8", "fd12::1"));
  EXPECT_TRUE(contains("10.1.2.3", "10.1.2.3"));
  EXPECT_FALSE(contains("10.1.2.3", "10.1.2.2"));
  EXPECT_EQ(to_string(*parse_cidr("10.1.2.3/8")), "10.0.0.0/8");
  EXPECT_EQ(to_string(*parse_cidr("10.1.2.3")), "10.1.2.3/32");
  EXPECT_EQ(to_string(*parse_cidr("fd00::1/16")), "fd00::/16");
  for (const char* bad : {"10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/08", "10.0.0.0/-1", "/8", "10.0.0.0/8/8"}) {
    EXPECT_FALSE(parse_cidr(bad)) << bad;
  }
}

TEST(Units, Durations) {
  using std::chrono::milliseconds;
  EXPECT_EQ(parse_duration("25ms"), milliseconds(25));
  EXPECT_EQ(parse_duration("1h30m"), milliseconds(5'400'000));
  EXPECT_EQ(parse_duration("1.5s"), milliseconds(1500));
  EXPECT_EQ(parse_duration("86400s"), milliseconds(86'400'000));
  EXPECT_EQ(parse_duration("0"), milliseconds(0));
  EXPECT_EQ(parse_duration("87600h"), milliseconds(std::int64_t{87'600} * 3'600'000));
  for (const char* bad :
       {"", "5", "s", "-1s", "1d", "1s ", "1 s", "87601h", "99999999999999999999s", "1.s", ".", "1..5s"}) {
    EXPECT_FALSE(parse_duration(bad)) << bad;
  }
  EXPECT_EQ(duration_text(milliseconds(5'400'025)), "1h30m25ms");
  EXPECT_EQ(duration_text(milliseconds(0)), "0s");
}

TEST(Units, Sizes) {
  EXPECT_EQ(parse_size("1024"), 1024U);
  EXPECT_EQ(parse_size("10Mi"), 10U << 20);
  EXPECT_EQ(parse_size("1KB"), 1000U);
  EXPECT_EQ(parse_size("2MB"), 2'000'000U);
  EXPECT_EQ(parse_size("9223372036854775807"), 9223372036854775807U);
  for (const char* bad : {"", "Mi", "1M", "1 Mi", "-1", "1.5Mi", "9223372036854775808", "9007199254740993Ki", "1mi"}) {
    EXPECT_FALSE(parse_size(bad)) << bad;
  }
}

TEST(Units, Timestamps) {
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_timestamp("2026-11-21T09:00:00Z"), 1795251600);
  EXPECT_EQ(parse_timestamp("2026-11-21T10:00:00.25+01:00"), 1795251600);
  for (const char* bad : {"", "2026-11-21", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-21T24:00:00Z",
                          "2026-11-21T09:00:00", "2026-11-21T09:00:00.Z", "2026-11-21 09:00:00Z"}) {
    EXPECT_FALSE(parse_timestamp(bad)) << bad;
  }
}

TEST(Source, KnowsLinesAndColumns) {
  const SourceText source("a", "one\r\ntwo\n\nfour");
  EXPECT_EQ(source.position(0).line, 1U);
  EXPECT_EQ(source.position(5).line, 2U);
  EXPECT_EQ(source.position(7).column, 3U);
  EXPECT_EQ(source.position(14).line, 4U);
  EXPECT_EQ(source.line(1), "one");
  EXPECT_EQ(source.line(3), "");
  EXPECT_EQ(source.line(4), "four");
  EXPECT_EQ(source.line(5), "");
  EXPECT_EQ(source.line(0), "");
}

TEST(Diagnostics, OrderDoesNotDependOnTheOrderOfAdding) {
  SourceMap sources;
  const auto b = sources.add("b.yaml", "x: 1\n");
  const auto a = sources.add("a.yaml", "y: 2\n");
  const auto make = [](Span span, std::string message) {
    return Diagnostic{.code = DiagnosticCode::kUnknownField, .span = span, .message = std::move(message)};
  };
  std::vector<Diagnostic> given = {make({b, 0, 1}, "one"), make({a, 3, 4}, "two"), make({a, 0, 1}, "three"),
                                   make({}, "nowhere"), make({a, 0, 1}, "three")};
  std::string first;
  for (int round = 0; round < 120; ++round) {
    Diagnostics diagnostics;
    for (const Diagnostic& d : given) diagnostics.add(d);
    diagnostics.finish(sources);
    EXPECT_EQ(diagnostics.errors(), 4U);
    std::string order;
    for (const Diagnostic& d : diagnostics.all()) order += d.message + " ";
    EXPECT_EQ(order, "three two one nowhere ");
    std::next_permutation(given.begin(), given.end(),
                          [](const Diagnostic& x, const Diagnostic& y) { return x.message < y.message; });
  }
}

TEST(Diagnostics, KeepsABoundedNumberAndCountsTheRest) {
  Diagnostics diagnostics(2);
  for (int i = 0; i < 5; ++i) diagnostics.add({.code = DiagnosticCode::kSyntax, .message = std::to_string(i)});
  EXPECT_EQ(diagnostics.all().size(), 2U);
  EXPECT_EQ(diagnostics.dropped(), 3U);
  EXPECT_EQ(diagnostics.errors(), 5U);
  EXPECT_FALSE(diagnostics.ok());
}

TEST(Diagnostics, RenderWithLabelsNotesAndHelp) {
  SourceMap sources;
  const std::string text = "spec:\n\thostname: shop\n  x: 1\n  y: 2\n  z: 3\n  hostname: b\n";
  const auto id = sources.add("r.yaml", text);
  const auto at = static_cast<std::uint32_t>(text.rfind("hostname"));
  const Diagnostic diagnostic{.code = DiagnosticCode::kUnknownField,
                              .resource = "ProxyRoute shop/api",
                              .field = "spec.hostname",
                              .span = {id, at, at + 8},
                              .message = "unknown field `hostname`",
                              .labels = {{{id, at, at + 8}, "not a field"}, {{id, 7, 15}, "first here"}},
                              .notes = {"a note"},
                              .fix = "write `hostnames`"};
  EXPECT_EQ(render(diagnostic, sources, Colour::kNo),
            "error[EDGE0101]: unknown field `hostname`\n"
            " --> r.yaml:6:3\n"
            "  |\n"
            "2 |     hostname: shop\n"
            "  |     -------- first here\n"
            "...\n"
            "6 |   hostname: b\n"
            "  |   ^^^^^^^^ not a field\n"
            "  |\n"
            "  = in: ProxyRoute shop/api, spec.hostname\n"
            "  = note: a note\n"
            "  = help: write `hostnames`\n");
  const std::string coloured = render(diagnostic, sources, Colour::kYes);
  EXPECT_NE(coloured.find("\x1b[1;31m^^^^^^^^ not a field\x1b[0m"), std::string::npos);
}

TEST(Diagnostics, RenderAcrossLinesAndFiles) {
  SourceMap sources;
  const auto a = sources.add("a.yaml", "rules:\n- one\n- two\n");
  const auto b = sources.add("b.yaml", "other: é x\n");
  const Diagnostic diagnostic{.code = DiagnosticCode::kWrongType,
                              .severity = Severity::kWarning,
                              .span = {a, 0, 18},
                              .message = "bad",
                              .labels = {{{b, 10, 11}, "see"}}};
  EXPECT_EQ(render(diagnostic, sources, Colour::kNo),
            "warning[EDGE0102]: bad\n"
            " --> a.yaml:1:1\n"
            "  |\n"
            "1 | rules:\n"
            "  | ^^^^^^\n"
            "2 ||- one\n"
            "3 ||- two\n"
            " ::: b.yaml:1:11\n"
            "  |\n"
            "1 | other: é x\n"
            "  |          - see\n"
            "  |\n");
}

TEST(Diagnostics, RenderNeverSendsControlBytesAndClipsLongLines) {
  SourceMap sources;
  std::string text = std::string(100'000, 'a') + "\x1b[2J!" + std::string(100'000, 'b');
  const auto id = sources.add("x\x1b.yaml", text);
  const Diagnostic diagnostic{
      .code = DiagnosticCode::kSyntax, .span = {id, 100'000, 100'001}, .message = "\x1b]0;t\x07"};
  const std::string out = render(diagnostic, sources, Colour::kNo);
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
  EXPECT_EQ(out.find('\x07'), std::string::npos);
  EXPECT_LT(out.size(), 1'000U);
}

TEST(Diagnostics, RenderTakesAnySpan) {
  SourceMap sources;
  const auto id = sources.add("a", "ab\n\xc3");
  for (std::uint32_t begin = 0; begin < 8; ++begin) {
    for (std::uint32_t end = 0; end < 8; ++end) {
      const Diagnostic diagnostic{.code = DiagnosticCode::kSyntax, .span = {id, begin, end}, .message = "m"};
      EXPECT_FALSE(render(diagnostic, sources, Colour::kNo).empty());
    }
  }
  const Diagnostic nowhere{.code = DiagnosticCode::kSyntax, .span = {7, 0, 1}, .message = "m"};
  EXPECT_EQ(render(nowhere, sources, Colour::kNo), "error[EDGE0001]: m\n");
}

TEST(Diagnostics, NearestName) {
  const std::vector<std::string_view> names = {"hostnames", "hostname", "port", "type", "TLS"};
  EXPECT_EQ(nearest_name("hostname", names), "hostname");
  EXPECT_EQ(nearest_name("hostnmaes", names), "hostnames");
  EXPECT_EQ(nearest_name("HostNames", names), "hostnames");
  EXPECT_EQ(nearest_name("prot", names), "port");
  EXPECT_EQ(nearest_name("host", names), "hostnames");
  EXPECT_EQ(nearest_name("zzzz", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(1000, 'a'), names), "");
}

TEST(Diagnostics, CodesHaveTitles) {
  EXPECT_EQ(code_text(DiagnosticCode::kSyntax), "EDGE0001");
  EXPECT_EQ(code_title(DiagnosticCode::kNotServed), "accepted, but not served by this version");
}

TEST(Hash, IsFixed) {
  // The values stand in programs: a change of them is a change of the format.
  EXPECT_EQ(stable_id("ProxyGateway", "shop", "web"), stable_id("ProxyGateway", "shop", "web"));
  EXPECT_NE(stable_id("ProxyGateway", "shopw", "eb"), stable_id("ProxyGateway", "shop", "web"));
  EXPECT_NE(hash_bytes(0, "a"), hash_bytes(0, std::string_view("a\0", 2)));
}

TEST(Base64Url, RoundsAndIsStrict) {
  std::string bytes;
  for (int i = 0; i < 260; ++i) {
    const std::string text = to_base64url(bytes);
    EXPECT_EQ(text.find_first_of("+/="), std::string::npos);
    EXPECT_EQ(from_base64url(text), bytes);
    bytes += static_cast<char>(i * 7);
  }
  EXPECT_EQ(to_base64url("\xfb\xff"), "-_8");
  EXPECT_EQ(from_base64url("-_8"), "\xfb\xff");
  EXPECT_EQ(from_base64url(""), "");
  // Padding, the other alphabet, blanks, line ends, one digit alone, bits that the last digit has over.
  for (const char* text :
       {"-_8=", "+/8", "QQ==", " QQ", "QQ\n", "QUJD\r\n", "Q", "QUJDR", "QR", "QUF", "Q\x80", "QUJ?"}) {
    EXPECT_EQ(from_base64url(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace edge
