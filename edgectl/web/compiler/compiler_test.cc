// The compiler's process, and what it is told. The process is played by a shell that answers nothing, or ends.
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/web/compiler/compiler_process.h"
#include "edgectl/web/compiler/configuration.h"
#include "edgectl/web/compiler/frames.h"
#include "net/socket.h"

namespace edge::edgectl::web {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

FrameDeadline soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

TEST(Frames, PassWhole) {
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  net::Fd one(pair[0]);
  const net::Fd other(pair[1]);
  const std::string large(3'000'000, 'x');
  std::thread writer([&] {
    EXPECT_TRUE(write_frame(one.get(), "", soon()).ok());
    EXPECT_TRUE(write_frame(one.get(), large, soon()).ok());
    EXPECT_TRUE(write_frame(one.get(), "four", soon()).ok());
    one.reset();
  });
  EXPECT_EQ(*read_frame(other.get(), 10, soon()), "");
  EXPECT_EQ(*read_frame(other.get(), large.size(), soon()), large);
  EXPECT_EQ(read_frame(other.get(), 3, soon()).error().code, ErrorCode::kOutOfRange);
  writer.join();
}

TEST(Frames, EndWhereNothingComes) {
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  net::Fd one(pair[0]);
  const net::Fd other(pair[1]);
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(read_frame(other.get(), 10, now).error().code, ErrorCode::kDeadlineExceeded);
  ASSERT_EQ(::send(one.get(), "\x05\0\0\0ab", 6, 0), 6);
  one.reset();
  EXPECT_EQ(read_frame(other.get(), 10, soon()).error().code, ErrorCode::kUnavailable);
}

TEST(CompilerProcessTest, SaysWhyThereIsNoAnswer) {
  CompilerProcess missing("/nowhere/edgectl");
  EXPECT_EQ(missing.ask("{}\n", std::chrono::seconds(20)).error().code, ErrorCode::kUnavailable);
  CompilerProcess ends("/bin/true");
  EXPECT_THAT(ends.ask("{}\n", std::chrono::seconds(20)).error().text, HasSubstr("ended before it answered"));
  EXPECT_EQ(ends.generation(), 1U);
  EXPECT_EQ(ends.ask("{}\n", std::chrono::seconds(20)).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(ends.generation(), 2U) << "it is started anew";
  ends.stop();
  EXPECT_EQ(ends.ask("{}\n", std::chrono::seconds(20)).error().code, ErrorCode::kCancelled);
}

TEST(ConfigurationTest, FollowsChanges) {
  Configuration configuration;
  const auto update = [&](const std::string& changes, const std::string& texts) {
    return configuration.update(parse_json(changes), texts).ok();
  };
  EXPECT_TRUE(update(R"({"forget":true,"put":[["routes","a/x",2],["routes","a/y",3],["secrets","a/s",1]]})", "xxyyys"));
  EXPECT_EQ(configuration.kinds().at("routes").at("a/y"), "yyy");
  const std::size_t version = configuration.version();
  EXPECT_TRUE(update(R"({"put":[["routes","a/x",2]]})", "xx"));
  EXPECT_EQ(configuration.version(), version) << "nothing is another";
  EXPECT_TRUE(
      update(R"({"remove":[["routes","a/y"],["none","b"]],"replace":["secrets"],"put":[["secrets","a/t",1]]})", "t"));
  EXPECT_EQ(configuration.kinds().at("routes").size(), 1U);
  EXPECT_FALSE(configuration.kinds().at("secrets").contains("a/s"));
  EXPECT_GT(configuration.version(), version);
  SourceMap sources;
  configuration.add_sources(sources);
  EXPECT_EQ(sources.size(), 2U);
  EXPECT_THAT(std::string(sources[0].text()), HasSubstr("[xx]"));
}

TEST(ConfigurationTest, RefusesWhatDoesNotFit) {
  for (const char* changes :
       {R"({"put":[["routes","a/x",9]]})", R"({"put":[["routes","a/x",1]]})", R"({"put":[["routes","",2]]})",
        R"({"put":[["routes","a/x"]]})", R"({"put":[["routes","a/x",-2]]})", R"({"put":[7]})", R"({"remove":["x"]})"}) {
    Configuration configuration;
    EXPECT_TRUE(configuration.update(parse_json(R"({"put":[["routes","a/x",1]]})"), "z").ok());
    EXPECT_FALSE(configuration.update(parse_json(changes), "xx").ok()) << changes;
    EXPECT_TRUE(configuration.kinds().empty()) << changes;
  }
}

}  // namespace
}  // namespace edge::edgectl::web
