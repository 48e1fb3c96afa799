// What the controller's feeds say, the agent's assemblies understand; and nothing else passes.
#include <random>

#include <gtest/gtest.h>

#include "agent/received/received_program.h"
#include "agent/received/received_values.h"
#include "agent/sync/report.h"
#include "base/hash.h"
#include "controller/distribute/agents/agent_registry.h"
#include "controller/distribute/program_feed.h"
#include "controller/distribute/protocol.h"
#include "controller/distribute/publication.h"
#include "controller/distribute/values_feed.h"
#include "program/sign.h"
#include "program/test_program.h"
#include "schemas/agent.pb.h"

namespace edge {
namespace {

using agent::ProgramAssembly;
using agent::ProgramBytes;
using agent::ReceivedProgram;
using agent::v1::ProgramPart;
using controller::Difference;
using controller::ProgramFeed;
using controller::Publication;

/// A database of patterns in the eyes of all but who searches with it: any bytes.
program::SectionInput section(std::uint64_t id, std::size_t size, unsigned char fill) {
  return {program::SectionKind::kRegex, id, program::make_blob(std::vector<std::byte>(size, std::byte(fill)))};
}

ProgramBytes program_of(std::vector<program::SectionInput> sections) {
  return std::make_shared<const std::vector<std::byte>>(program::sample::program_of(std::move(sections)));
}

std::shared_ptr<const Publication> publication(ProgramBytes bytes, std::uint64_t version = 1) {
  auto made = Publication::make(std::move(bytes), {.version = version, .values = version});
  EXPECT_TRUE(made) << made.error().text;
  return *made;
}

std::vector<ProgramPart> parts(const std::shared_ptr<const Publication>& next, const Publication* base) {
  const auto outline = base == nullptr ? nullptr : base->shared_outline();
  auto change =
      outline ? next->from(*outline) : std::make_shared<const Difference>(difference(nullptr, next->outline(), {}));
  ProgramFeed feed(next, outline, std::move(change));
  std::vector<ProgramPart> all;
  while (!feed.at_end()) feed.next(all.emplace_back());
  return all;
}

/// What comes out of the last part, or the first error.
Result<std::optional<ReceivedProgram>> put_together(ProgramAssembly& assembly, const std::vector<ProgramPart>& all,
                                                    const ProgramBytes& running) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto taken = assembly.take(all[i], running);
    if (!taken || i + 1 == all.size()) return taken;
    EXPECT_FALSE(*taken);
  }
  return std::optional<ReceivedProgram>();
}

