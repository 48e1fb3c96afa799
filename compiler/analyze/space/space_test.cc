#include "compiler/analyze/space/space.h"

#include <gtest/gtest.h>

namespace edge::compiler::analyze {
namespace {

/// Tests of GoogleTest have a member of the name `Test`.
using Check = analyze::Test;
const Subject kMethod{Subject::Kind::kMethod};
const Subject kPath{Subject::Kind::kPath};
Subject header(const std::string& name) { return {Subject::Kind::kHeader, name}; }
Subject query(const std::string& name) { return {Subject::Kind::kQuery, name}; }

struct SpaceTest : ::testing::Test {
  Space space;

  /// The request as text, `none`, or why it is not decided.
  std::string find(Set set, std::uint64_t steps = kUsualEffort) {
    Effort effort(steps);
    const Finding finding = space.find(set, effort);
    if (finding.state == Finding::State::kFound) return witness_text(*finding.request);
    return finding.state == Finding::State::kNone ? "none" : finding.reason;
  }
  Set host(const char* pattern) { return space.host_in(*HostPattern::parse(pattern)); }
  Set source(const char* block) { return space.source_in(*parse_cidr(block)); }
  Set path(Check test, const std::string& operand) { return space.where(kPath, test, operand); }
};

TEST_F(SpaceTest, TheWholeAndNothing) {
  EXPECT_EQ(find(space.everything()), "GET http://any.example/");
  EXPECT_EQ(find(space.nothing()), "none");
  EXPECT_EQ(find(space.complement(space.everything())), "none");
}

TEST_F(SpaceTest, AFieldCannotHaveTwoValues) {
  const Set one = space.where(header("x-env"), Check::kEquals, "1");
  const Set two = space.where(header("x-env"), Check::kEquals, "2");
  EXPECT_EQ(find(space.all_of({one, two})), "none");
  EXPECT_EQ(find(space.minus(space.where(header("x-env"), Check::kPresent), one)),
            "GET http://any.example/ -H 'x-env: '");
  EXPECT_EQ(find(space.complement(space.any_of({one, two}))), "GET http://any.example/");
}

TEST_F(SpaceTest, FieldsThatAreJoined) {
  const Set set = space.where(header("x-a"), Check::kEquals, "1, ");
  EXPECT_EQ(find(set), "GET http://any.example/ -H 'x-a: 1' -H 'x-a: '");
  EXPECT_EQ(find(space.where(header("x-a"), Check::kEquals, "1 ")), "none");
}

TEST_F(SpaceTest, QueriesAreEncoded) {
  const Set set = space.all_of(
      {space.where(query("a key"), Check::kEquals, "50%"), space.where(query("b"), Check::kMatches, "^[0-9]{2}$")});
  EXPECT_EQ(find(set), "GET http://any.example/?a%20key=50%25&b=00");
}

TEST_F(SpaceTest, PrefixesAreWholeSegments) {
  const Set api = path(Check::kBelow, "/api");
  EXPECT_EQ(find(space.minus(api, path(Check::kEquals, "/api"))), "GET http://any.example/api/");
  EXPECT_EQ(find(space.all_of({api, path(Check::kMatches, "^/apiv2")})), "none");
}

TEST_F(SpaceTest, PatternsAreComparedExactly) {
  const Set versions = path(Check::kMatches, "^/api/v[0-9]+$");
  EXPECT_EQ(find(space.minus(versions, path(Check::kBelow, "/api"))), "none");
  EXPECT_EQ(find(space.minus(versions, path(Check::kMatches, "^/api/v[0-8]*$"))), "GET http://any.example/api/v9");
  // Dot segments never reach the rules, so neither pattern is found.
  EXPECT_EQ(find(path(Check::kMatches, "/\\.\\./")), "none");
  EXPECT_EQ(find(path(Check::kMatches, "%2f")), "none");
  EXPECT_EQ(find(path(Check::kMatches, "^/[^/]*%2F$")), "GET http://any.example/%2F");
}

TEST_F(SpaceTest, SeveralSetsCoverTogether) {
  const Set get = space.where(kMethod, Check::kEquals, "GET");
  const Set api = path(Check::kBelow, "/api");
  const Set covered = space.any_of({space.all_of({api, get}), space.minus(api, get)});
  EXPECT_EQ(find(space.minus(api, covered)), "none");
  EXPECT_EQ(find(space.minus(path(Check::kMatches, "^/ap"), covered)), "GET http://any.example/ap");
}

TEST_F(SpaceTest, OnlyOptionsAsksForTheServerAsAWhole) {
  const Set of_server = space.complement(path(Check::kBelow, ""));
  EXPECT_EQ(find(of_server), "OPTIONS http://any.example*");
  EXPECT_EQ(find(space.all_of({of_server, space.where(kMethod, Check::kEquals, "GET")})), "none");
}

TEST_F(SpaceTest, HostsAreNestedOrApart) {
  EXPECT_EQ(find(space.minus(host("*.a.test"), host("w.a.test"))), "GET http://w1.a.test/");
  EXPECT_EQ(find(space.minus(host("b.a.test"), host("*.a.test"))), "none");
  EXPECT_EQ(find(space.all_of({host("*.a.test"), host("a.test")})), "none");
  EXPECT_EQ(find(space.all_of({host("*.a.test"), host("*.b.a.test")})), "GET http://w.b.a.test/");
  EXPECT_EQ(find(space.complement(space.any_of({host("*.example"), host("a.test")}))), "GET http://any.example0/");
}

TEST_F(SpaceTest, AddressesAreIntervals) {
  const Set ten = source("10.0.0.0/8");
  EXPECT_EQ(find(space.minus(ten, source("10.0.0.0/9"))), "GET http://any.example/ from 10.128.0.0");
  EXPECT_EQ(find(space.minus(ten, space.any_of({source("10.0.0.0/9"), source("10.128.0.0/9")}))), "none");
  EXPECT_EQ(find(space.all_of({ten, source("192.168.0.0/16")})), "none");
  EXPECT_EQ(find(space.complement(source("::/0"))), "none");
  EXPECT_EQ(find(space.complement(source("::/1"))), "GET http://any.example/ from 8000::");
}

TEST_F(SpaceTest, TheHostFieldIsTheHost) {
  const Set field = space.where(header("host"), Check::kEquals, "a.test");
  EXPECT_EQ(find(space.all_of({field, host("a.test")})), "GET http://a.test/ -H 'host: a.test'");
  EXPECT_EQ(find(space.all_of({field, host("b.test")})), "a request would need another `Host` field than its host");
}

TEST_F(SpaceTest, EffortEndsASearch) {
  std::vector<Set> sets;
  for (int i = 0; i < 30; ++i) {
    const std::string name = "x-" + std::to_string(i);
    sets.push_back(space.any_of({space.where(header(name), Check::kMatches, "^[ab]*a[ab]{9}$"),
                                 space.where(header(name + "b"), Check::kMatches, "^[ab]*b[ab]{9}$")}));
  }
  EXPECT_EQ(find(space.all_of(sets), 500), "the search came to its bound");
}

TEST_F(SpaceTest, RefusalsLeaveOutWhatOthersTake) {
  const Set api = path(Check::kBelow, "/api");
  const Set get = space.where(kMethod, Check::kEquals, "GET");
  Effort effort(kUsualEffort);
  int asked = 0;
  const Finding covered = space.find(api, effort, [&](const Witness& request) -> std::optional<Set> {
    ++asked;
    return request.method == "GET" ? get : space.complement(get);
  });
  EXPECT_EQ(covered.state, Finding::State::kNone);
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace edge::compiler::analyze
