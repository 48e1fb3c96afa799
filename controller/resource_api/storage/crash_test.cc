// Killed at 200 moments while it writes: every write that was acknowledged is there afterwards, whole, and nothing else
// is but the one that was under way.
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "controller/resource_api/api.h"

namespace edge::resource_api {
namespace {

using Json = nlohmann::json;

constexpr unsigned kRounds = 200;
constexpr int kNames = 16;
const std::string kPath = "/api/v1/namespaces/default/configmaps";

void say(int pipe, const std::string& line) {
  const std::string text = line + "\n";
  if (::write(pipe, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(3);
}

ApiReply ask(Api& api, std::string method, std::string path, std::string body, std::string type) {
  ApiRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.body = std::move(body);
  request.content_type = std::move(type);
  return api.handle(request);
}

/// The process that is killed: says what it finds, then `try` and `done` around each write, without end.
[[noreturn]] void write_until_killed(const std::string& dir, int pipe, unsigned seed) {
  ApiOptions options;
  options.data_dir = dir;
  options.own_kinds = false;  // 200 starts would mostly compile their schemas
  auto api = Api::open(std::move(options));
  if (!api) _exit(2);
  const Json list = Json::parse(ask(**api, "GET", kPath, "", "").body, nullptr, false);
  for (const Json& item : list["items"]) {
    // The filler shows a write that is half there.
    const std::string value = item["data"]["value"];
    if (item["data"]["filler"] != std::string(2000, value.back())) _exit(4);
    say(pipe, "has " + item["metadata"]["name"].get<std::string>() + " " + value);
  }
  say(pipe, "ready 0 0");
  std::mt19937 random(seed);
  for (unsigned step = 0;; ++step) {
    const std::string name = "m" + std::to_string(random() % kNames);
    const std::string value = std::to_string(seed) + "-" + std::to_string(step);
    const bool there = ask(**api, "GET", kPath + "/" + name, "", "").status == 200;
    const Json data = {{"value", value}, {"filler", std::string(2000, value.back())}};
    if (there && random() % 3 == 0) {
      say(pipe, "try " + name + " -");
      if (ask(**api, "DELETE", kPath + "/" + name, "", "").status != 200) _exit(5);
      say(pipe, "done " + name + " -");
      continue;
    }
    say(pipe, "try " + name + " " + value);
    const ApiReply reply =
        there ? ask(**api, "PATCH", kPath + "/" + name, Json{{"data", data}}.dump(), "application/merge-patch+json")
              : ask(**api, "POST", kPath, Json{{"metadata", {{"name", name}}}, {"data", data}}.dump(), "");
    if (reply.status >= 300) _exit(6);
    say(pipe, "done " + name + " " + value);
  }
}

/// What must be there, and what may be.
struct Expected {
  std::map<std::string, std::string> acknowledged{};
  std::optional<std::pair<std::string, std::string>> under_way{};
  std::uint64_t writes = 0;

  void apply(const std::string& name, const std::string& value) {
    if (value == "-") {
      acknowledged.erase(name);
    } else {
      acknowledged[name] = value;
    }
  }
  void done(const std::string& name, const std::string& value) {
    apply(name, value);
    under_way.reset();
    ++writes;
  }
  void check(const std::map<std::string, std::string>& found) {
    if (found != acknowledged && under_way) apply(under_way->first, under_way->second);
    under_way.reset();
    EXPECT_EQ(found, acknowledged);
  }
};

/// One life: starts the process, kills it some time after it is ready. Reads what it said.
void live_once(const std::string& dir, unsigned seed, std::mt19937& random, Expected& expected) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(ends[0]);
    write_until_killed(dir, ends[1], seed);
  }
  ::close(ends[1]);
  FILE* said = ::fdopen(ends[0], "r");
  std::map<std::string, std::string> found;
  const unsigned lines_to_live = random() % 40;
  unsigned lines = 0;
  bool ready = false;
  char line[512];
  while (std::fgets(line, sizeof line, said) != nullptr) {
    std::istringstream words(line);
    std::string what;
    std::string name;
    std::string value;
    words >> what >> name >> value;
    if (what == "has") found[name] = value;
    if (what == "ready") {
      ready = true;
      expected.check(found);
    }
    if (what == "try") expected.under_way = {name, value};
    if (what == "done") expected.done(name, value);
    // The kill comes at a place in the work that is drawn, and not always between two lines.
    if (ready && lines++ == lines_to_live) {
      ::usleep(random() % 1500);
      ::kill(child, SIGKILL);
    }
  }
  std::fclose(said);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(ready);
  EXPECT_TRUE(WIFSIGNALED(status)) << "ended by itself with " << WEXITSTATUS(status);
}

unsigned given(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

TEST(CrashTest, NoAcknowledgedWriteIsLost) {
  std::string dir = (std::filesystem::temp_directory_path() / "edge-crash-XXXXXX").string();
  ASSERT_NE(mkdtemp(dir.data()), nullptr);
  const unsigned seed = given("EDGE_CRASH_SEED", 1);
  const unsigned rounds = given("EDGE_CRASH_COUNT", kRounds);
  std::mt19937 random(seed);
  Expected expected;
  for (unsigned round = 0; round < rounds && !HasFailure(); ++round) {
    live_once(dir, seed * 1000 + round, random, expected);
  }
  RecordProperty("acknowledged_writes", static_cast<int>(expected.writes));
  EXPECT_GT(expected.writes, rounds) << "too little was written to show anything";
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace edge::resource_api