TEST(ProgramParts, CarryAWholeProgramInMessagesOfBoundedSize) {
  const ProgramBytes bytes = program_of({section(1, 3'000'000, 1), section(2, 100, 2), section(3, 262'144, 3)});
  const auto all = parts(publication(bytes), nullptr);
  EXPECT_GT(all.size(), 10U);
  for (const ProgramPart& part : all) EXPECT_LT(part.ByteSizeLong(), 2 * ProgramFeed::kPartBytes);
  ProgramAssembly assembly;
  const auto received = put_together(assembly, all, nullptr);
  ASSERT_TRUE(received) << received.error().text;
  ASSERT_TRUE(*received);
  EXPECT_EQ(*(*received)->bytes, *bytes);
}

TEST(ProgramParts, SendTheSectionsAloneThatTheAgentLacks) {
  const ProgramBytes before = program_of({section(1, 500'000, 1), section(2, 500'000, 2), section(3, 500'000, 3)});
  const ProgramBytes after = program_of({section(1, 500'000, 1), section(2, 1'000, 9), section(4, 500'000, 3)});
  const auto first = publication(before);
  const auto all = parts(publication(after, 2), first.get());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_LT(all[0].ByteSizeLong(), 1'000U + 1'000U);  // the section, and a table of three lines
  ProgramAssembly assembly;
  const auto received = put_together(assembly, all, before);
  ASSERT_TRUE(received) << received.error().text;
  EXPECT_EQ(*(*received)->bytes, *after);
  EXPECT_EQ((*received)->values, 2U);
  EXPECT_EQ(assembly.section_bytes(), 1'000U);
}

TEST(ProgramParts, SendOneContentOnce) {
  const ProgramBytes bytes = program_of({section(1, 100'000, 1), section(2, 100'000, 1), section(3, 100'000, 1)});
  ProgramAssembly assembly;
  const auto received = put_together(assembly, parts(publication(bytes), nullptr), nullptr);
  ASSERT_TRUE(received) << received.error().text;
  EXPECT_EQ(*(*received)->bytes, *bytes);
  EXPECT_LT(assembly.section_bytes(), 110'000U);
}

TEST(ProgramParts, SpareWhatAnAgentSaysThatItHolds) {
  const ProgramBytes before = program_of({section(1, 500'000, 1), section(2, 500'000, 2)});
  const ProgramBytes after = program_of({section(7, 500'000, 1), section(8, 100, 5)});
  const auto next = publication(after);
  std::vector<program::Hash> held = agent::section_hashes(*before);
  std::ranges::sort(held);
  ProgramFeed feed(next, nullptr, std::make_shared<const Difference>(difference(nullptr, next->outline(), held)));
  ProgramPart part;
  feed.next(part);
  EXPECT_TRUE(feed.at_end());
  ProgramAssembly assembly;
  const auto received = put_together(assembly, {part}, before);
  ASSERT_TRUE(received) << received.error().text;
  EXPECT_EQ(*(*received)->bytes, *after);
  EXPECT_EQ(assembly.section_bytes(), 100U);
}

TEST(ProgramParts, RandomProgramsFollowEachOther) {
  std::mt19937 random(7);
  const auto some = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  std::shared_ptr<const Publication> before;
  ProgramAssembly assembly;
  for (int round = 0; round < 60; ++round) {
    std::vector<program::SectionInput> sections;
    for (unsigned id = 0; id < 12; ++id) {
      if (some(3) != 0) sections.push_back(section(id, 1 + some(3) * 100'000, static_cast<unsigned char>(some(4))));
    }
    auto next = publication(program_of(sections));
    const auto received = put_together(assembly, parts(next, before.get()), before ? before->bytes() : nullptr);
    ASSERT_TRUE(received) << received.error().text;
    ASSERT_EQ(*(*received)->bytes, *next->bytes()) << round;
    before = std::move(next);
  }
}

TEST(ProgramParts, ARepeatedProgramIsATableOfNothing) {
  const ProgramBytes bytes = program_of({section(1, 500'000, 1)});
  const auto first = publication(bytes);
  const auto all = parts(publication(bytes, 2), first.get());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].entries_size(), 0);
  EXPECT_EQ(all[0].chunks_size(), 0);
}

class BrokenParts : public testing::Test {
 protected:
  ErrorCode code_of(const std::vector<ProgramPart>& all, const ProgramBytes& running = nullptr) {
    const auto received = put_together(assembly_, all, running);
    EXPECT_FALSE(received);
    // Whatever came, the next whole program is taken.
    const auto again = put_together(assembly_, parts(next_, nullptr), nullptr);
    EXPECT_TRUE(again && *again && *(*again)->bytes == *bytes_);
    return received ? ErrorCode::kUnknown : received.error().code;
  }

  ProgramBytes bytes_ = program_of({section(1, 1'000, 1), section(2, 300'000, 2)});
  std::shared_ptr<const Publication> next_ = publication(bytes_);
  std::vector<ProgramPart> parts_ = parts(next_, nullptr);
  ProgramAssembly assembly_;
};

TEST_F(BrokenParts, AChangedByteIsSeen) {
  auto& chunk = *parts_[0].mutable_chunks(0)->mutable_bytes();
  chunk[chunk.size() / 2] ^= 1;
  EXPECT_EQ(code_of(parts_), ErrorCode::kDataLoss);
}

TEST_F(BrokenParts, AChangedTableIsSeen) {
  parts_[0].mutable_entries(0)->set_id(77);
  EXPECT_EQ(code_of(parts_), ErrorCode::kInvalidArgument);
}

TEST_F(BrokenParts, AChangedHeaderIsSeen) {
  parts_[0].mutable_begin()->mutable_header()->at(40) ^= 1;  // reserved, and hashed
  EXPECT_EQ(code_of(parts_), ErrorCode::kInvalidArgument);
}

TEST_F(BrokenParts, ASectionThatIsLeftOutIsSeen) {
  parts_.pop_back();
  parts_.back().set_last(true);
  EXPECT_EQ(code_of(parts_), ErrorCode::kFailedPrecondition);
}

TEST_F(BrokenParts, AnotherBaseIsSeen) {
  const auto base = publication(program_of({section(5, 10, 5)}));
  EXPECT_EQ(code_of(parts(next_, base.get()), bytes_), ErrorCode::kFailedPrecondition);
}

TEST_F(BrokenParts, ASizeThatNobodyHasIsRefusedBeforeItIsTaken) {
  program::FileHeader header = next_->outline().header;
  header.file_size = std::uint64_t{1} << 40;
  parts_[0].mutable_begin()->set_header(&header, sizeof header);
  EXPECT_EQ(code_of(parts_), ErrorCode::kResourceExhausted);
}

TEST_F(BrokenParts, MoreOfASectionThanThereIsIsSeen) {
  *parts_[0].mutable_chunks(0)->mutable_bytes() += std::string(400'000, 'x');
  EXPECT_EQ(code_of(parts_), ErrorCode::kInvalidArgument);
}

TEST_F(BrokenParts, AMiddleWithoutABeginningIsSeen) {
  parts_.erase(parts_.begin());
  EXPECT_EQ(code_of(parts_), ErrorCode::kInvalidArgument);
}

// ---- Values ----

using agent::ValuesAssembly;
using agent::v1::ValuesPart;
using controller::Values;
using controller::ValuesFeed;

program::BackendEndpoints backend(const std::string& name, unsigned count, unsigned seed = 0) {
  program::BackendEndpoints made{stable_id("ProxyBackend", "shop", name), "shop", name, {}};
  for (unsigned i = 0; i < count; ++i) {
    program::Endpoint endpoint;
    endpoint.address = *parse_ip("10.0.0.0");
    endpoint.address.bytes[13] = static_cast<std::uint8_t>(seed);
    endpoint.address.bytes[14] = static_cast<std::uint8_t>(i >> 8);
    endpoint.address.bytes[15] = static_cast<std::uint8_t>(i);
    endpoint.port = 8080;
    endpoint.ready = i % 3 != 0;
    endpoint.weight = static_cast<std::uint16_t>(1 + i % 4);
    made.endpoints.push_back(endpoint);
  }
  if (count % 2 == 1)
    made.names = {{"_http._tcp.a.example", 0, 2}, {"b.example", static_cast<std::uint16_t>(443 + seed), 1}};
  return made;
}

program::NamedSecret secret(const std::string& name, std::size_t size, char fill) {
  program::NamedSecret made{"shop", name, {}};
  made.values.push_back({"tls.crt", std::make_shared<const std::string>(size, fill)});
  made.values.push_back({"tls.key", std::make_shared<const std::string>(size, fill)});
  return made;
}

std::shared_ptr<const Values> values(std::uint64_t version, std::vector<program::BackendEndpoints> backends,
                                     std::vector<program::NamedSecret> secrets) {
  auto made = std::make_shared<Values>();
  made->version = version;
  std::ranges::sort(backends, {}, &program::BackendEndpoints::backend_id);
  program::SecretSet sorted{std::move(secrets)};
  sorted.sort();
  made->set = program::value_set({std::move(backends)}, std::move(sorted));
  return made;
}

std::vector<ValuesPart> parts(const std::shared_ptr<const Values>& before, const std::shared_ptr<const Values>& after) {
  ValuesFeed feed(before, after, program::Hash{});
  std::vector<ValuesPart> all;
  while (!feed.at_end()) feed.next(all.emplace_back());
  return all;
}

void expect_taken(ValuesAssembly& assembly, const std::vector<ValuesPart>& all, const Values& wanted) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto taken = assembly.take(all[i]);
    ASSERT_TRUE(taken) << taken.error().text;
    ASSERT_EQ(taken->has_value(), i + 1 == all.size());
    if (!*taken) continue;
    EXPECT_EQ((*taken)->version, wanted.version);
    EXPECT_EQ((*taken)->endpoints, program::endpoints_of(wanted.set));
    EXPECT_EQ((*taken)->secrets, program::secrets_of(wanted.set));
  }
}

TEST(ValueParts, CarryEverythingAndThenWhatChanged) {
  ValuesAssembly assembly;
  const auto first = values(1, {backend("a", 3), backend("b", 20'000), backend("c", 0)}, {secret("x", 400'000, 'x')});
  const auto whole = parts(nullptr, first);
  EXPECT_GT(whole.size(), 3U);
  for (const ValuesPart& part : whole) EXPECT_LT(part.ByteSizeLong(), 4 * ValuesFeed::kPartBytes);
  expect_taken(assembly, whole, *first);

  const auto second =
      values(2, {backend("a", 4), backend("b", 20'000)}, {secret("x", 400'000, 'x'), secret("y", 10, 'y')});
  const auto change = parts(first, second);
  ASSERT_EQ(change.size(), 1U);
  EXPECT_LT(change[0].ByteSizeLong(), 500U);
  expect_taken(assembly, change, *second);

  const auto third = values(3, {backend("b", 5'000, 1)}, {secret("y", 10, 'z')});
  expect_taken(assembly, parts(second, third), *third);
}

TEST(ValueParts, NothingChangedIsOneWord) {
  ValuesAssembly assembly;
  const auto first = values(1, {backend("a", 3)}, {});
  expect_taken(assembly, parts(nullptr, first), *first);
  const auto second = values(2, {backend("a", 3)}, {});
  const auto all = parts(first, second);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].backends_size(), 0);
  expect_taken(assembly, all, *second);
}

TEST(ValueParts, RandomOnesFollowEachOther) {
  std::mt19937 random(11);
  const auto some = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  ValuesAssembly assembly;
  std::shared_ptr<const Values> before;
  for (std::uint64_t version = 1; version < 60; ++version) {
    std::vector<program::BackendEndpoints> backends;
    std::vector<program::NamedSecret> secrets;
    for (unsigned i = 0; i < 8; ++i) {
      if (some(3) != 0)
        backends.push_back(backend(std::string(1, static_cast<char>('a' + i)), some(3) * 9'000, some(2)));
      if (some(3) != 0) secrets.push_back(secret(std::string(1, static_cast<char>('a' + i)), some(3) * 200'000, 's'));
    }
    auto after = values(version, std::move(backends), std::move(secrets));
    expect_taken(assembly, parts(before, after), *after);
    before = std::move(after);
  }
}

TEST(ValueParts, WhatIsNoneIsRefusedAndAWholeStartsAnew) {
  const auto first = values(1, {backend("a", 3)}, {secret("x", 10, 'x')});
  const auto whole = parts(nullptr, first);
  const auto refused = [&](auto&& spoil) {
    ValuesAssembly assembly;
    expect_taken(assembly, whole, *first);
    ValuesPart part;
    part.set_version(2);
    part.set_program(std::string(32, 'p'));
    part.set_last(true);
    spoil(part);
    EXPECT_FALSE(assembly.take(part));
    expect_taken(assembly, whole, *first);
  };
  refused([](ValuesPart& part) { part.set_program("short"); });
  refused([](ValuesPart& part) { part.add_removed_backends(5); });
  refused([](ValuesPart& part) { part.add_backends()->set_name(""); });
  refused([](ValuesPart& part) { part.add_backends()->set_name(std::string(1000, 'n')); });
  refused([](ValuesPart& part) { part.add_removed_secrets()->set_name("none"); });
  refused([](ValuesPart& part) {
    auto& added = *part.add_backends();
    added.set_name("a");
    added.add_endpoints()->set_address("1.2.3.4");
  });
  const auto named = [&](const std::string& host, unsigned port, unsigned weight) {
    refused([&](ValuesPart& part) {
      auto& added = *part.add_backends();
      added.set_name("a");
      auto& name = *added.add_names();
      name.set_host(host);
      name.set_port(port);
      name.set_weight(weight);
    });
  };
  named("", 80, 1);
  named("a b", 80, 1);
  named("a.example", 70'000, 1);
  named("a.example", 80, 257);
  ValuesAssembly fresh;
  ValuesPart change;
  change.set_version(1);
  change.set_program(std::string(32, 'p'));
  EXPECT_FALSE(fresh.take(change));
}

// ---- Reports ----

runtime::BackendStatus status_of(const std::string& name, unsigned endpoints, bool healthy) {
  runtime::BackendStatus status;
  status.name_space = "shop";
  status.name = name;
  for (unsigned i = 0; i < endpoints; ++i) {
    runtime::EndpointStatus& endpoint = status.endpoints.emplace_back();
    endpoint.address = {*parse_ip("10.0.0." + std::to_string(i % 250)), static_cast<std::uint16_t>(8000 + i)};
    endpoint.health = healthy ? runtime::Health::kHealthy : runtime::Health::kUnhealthy;
    endpoint.last_error = healthy ? "" : "refused";
  }
  return status;
}

/// As a controller takes it.
bool take(controller::AgentRegistry& registry, const std::string& agent, const agent::v1::Report& from) {
  controller::AgentRegistry::Report report;
  for (const auto& backend : from.backends()) report.backends.push_back(controller::read_backend(backend));
  for (const auto& name : from.removed_backends()) report.removed.emplace_back(name.namespace_(), name.name());
  return registry.reported(agent, agent, std::move(report), {});
}

void connect(controller::AgentRegistry& registry, const std::string& name, std::uint64_t session) {
  controller::AgentState state;
  state.name = name;
  EXPECT_TRUE(registry.connected(std::move(state), name, session, {}));
}

TEST(Reports, SayEverythingOnceAndThenWhatChanged) {
  controller::AgentRegistry registry;
  connect(registry, "a", 1);
  agent::ReportWriter writer;
  std::vector<runtime::BackendStatus> backends = {status_of("api", 2, true), status_of("web", 1, true)};
  agent::v1::Report report;
  EXPECT_FALSE(writer.write(backends, report));
  EXPECT_EQ(report.backends_size(), 2);
  EXPECT_TRUE(take(registry, "a", report));
  report.Clear();
  backends[0].connections = 7;  // no reason to speak
  writer.write(backends, report);
  EXPECT_EQ(report.backends_size(), 0);
  EXPECT_FALSE(take(registry, "a", report));
  backends[0] = status_of("api", 2, false);
  backends.pop_back();
  writer.write(backends, report);
  EXPECT_EQ(report.backends_size(), 1);
  EXPECT_EQ(report.removed_backends_size(), 1);
  EXPECT_TRUE(take(registry, "a", report));
  const auto known = registry.backends();
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].name, "api");
  EXPECT_EQ(known[0].endpoints[0].address, "10.0.0.0:8000");
  EXPECT_EQ(known[0].endpoints[0].last_error, "refused");
}

TEST(Reports, SayOfWhichClusterAnEndpointIs) {
  controller::AgentRegistry registry;
  connect(registry, "a", 1);
  agent::ReportWriter writer;
  std::vector<runtime::BackendStatus> backends = {status_of("api", 2, true)};
  agent::v1::Report report;
  writer.write(backends, report);
  EXPECT_TRUE(take(registry, "a", report));
  for (const std::uint32_t priority : {3U, 2U, 0U}) {
    runtime::EndpointStatus& far = backends[0].endpoints[0];
    far.cluster = "berlin";
    far.cluster_priority = priority;
    far.cluster_region = "eu";
    report.Clear();
    writer.write(backends, report);
    EXPECT_EQ(report.backends_size(), 1) << priority;
    EXPECT_TRUE(take(registry, "a", report));
    const controller::EndpointHealth told = registry.backends()[0].endpoints[0];
    EXPECT_EQ(told.cluster, "berlin");
    EXPECT_EQ(told.cluster_priority, priority);
    EXPECT_EQ(told.cluster_region, "eu");
    EXPECT_EQ(registry.backends()[0].endpoints[1].cluster, "");
  }
}

TEST(Reports, OfManyEndpointsComeInSeveral) {
  agent::ReportWriter writer;
  const std::vector<runtime::BackendStatus> backends = {status_of("a", 9'000, true), status_of("b", 9'000, true)};
  agent::v1::Report first;
  EXPECT_TRUE(writer.write(backends, first));
  agent::v1::Report second;
  EXPECT_FALSE(writer.write(backends, second));
  EXPECT_EQ(first.backends_size() + second.backends_size(), 2);
}

TEST(Reports, OfSeveralAgentsTheWorstCounts) {
  controller::AgentRegistry registry;
  for (const std::string name : {"a", "b"}) {
    connect(registry, name, name == "a" ? 1 : 2);
    agent::v1::Report report;
    const std::vector<runtime::BackendStatus> backends = {status_of("api", 2, name == "a")};
    agent::ReportWriter().write(backends, report);
    EXPECT_TRUE(take(registry, name, report));
  }
  EXPECT_FALSE(registry.backends()[0].endpoints[0].healthy);
  EXPECT_TRUE(registry.lost("b", 2, {}));
  EXPECT_TRUE(registry.backends()[0].endpoints[0].healthy);
}

TEST(Registry, PassesOverWhatAnOlderProcessSays) {
  controller::AgentRegistry registry;
  connect(registry, "a", 1);
  controller::AgentState state;
  state.name = "a";
  EXPECT_TRUE(registry.connected(state, "second", 2, {}));
  EXPECT_FALSE(registry.applied("a", "a", "hash", {}, {}));
  EXPECT_FALSE(registry.lost("a", 1, {}));
  EXPECT_TRUE(registry.applied("a", "second", "hash", {}, {}));
  EXPECT_TRUE(registry.agent("a")->connected);
}

TEST(Registry, IsBounded) {
  controller::AgentRegistry registry;
  const std::size_t most = controller::AgentRegistry::kMaxAgents;
  for (std::size_t i = 0; i < most; ++i) connect(registry, "agent-" + std::to_string(i), i);
  controller::AgentState one_more;
  one_more.name = "one-more";
  EXPECT_FALSE(registry.connected(one_more, "x", most, {}));
  EXPECT_TRUE(registry.lost("agent-7", 7, {}));
  EXPECT_TRUE(registry.connected(one_more, "x", most, {}));
  EXPECT_FALSE(registry.agent("agent-7"));
  controller::AgentRegistry::Report report;
  controller::BackendHealth large{"shop", "api", "Closed", 0, {}};
  large.endpoints.resize(controller::AgentRegistry::kMaxEndpoints + 1);
  report.backends.push_back(large);
  EXPECT_FALSE(registry.reported("one-more", "x", report, {}));
}

TEST(Words, AreFitForATerminal) {
  EXPECT_EQ(controller::printable("a\x1b[2Jb\nc", 100), "a [2Jb c");
  EXPECT_EQ(controller::printable("abc\xc3\xa4", 4), "abc");
}

}  // namespace
}  // namespace edge
