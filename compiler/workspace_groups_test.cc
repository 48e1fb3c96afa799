#include <string>

#include "compiler/test_world.h"
#include "compiler/workspace.h"

namespace edge::compiler {
namespace {

using namespace world;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string gateway_of(const std::string& name, int port, const std::string& groups) {
  return resource("ProxyGateway", name,
                  "{" + (groups.empty() ? "" : "agentGroups: [" + groups + "], ") + "listeners: [{name: " + name +
                      ", port: " + std::to_string(port) + ", protocol: HTTP}]}");
}

std::string route_on(const std::string& name, const std::string& gateways, const std::string& host) {
  return resource("ProxyRoute", name,
                  "{parentRefs: [" + gateways + "], hostnames: [" + host +
                      "], rules: [{matches: [{path: {type: PathPrefix, value: /}}], backendRef: {name: b0}}]}");
}

Documents two_groups() {
  return {{"backend", backend("b0")},
          {"service", service("b0")},
          {"slice", slice("b0", "10.0.0.1")},
          {"gateway", gateway()},
          {"inside", gateway_of("inside", 8081, "office, lab")},
          {"all", route_on("all", "{name: edge}, {name: inside}", "all.com")},
          {"office", route_on("office", "{name: inside}", "office.com")}};
}

std::string dump_of(const std::shared_ptr<const std::vector<std::byte>>& bytes) {
  const auto view = program::read(bytes);
  return view ? program::dump_routes(*view) : view.error().text;
}

TEST(WorkspaceGroups, EachServesItsGatewaysAndThoseOfAll) {
  Workspace workspace({.target = program::Target::kTablesOnly});
  const auto artifact = workspace.apply(all_of(two_groups()));
  ASSERT_TRUE(artifact);
  const std::string others = dump_of(artifact->bytes);
  EXPECT_THAT(others, HasSubstr("all.com"));
  EXPECT_THAT(others, Not(HasSubstr("office.com")));
  EXPECT_THAT(others, Not(HasSubstr("8081")));
  ASSERT_EQ(workspace.group_programs().size(), 2U);
  const GroupProgram& office = workspace.group_programs().at("office");
  EXPECT_THAT(dump_of(office.bytes), HasSubstr("office.com"));
  EXPECT_THAT(dump_of(office.bytes), HasSubstr("8081"));
  EXPECT_THAT(dump_of(office.bytes), HasSubstr("8080"));
  EXPECT_EQ(workspace.group_programs().at("lab").hash, office.hash);
}

/// Programs of one group are what they were before there were groups.
TEST(WorkspaceGroups, WhatIsForAllIsWhatItWouldBeAlone) {
  Documents documents = two_groups();
  Workspace with({.target = program::Target::kTablesOnly});
  const auto artifact = with.apply(all_of(documents));
  documents.erase("inside");
  documents.erase("office");
  documents["all"] = route_on("all", "{name: edge}", "all.com");
  Workspace without({.target = program::Target::kTablesOnly});
  const auto alone = without.apply(all_of(documents));
  ASSERT_TRUE(artifact && alone);
  EXPECT_EQ(artifact->hash, alone->hash);
}

TEST(WorkspaceGroups, AChangeForOneChangesItsProgramAlone) {
  Workspace workspace({.target = program::Target::kTablesOnly});
  const auto before = workspace.apply(all_of(two_groups()));
  const program::Hash office = workspace.group_programs().at("office").hash;
  const auto after = workspace.apply({{"office", route_on("office", "{name: inside}", "new.office.com")}});
  ASSERT_TRUE(before && after);
  EXPECT_EQ(after->hash, before->hash);
  EXPECT_NE(workspace.group_programs().at("office").hash, office);

  // Gone, and there again.
  const auto none = workspace.apply({{"inside", gateway_of("inside", 8081, "")}});
  ASSERT_TRUE(none);
  EXPECT_TRUE(workspace.group_programs().empty());
  EXPECT_THAT(dump_of(none->bytes), HasSubstr("new.office.com"));
  const auto again = workspace.apply({{"inside", gateway_of("inside", 8081, "office, lab")}});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->hash, before->hash);
}

/// Each of its own program; what is for all agents, or shares a group, contends with both.
TEST(WorkspaceGroups, GatewaysOfDifferentGroupsMayHaveOnePort) {
  Documents documents = two_groups();
  documents["inside"] = gateway_of("inside", 8081, "office");
  documents["outside"] = gateway_of("outside", 8081, "lab");
  documents["lab"] = route_on("lab", "{name: outside}", "lab.com");
  Workspace workspace({.target = program::Target::kTablesOnly});
  ASSERT_TRUE(workspace.apply(all_of(documents)));
  const auto program_of = [&](const char* group) { return dump_of(workspace.group_programs().at(group).bytes); };
  EXPECT_THAT(said_by(workspace, documents), Not(HasSubstr("already claimed")));
  EXPECT_THAT(program_of("office"), AllOf(HasSubstr("office.com"), Not(HasSubstr("lab.com"))));
  EXPECT_THAT(program_of("lab"), AllOf(HasSubstr("lab.com"), Not(HasSubstr("office.com"))));

  // The first holds: no gateway here has an age.
  const auto both = gateway_of("outside", 8081, "lab, office");
  documents["outside"] = both;
  ASSERT_TRUE(workspace.apply({{"outside", both}}));
  EXPECT_THAT(said_by(workspace, documents), HasSubstr("every host on port 8081 is already claimed"));
  EXPECT_THAT(program_of("office"), HasSubstr("office.com"));
  EXPECT_THAT(program_of("lab"), Not(HasSubstr("lab.com")));
  const auto all = gateway_of("outside", 8081, "");
  documents["outside"] = all;
  ASSERT_TRUE(workspace.apply({{"outside", all}}));
  EXPECT_THAT(said_by(workspace, documents), HasSubstr("every host on port 8081 is already claimed"));
}

TEST(WorkspaceGroups, NoMoreProgramsAreMadeThanIsSensible) {
  Documents documents = two_groups();
  for (int i = 10; i < 30; ++i) {
    const std::string n = std::to_string(i);
    documents["g" + n] = gateway_of("g" + n, 9000 + i, "group-" + n);
  }
  Workspace workspace({.target = program::Target::kTablesOnly});
  ASSERT_TRUE(workspace.apply(all_of(documents)));
  EXPECT_EQ(workspace.group_programs().size(), 16U);
  EXPECT_THAT(said_by(workspace, documents), HasSubstr("programs are made for no more"));
  EXPECT_FALSE(workspace.group_programs().contains("group-29"));
}

}  // namespace
}  // namespace edge::compiler
