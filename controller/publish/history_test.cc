#include "controller/publish/history.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/test_log.h"
#include "controller/publish/publisher.h"
#include "controller/status/status_events.h"
#include "program/test_program.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

/// A hash of one digit, and bytes that say which.
std::string hash(char digit) { return std::string(64, digit); }
PastProgram program(char digit) {
  PastProgram past;
  past.program = std::make_shared<const std::vector<std::byte>>(4, static_cast<std::byte>(digit));
  program::BackendEndpoints backend;
  backend.backend_id = static_cast<unsigned char>(digit);
  backend.name_space = "shop";
  backend.name = std::string("be-") + digit;
  past.endpoints.backends.push_back(backend);
  return past;
}

class HistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "edge-history-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::unique_ptr<History> open(std::size_t kept = 3) const {
    auto history = History::open((dir_ / "history").string(), kept);
    EXPECT_TRUE(history.ok());
    return history ? std::move(*history) : nullptr;
  }
  static void add(History& history, char digit) {
    Cause cause;
    cause.add(std::string("ProxyRoute shop/") + digit, "kubectl");
    ASSERT_TRUE(history.add(hash(digit), program(digit), cause, WallTime(std::chrono::seconds(digit))).ok());
  }
  static std::vector<char> digits(const History& history) {
    std::vector<char> all;
    for (const HistoryEntry& entry : history.list()) all.push_back(entry.program.front());
    return all;
  }

  fs::path dir_;
};

TEST_F(HistoryTest, KeepsTheLastOverARestart) {
  {
    const auto history = open();
    for (const char digit : {'a', 'b', 'c', 'd'}) add(*history, digit);
    EXPECT_THAT(digits(*history), ElementsAre('d', 'c', 'b'));
  }
  const auto history = open();
  EXPECT_THAT(digits(*history), ElementsAre('d', 'c', 'b'));
  EXPECT_EQ(history->list().front().cause, "ProxyRoute shop/d by kubectl");
  EXPECT_EQ(history->list().front().user, "kubectl");
  const auto past = history->find(hash('c'));
  ASSERT_TRUE(past.ok());
  EXPECT_EQ(past->program->front(), static_cast<std::byte>('c'));
  EXPECT_EQ(past->endpoints.backends.front().name, "be-c");
  EXPECT_FALSE(history->find(hash('a')).ok());
  EXPECT_FALSE(fs::exists(dir_ / "history" / (hash('a') + ".edgeprog")));
}

TEST_F(HistoryTest, AProgramThatComesAgainMovesToTheFront) {
  const auto history = open();
  for (const char digit : {'a', 'b', 'a'}) add(*history, digit);
  EXPECT_THAT(digits(*history), ElementsAre('a', 'b'));
}

TEST_F(HistoryTest, WhatIsPinnedStays) {
  {
    const auto history = open();
    for (const char digit : {'a', 'b', 'c'}) add(*history, digit);
    const auto pinned = history->pin("aaaaaaaa");
    ASSERT_TRUE(pinned.ok());
    EXPECT_EQ(*pinned, hash('a'));
    for (const char digit : {'d', 'e', 'f'}) add(*history, digit);
    EXPECT_THAT(digits(*history), ElementsAre('f', 'e', 'a'));
  }
  const auto history = open();
  EXPECT_EQ(history->pinned(), hash('a'));
  EXPECT_TRUE(history->list().back().pinned);
  EXPECT_TRUE(history->release().ok());
  EXPECT_EQ(open()->pinned(), "");
}

TEST_F(HistoryTest, APinThatCouldNotBeWrittenDoesNotHold) {
  const auto history = open();
  for (const char digit : {'a', 'b'}) add(*history, digit);
  const fs::path index = dir_ / "history/index.json";
  const auto block = [&] {
    fs::remove(index);
    fs::create_directories(index / "in-the-way");
  };
  block();
  EXPECT_FALSE(history->pin(hash('a')).ok());
  EXPECT_EQ(history->pinned(), "");
  fs::remove_all(index);
  ASSERT_TRUE(history->pin(hash('a')).ok());
  block();
  EXPECT_FALSE(history->release().ok());
  EXPECT_EQ(history->pinned(), hash('a'));
  fs::remove_all(index);
}

