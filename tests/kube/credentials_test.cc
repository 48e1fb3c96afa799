// Programs that give credentials, as real processes.
#include "controller/kube/credentials.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/kube/bench.h"

namespace edge::test {
namespace {

using kube::Credentials;
using std::chrono::seconds;

constexpr char kVersion[] = "client.authentication.k8s.io/v1";

class CredentialsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "kube_exec.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    config_ = config_of("http://127.0.0.1:1");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string script(const std::string& body) {
    std::string path = directory_ + "/login";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    ::chmod(path.c_str(), 0700);
    return path;
  }
  /// Credentials from a program that prints this.
  std::unique_ptr<Credentials> printing(const std::string& json) { return running("cat <<'EOF'\n" + json + "\nEOF"); }
  std::unique_ptr<Credentials> running(const std::string& body) {
    kube::ExecPlugin plugin;
    plugin.api_version = kVersion;
    plugin.command = script("echo run >> " + directory_ + "/runs\n" + body);
    plugin.arguments = {"one", "$HOME `id`"};
    plugin.environment = {{"OWN", "value"}};
    plugin.provide_cluster_info = true;
    config_.identity.exec = plugin;
    auto made = Credentials::make(loop_, config_, false, [this] { return wall_; });
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }
  Credentials::Got present(Credentials& credentials) {
    std::optional<Credentials::Got> got;
    start(credentials, got);
    turn_until([&] { return got.has_value(); });
    return std::move(*got);
  }
  net::Detached start(Credentials& credentials, std::optional<Credentials::Got>& into) {
    net::Waiter waiter(loop_);
    waiter_ = &waiter;
    Credentials::Got got = co_await credentials.present(waiter);
    into.emplace(std::move(got));
  }
  void turn_until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + seconds(120);
    while (!holds() && std::chrono::steady_clock::now() < end) {
      loop_.poll();
      std::this_thread::yield();
    }
    ASSERT_TRUE(holds());
  }
  std::string file(const std::string& name) const {
    std::ifstream in(directory_ + "/" + name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string directory_;
  kube::Config config_;
  net::Loop loop_;
  net::Waiter* waiter_ = nullptr;
  std::chrono::system_clock::time_point wall_{seconds(1'700'000'000)};
};

std::string credential(const std::string& status) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" + status + "}";
}

TEST_F(CredentialsTest, AsksTheProgramWithoutAShell) {
  auto credentials =
      running("printf '%s|' \"$@\" \"$OWN\" > " + directory_ + "/seen\nprintf %s \"$KUBERNETES_EXEC_INFO\" > " +
              directory_ + "/info\necho '" + credential(R"({"token":"t0"})") + "'");
  const Credentials::Got got = present(*credentials);
  ASSERT_NE(got.presented, nullptr) << got.error;
  EXPECT_EQ(got.presented->fields, "Authorization: Bearer t0\r\n");
  EXPECT_EQ(file("seen"), "one|$HOME `id`|value|");
  EXPECT_THAT(file("info"), testing::HasSubstr(R"("server":"http://127.0.0.1:1")"));
  EXPECT_THAT(file("info"), testing::HasSubstr(R"("apiVersion":"client.authentication.k8s.io/v1")"));
}

TEST_F(CredentialsTest, KeepsWhatItGaveUntilItRunsOut) {
  auto credentials = printing(credential(R"({"token":"t","expirationTimestamp":"2023-11-14T22:20:00Z"})"));
  for (int i = 0; i < 3; ++i) ASSERT_NE(present(*credentials).presented, nullptr);
  EXPECT_EQ(file("runs"), "run\n");
  wall_ += std::chrono::minutes(7);
  ASSERT_NE(present(*credentials).presented, nullptr);
  EXPECT_EQ(file("runs"), "run\nrun\n");
}

TEST_F(CredentialsTest, AsksAgainWhenItIsNotAccepted) {
  auto credentials = printing(credential(R"({"token":"t"})"));
  const auto first = present(*credentials).presented;
  EXPECT_TRUE(credentials->refused(*first));
  const auto second = present(*credentials).presented;
  // Of two calls that were refused with the same one asks.
  EXPECT_TRUE(credentials->refused(*first));
  ASSERT_NE(present(*credentials).presented, nullptr);
  EXPECT_EQ(file("runs"), "run\nrun\n");
}

TEST_F(CredentialsTest, AsksOnceForSeveralCalls) {
  auto credentials = printing(credential(R"({"token":"t"})"));
  std::optional<Credentials::Got> one;
  std::optional<Credentials::Got> two;
  start(*credentials, one);
  start(*credentials, two);
  turn_until([&] { return one.has_value() && two.has_value(); });
  EXPECT_EQ(one->presented, two->presented);
  EXPECT_EQ(file("runs"), "run\n");
}

TEST_F(CredentialsTest, NamesWhatIsWrongAndQuotesNothing) {
  const std::pair<std::string, std::string> cases[] = {
      {"echo s3cret; exit 3", "ended with status 3"},
      {"kill -9 $$", "was ended by signal 9"},
      {"echo s3cret", "its output is no ExecCredential of client.authentication.k8s.io/v1"},
      {"echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\"}'",
       "its output is no"},
      {"echo '" + credential("{}") + "'", "neither token nor certificate"},
      {"echo '" + credential(R"({"token":"s3 cret"})") + "'", "a character that no token has"},
      {"echo '" + credential(R"({"clientCertificateData":"s3cret"})") + "'", "a certificate without its key"},
      {"echo '" + credential(R"({"token":"s3cret","expirationTimestamp":"soon"})") + "'", "is no time"},
      {"head -c 2000000 /dev/zero", "writes more than any credential is"},
  };
  for (const auto& [body, error] : cases) {
    auto credentials = running(body);
    const Credentials::Got got = present(*credentials);
    EXPECT_EQ(got.presented, nullptr) << body;
    EXPECT_THAT(got.error, testing::HasSubstr(error)) << body;
    EXPECT_THAT(got.error, testing::Not(testing::HasSubstr("s3cret"))) << body;
  }
}

TEST_F(CredentialsTest, SaysHowToGetAProgramThatIsMissing) {
  config_.identity.exec = kube::ExecPlugin{.api_version = kVersion,
                                           .command = directory_ + "/none",
                                           .arguments = {},
                                           .environment = {},
                                           .install_hint = "get it from a shop"};
  auto credentials = Credentials::make(loop_, config_, false);
  EXPECT_THAT(present(**credentials).error, testing::EndsWith("No such file or directory; get it from a shop"));
}

TEST_F(CredentialsTest, RefusesAProgramThatMustAsk) {
  auto credentials = printing(credential(R"({"token":"t"})"));
  config_.identity.exec->needs_terminal = true;
  auto made = Credentials::make(loop_, config_, false);
  EXPECT_THAT(present(**made).error, testing::HasSubstr("wants to ask somebody"));
  EXPECT_EQ(file("runs"), "");
}

/// With all that it has started: nothing of it is left when the call is given up.
TEST_F(CredentialsTest, KillsAProgramWhoseCallIsGivenUp) {
  auto credentials = running("sleep 1000 & echo $! > " + directory_ + "/child; echo $$ > " + directory_ +
                             "/self; touch " + directory_ + "/started; wait");
  std::optional<Credentials::Got> got;
  start(*credentials, got);
  turn_until([&] { return std::filesystem::exists(directory_ + "/started"); });
  waiter_->cancel();
  ASSERT_TRUE(got.has_value());
  EXPECT_TRUE(got->cancelled);
  for (const char* name : {"self", "child"}) {
    const int pid = std::stoi(file(name));
    // Whoever takes in orphans may need a moment.
    turn_until([&] {
      std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
      const std::string line{std::istreambuf_iterator<char>(status), {}};
      return line.empty() || line.find(") Z ") != std::string::npos;
    });
  }
}

TEST_F(CredentialsTest, KillsAProgramThatTakesTooLong) {
  kube::ExecPlugin plugin;
  plugin.api_version = kVersion;
  plugin.command = script("sleep 1000");
  std::optional<kube::ExecOutcome> outcome;
  const auto run = [&]() -> net::Detached {
    net::Waiter waiter(loop_);
    kube::ExecOutcome got =
        co_await kube::run_plugin(loop_, waiter, plugin, "{}", false, loop_.now() + std::chrono::milliseconds(50));
    outcome.emplace(std::move(got));
  };
  run();
  turn_until([&] { return outcome.has_value(); });
  EXPECT_THAT(outcome->error, testing::HasSubstr("gave no credentials in time, and was killed"));
}

TEST_F(CredentialsTest, PresentsWhatTheConfigurationSays) {
  config_.identity.username = "u";
  config_.identity.password = "p";
  config_.identity.impersonate = "boss";
  config_.identity.impersonate_groups = {"a", "b"};
  auto credentials = Credentials::make(loop_, config_, false);
  EXPECT_EQ(present(**credentials).presented->fields,
            "Authorization: Basic dTpw\r\nImpersonate-User: boss\r\nImpersonate-Group: a\r\nImpersonate-Group: b\r\n");
  config_.identity.impersonate = "boss\r\nX: y";
  EXPECT_FALSE(Credentials::make(loop_, config_, false).ok());
}

/// A file that is missing for a moment takes nothing away.
TEST_F(CredentialsTest, KeepsTheLastTokenWhileItsFileIsReplaced) {
  const std::string path = directory_ + "/token";
  config_.identity.token_file = path;
  auto credentials = Credentials::make(loop_, config_, false);
  EXPECT_THAT(present(**credentials).error, testing::HasSubstr(path));
  std::ofstream(path) << "first\n";
  const auto first = present(**credentials).presented;
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->fields, "Authorization: Bearer first\r\n");
  std::filesystem::remove(path);
  EXPECT_TRUE((*credentials)->refused(*first));
  const auto second = present(**credentials).presented;
  EXPECT_EQ(second->fields, first->fields);
  std::ofstream(path) << "second\n";
  EXPECT_TRUE((*credentials)->refused(*second));
  EXPECT_EQ(present(**credentials).presented->fields, "Authorization: Bearer second\r\n");
}

}  // namespace
}  // namespace edge::test
