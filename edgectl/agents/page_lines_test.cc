#include "edgectl/agents/page_lines.h"

#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::edgectl {
namespace {

/// What each agent answers next, and what it was asked.
struct Agents {
  std::map<std::string, Result<std::string>> answers;
  std::vector<std::string> asked;

  PageLines::Fetch fetch() {
    return [this](const std::string& source, const std::string& target) {
      asked.push_back(source + " " + target);
      return answers.at(source);
    };
  }
};

std::string line(const std::string& time, const std::string& more = "\"path\":\"/\"") {
  return "{\"time\":\"2026-11-22T03:00:0" + time + "Z\"," + more + "}\n";
}
std::string end(int next, int missed = 0) {
  return "{\"next\":" + std::to_string(next) + ",\"missed\":" + std::to_string(missed) + "}\n";
}
std::string sources_of(const PageLines::Batch& batch) {
  std::string out;
  for (const PageLine& one : batch.lines) out += one.source + one.time.substr(18, 1) + " ";
  return out;
}

TEST(PageLines, OfSeveralAgentsAreMergedByTime) {
  Agents agents;
  agents.answers.insert_or_assign("a", line("1") + line("4") + end(2));
  agents.answers.insert_or_assign("b", line("2") + line("3") + line("5") + end(9));
  PageLines lines(agents.fetch(), "/page?status=5xx", "since=5m");
  EXPECT_EQ(sources_of(lines.read({"a", "b"})), "a1 b2 b3 a4 b5 ");
  agents.answers.insert_or_assign("a", line("6") + end(3));
  agents.answers.insert_or_assign("b", end(9, 4));
  const auto batch = lines.read({"a", "b"});
  EXPECT_EQ(sources_of(batch), "a6 ");
  EXPECT_EQ(batch.missed, 4U);
  EXPECT_EQ(agents.asked, (std::vector<std::string>{"a /page?status=5xx&since=5m", "b /page?status=5xx&since=5m",
                                                    "a /page?status=5xx&after=2", "b /page?status=5xx&after=9"}));
}

// Numbers begin anew with an agent's process, which answers from its beginning where it is asked for more than it has.
TEST(PageLines, AnAgentThatComesBackIsFollowedOn) {
  Agents agents;
  agents.answers.insert_or_assign("a", line("1") + end(700));
  PageLines lines(agents.fetch(), "/page", "");
  lines.read({"a"});
  agents.answers.insert_or_assign("a", Error{ErrorCode::kUnavailable, "a: gone"});
  EXPECT_EQ(lines.read({"a"}).failed.size(), 1U);
  agents.answers.insert_or_assign("a", line("2") + end(1));
  EXPECT_EQ(sources_of(lines.read({"a"})), "a2 ");
  lines.read({"a"});
  EXPECT_EQ(agents.asked,
            (std::vector<std::string>{"a /page", "a /page?after=700", "a /page?after=700", "a /page?after=1"}));
}

TEST(PageLines, WhatIsNotWantedIsReadAndLeftOut) {
  Agents agents;
  agents.answers.insert_or_assign("a", line("1") + line("2", R"("path":"/b")") + "[]\nno json\n" + end(2));
  PageLines lines(agents.fetch(), "/page", "after=0");
  lines.only([](const nlohmann::json& object) { return object.value("path", "") == "/b"; });
  EXPECT_EQ(sources_of(lines.read({"a"})), "a2 ");
}

// An agent to which lines come as fast as they are read, two an answer.
TEST(PageLines, AllThatIsThereHasAnEnd) {
  std::uint64_t newest = 5;
  std::vector<std::string> asked;
  const auto fetch = [&](const std::string& /*source*/, const std::string& target) -> Result<std::string> {
    asked.push_back(target);
    if (target.ends_with("limit=0")) return end(static_cast<int>(newest));
    newest += 2;
    const int after = std::stoi(target.substr(target.find("after=") + 6));
    return line("1") + line("2") + end(after + 2);
  };
  PageLines lines(fetch, "/page?status=404", "after=0");
  lines.only([](const nlohmann::json&) { return true; });
  EXPECT_TRUE(lines.read({"a"}).more);
  EXPECT_TRUE(lines.read({"a"}).more);
  EXPECT_FALSE(lines.read({"a"}).more);
  EXPECT_EQ(asked, (std::vector<std::string>{"/page?status=404&limit=0", "/page?status=404&after=0",
                                             "/page?status=404&after=2", "/page?status=404&after=4"}));
}

// Its numbers begin anew, below where its end was.
TEST(PageLines, AnAgentThatComesBackMeanwhileHasAnEndToo) {
  Agents agents;
  agents.answers.insert_or_assign("a", end(700));
  PageLines lines(agents.fetch(), "/page", "after=0");
  lines.only([](const nlohmann::json&) { return true; });
  EXPECT_FALSE(lines.read({"a"}).more);
  agents.answers.insert_or_assign("a", line("2") + end(3));
  EXPECT_TRUE(lines.read({"a"}).more);
  EXPECT_FALSE(lines.read({"a"}).more);
}

}  // namespace
}  // namespace edge::edgectl