TEST_F(HistoryTest, SweepsWhatACrashHasLeftAndNothingElse) {
  add(*open(), 'a');
  const auto put = [this](const std::string& name) { std::ofstream(dir_ / "history" / name) << "x"; };
  const std::vector<std::string> orphans = {hash('b') + ".edgeprog", hash('b') + ".endpoints.json",
                                            hash('a') + ".edgeprog.Xy12Zq", "index.json.Xy12Zq"};
  const std::vector<std::string> others = {"notes.txt", hash('c') + ".txt", "index.json"};
  for (const std::string& name : orphans) put(name);
  put("notes.txt");
  put(hash('c') + ".txt");
  const auto history = open();
  EXPECT_THAT(digits(*history), ElementsAre('a'));
  EXPECT_TRUE(history->find(hash('a')).ok());
  for (const std::string& name : orphans) EXPECT_FALSE(fs::exists(dir_ / "history" / name)) << name;
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(dir_ / "history" / name)) << name;
}

TEST_F(HistoryTest, NamesNothingButItsOwnFiles) {
  const auto history = open();
  add(*history, 'a');
  for (const char* name : {"", "a", "../../etc/passwd", "bbbbbbbbb"}) EXPECT_FALSE(history->find(name).ok()) << name;
  std::ofstream(dir_ / "history/index.json") << R"({"programs":[{"program":"../../x"},7,{"program":9}],"pinned":[]})";
  EXPECT_THAT(digits(*open()), IsEmpty());
}

TEST_F(HistoryTest, ABrokenIndexIsSetAsideAndMadeAnewFromThePrograms) {
  for (const char* broken : {"", "no JSON"}) {
    const auto history = open();
    for (const char digit : {'a', 'b'}) add(*history, digit);
    std::ofstream(dir_ / "history/index.json") << broken;
    TestLog log;
    ASSERT_TRUE(History::open((dir_ / "history").string(), History::kKept, log.logger()).ok());
    EXPECT_THAT(log.text(), testing::HasSubstr("index.json.broken"));
    EXPECT_THAT(digits(*open()), testing::UnorderedElementsAre('a', 'b'));
    EXPECT_TRUE(open()->find(hash('a')).ok());
  }
  EXPECT_TRUE(fs::exists(dir_ / "history/index.json.broken"));
  EXPECT_TRUE(fs::exists(dir_ / "history/index.json.broken.2"));
}

TEST_F(HistoryTest, ARollbackHoldsAgentsUntilItIsReleased) {
  const auto history = open();
  auto data = DataDir::open((dir_ / "data").string());
  ASSERT_TRUE(data.ok());
  std::vector<Published> published;
  Publisher publisher(*data, *history, [&](Published next) { published.push_back(std::move(next)); }, Logger());
  add(*history, 'a');
  ReconcileResult newest;
  newest.program = program('b').program;
  newest.values = program::value_set(program('b').endpoints, {});
  newest.number = 7;
  publisher.take(newest);
  ASSERT_TRUE(publisher.rollback("aaaaaaaa").ok());
  EXPECT_EQ(published.back().program->front(), static_cast<std::byte>('a'));
  EXPECT_EQ(published.back().values->backends.size(), 2u) << "those of then and those of today";
  publisher.take(newest);
  EXPECT_EQ(published.back().program->front(), static_cast<std::byte>('a')) << "changes wait";
  EXPECT_EQ(publisher.pinned(), hash('a'));
  EXPECT_EQ(publisher.number(program::to_hex(newest.hash)), 7u);
  EXPECT_FALSE(publisher.rollback("cccccccc").ok());
  ASSERT_TRUE(publisher.release().ok());
  EXPECT_EQ(published.back().program->front(), static_cast<std::byte>('b'));
}

TEST_F(HistoryTest, APinnedProgramIsGivenNoSecretsThatItDoesNotName) {
  const auto history = open();
  auto data = DataDir::open((dir_ / "data").string());
  ASSERT_TRUE(data.ok());
  std::vector<Published> published;
  Publisher publisher(*data, *history, [&](Published next) { published.push_back(std::move(next)); }, Logger());
  const auto naming = [](const char* name) {
    program::SectionBuilder policies(sizeof(program::PoliciesHeader));
    program::PoliciesHeader header{};
    const program::SecretRecord users{policies.string("shop"), policies.string(name), policies.string("users")};
    header.basic_auths = policies.array(std::vector<program::BasicAuthRecord>{{{}, users, 0}});
    auto bytes = program::sample::program_of(
        {{program::SectionKind::kPolicies, 0, program::make_blob(std::move(policies).finish(header))}});
    return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  };
  ASSERT_TRUE(history->add(hash('a'), {naming("then"), {}}, {}, WallTime()).ok());
  ReconcileResult newest;
  newest.program = naming("now");
  for (const char* name : {"now", "then"}) {
    newest.values.secrets.push_back(std::make_shared<const program::NamedSecret>(
        program::NamedSecret{"shop", name, {{"users", std::make_shared<const std::string>("x")}}}));
  }
  publisher.take(newest);
  ASSERT_TRUE(publisher.rollback(hash('a')).ok());
  ASSERT_EQ(published.back().values->secrets.size(), 1u);
  EXPECT_EQ(published.back().values->secrets[0]->name, "then");
}

TEST_F(HistoryTest, RollbacksAtOnceAgreeOnDiskAndInMemory) {
  const auto history = open();
  auto data = DataDir::open((dir_ / "data").string());
  ASSERT_TRUE(data.ok());
  Publisher publisher(*data, *history, [](const Published&) {}, Logger());
  add(*history, 'a');
  add(*history, 'b');
  for (int i = 0; i < 20; ++i) {
    std::thread other([&] { EXPECT_TRUE(publisher.rollback(hash('a')).ok()); });
    EXPECT_TRUE(publisher.rollback(hash('b')).ok());
    other.join();
    EXPECT_EQ(publisher.pinned(), history->pinned());
  }
}

TEST_F(HistoryTest, ADataDirectoryThatOthersMayWriteToIsRefused) {
  const std::string shared = (dir_ / "shared").string();
  ASSERT_TRUE(DataDir::open(shared).ok()) << "made where it is missing";
  fs::permissions(shared, fs::perms::owner_all | fs::perms::group_all);
  const auto refused = DataDir::open(shared);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kPermissionDenied);
  fs::permissions(shared, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec);
  EXPECT_TRUE(DataDir::open(shared).ok());
}

TEST(Events, TellWhatAnOperatorLooksFor) {
  const auto reasons = [](const std::string& kind, std::vector<ConditionFlip> flips) {
    std::vector<std::string> all;
    for (const Event& event : events_of({kind, "shop", "x"}, flips)) all.push_back(event.reason);
    return all;
  };
  EXPECT_THAT(reasons("ProxyRoute", {{"Accepted", "True", "Accepted", "", true}, {"Programmed", "True", "", "", true}}),
              IsEmpty());
  EXPECT_THAT(reasons("ProxyGateway", {{"Programmed", "True", "Programmed", "", true}}), ElementsAre("Programmed"));
  EXPECT_THAT(reasons("ProxyRoute", {{"Accepted", "False", "Invalid", "bad", true}}), ElementsAre("Rejected"));
  EXPECT_THAT(reasons("ProxyRoute", {{"Accepted", "True", "Accepted", "", false}}), ElementsAre("Accepted"));
  EXPECT_THAT(reasons("ProxyRoute", {{"Programmed", "False", "AgentRefused", "n1", false}}),
              ElementsAre("AgentRefused"));
  EXPECT_THAT(reasons("ProxyRoute", {{"ResolvedRefs", "False", "BackendNotFound", "", true}}),
              ElementsAre("BackendNotFound"));
  EXPECT_THAT(reasons("ProxyBackend", {{"Healthy", "False", "NoHealthyEndpoint", "", false}}),
              ElementsAre("EndpointsUnhealthy"));
  EXPECT_THAT(reasons("ProxyBackend", {{"Healthy", "True", "EndpointsHealthy", "", false}}),
              ElementsAre("EndpointsHealthy"));
  EXPECT_THAT(reasons("ProxyRoute", {{"Shadowed", "True", "Shadowed", "", true}}), ElementsAre("Shadowed"));
  // Of a part the event says which.
  const std::vector<Event> part =
      events_of({"HTTPRoute", "shop", "x"},
                {{"Accepted", "False", "NotAllowedByListeners", "not here", true, "Gateway shop/web"}});
  ASSERT_EQ(part.size(), 1u);
  EXPECT_EQ(part[0].reason, "Rejected");
  EXPECT_EQ(part[0].message, "Gateway shop/web: not here");
  EXPECT_THAT(reasons("Gateway", {{"Programmed", "True", "Programmed", "", true, "listener http"}}), IsEmpty());
}

}  // namespace
}  // namespace edge::controller
