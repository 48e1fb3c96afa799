#include "controller/kube/config.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::kube {
namespace {

class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "kubeconfig.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    sources_.environment = [this](const char* name) -> std::optional<std::string> {
      const auto position = environment_.find(name);
      return position == environment_.end() ? std::nullopt : std::optional(position->second);
    };
    sources_.service_account = directory_ + "/pod";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& text) {
    std::string path = directory_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  Result<Config> resolve() { return Config::resolve(sources_); }
  /// The error of one file; empty: there was none.
  std::string error_of(const std::string& text) {
    sources_.kubeconfig = write("one", text);
    const Result<Config> config = resolve();
    return config.ok() ? "" : config.error().text;
  }

  std::string directory_;
  std::map<std::string, std::string> environment_;
  ConfigSources sources_;
};

constexpr char kPlain[] = R"(
apiVersion: v1
kind: Config
current-context: here
clusters:
- name: c
  cluster: {server: "https://api.example:6443/"}
users:
- name: u
  user: {token: abc}
contexts:
- name: here
  context: {cluster: c, user: u, namespace: shop}
- name: there
  context: {cluster: c}
)";

TEST_F(ConfigTest, FollowsTheCurrentContext) {
  sources_.kubeconfig = write("config", kPlain);
  const Result<Config> config = resolve();
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->context, "here");
  EXPECT_EQ(config->name_space, "shop");
  EXPECT_EQ(config->cluster.server.origin(), "https://api.example:6443");
  EXPECT_EQ(config->cluster.server.target, "");
  EXPECT_EQ(config->identity.token, "abc");
  EXPECT_TRUE(config->warnings.empty());
}

TEST_F(ConfigTest, TakesWhatIsAskedForBeforeIt) {
  sources_.kubeconfig = write("config", kPlain);
  sources_.context = "there";
  sources_.name_space = "other";
  const Result<Config> config = resolve();
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->name_space, "other");
  EXPECT_EQ(config->identity.token, "");
  sources_.user = "u";
  EXPECT_EQ(resolve()->identity.token, "abc");
  sources_.context = "nowhere";
  EXPECT_EQ(resolve().error().text, "the context nowhere is not known; there are: here, there");
}

/// Of two entries of one name the first counts whole, and so does the first current-context.
TEST_F(ConfigTest, MergesFilesAsKubectlDoes) {
  environment_["KUBECONFIG"] = write("a/one", R"(
current-context: x
users: [{name: u, user: {token: first}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
)") + ":" + directory_ +
                               "/missing::" + write("b/two", R"(
current-context: y
users: [{name: u, user: {username: second, password: p}}]
contexts: [{name: y, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://two", certificate-authority: ca.pem}}]
)");
  write("b/ca.pem", "PEM");
  const Result<Config> config = resolve();
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->context, "x");
  EXPECT_EQ(config->identity.token, "first");
  EXPECT_EQ(config->identity.username, "");
  // Beside the file that names it.
  EXPECT_EQ(config->cluster.authorities, "PEM");
  EXPECT_THAT(config->files, testing::ElementsAre(directory_ + "/a/one", directory_ + "/b/two"));
}

TEST_F(ConfigTest, TakesTheListAlsoByTheFlag) {
  environment_["KUBECONFIG"] = directory_ + "/missing:" + write("config", kPlain);
  sources_.kubeconfig = environment_["KUBECONFIG"];
  ASSERT_TRUE(resolve().ok());
  EXPECT_EQ(resolve()->context, "here");
}

TEST_F(ConfigTest, LooksInTheHomeDirectory) {
  environment_["HOME"] = directory_;
  write(".kube/config", kPlain);
  ASSERT_TRUE(resolve().ok());
  EXPECT_EQ(resolve()->context, "here");
}

TEST_F(ConfigTest, KnowsThatItIsInAPod) {
  environment_["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  environment_["KUBERNETES_SERVICE_PORT"] = "443";
  write("pod/ca.crt", "PEM");
  write("pod/namespace", "edge-system\n");
  const Result<Config> config = resolve();
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->cluster.server.origin(), "https://[fd00::1]");
  EXPECT_EQ(config->name_space, "edge-system");
  EXPECT_EQ(config->identity.token_file, directory_ + "/pod/token");
  EXPECT_EQ(config->cluster.authorities, "PEM");
}

TEST_F(ConfigTest, SaysWhatToDoWhereThereIsNothing) {
  const Result<Config> config = resolve();
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(config.error().text, testing::HasSubstr("--kubeconfig"));
  environment_["KUBECONFIG"] = directory_ + "/nowhere";
  EXPECT_EQ(resolve().error().text, "no kubeconfig: KUBECONFIG names " + directory_ + "/nowhere, which is not there");
  sources_.kubeconfig = directory_ + "/missing";
  EXPECT_EQ(resolve().error().code, ErrorCode::kNotFound);
}

TEST_F(ConfigTest, ReadsCertificatesAsTheyStand) {
  sources_.kubeconfig = write("config", R"(
current-context: x
clusters: [{name: c, cluster: {server: "https://a", certificate-authority-data: Q0E=, tls-server-name: b}}]
users: [{name: u, user: {client-certificate-data: Q0VSVA==, client-key: key.pem, client-certificate: unused}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
)");
  const Result<Config> config = resolve();
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->cluster.authorities, "CA");
  EXPECT_EQ(config->cluster.server_name, "b");
  EXPECT_EQ(config->identity.certificate, "CERT");
  EXPECT_EQ(config->identity.certificate_file, "");
  EXPECT_EQ(config->identity.key_file, directory_ + "/key.pem");
}

TEST_F(ConfigTest, ReadsPlugins) {
  sources_.kubeconfig = write("config", R"(
current-context: x
clusters: [{name: c, cluster: {server: "https://a", insecure-skip-tls-verify: true}}]
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: bin/login
      args: [--a, "1 2"]
      env: [{name: X, value: y}]
      provideClusterInfo: true
      interactiveMode: Always
      installHint: get it
contexts: [{name: x, context: {cluster: c, user: u}}]
)");
  const Result<Config> config = resolve();
  ASSERT_TRUE(config.ok()) << config.error().text;
  ASSERT_TRUE(config->identity.exec.has_value());
  const ExecPlugin& plugin = *config->identity.exec;
  EXPECT_EQ(plugin.command, directory_ + "/bin/login");
  EXPECT_THAT(plugin.arguments, testing::ElementsAre("--a", "1 2"));
  EXPECT_THAT(plugin.environment, testing::ElementsAre(testing::Pair("X", "y")));
  EXPECT_TRUE(plugin.provide_cluster_info);
  EXPECT_TRUE(plugin.needs_terminal);
  ASSERT_EQ(config->warnings.size(), 1u);
  EXPECT_THAT(config->warnings[0], testing::HasSubstr("nobody checks who answers"));
}

std::string with_cluster(const std::string& cluster, const std::string& user = "{}") {
  return "current-context: x\nclusters: [{name: c, cluster: " + cluster + "}]\nusers: [{name: u, user: " + user +
         "}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n";
}

TEST_F(ConfigTest, NamesWhatIsWrong) {
  const std::string sound = R"({server: "https://a"})";
  const std::string file = directory_ + "/one";
  EXPECT_EQ(error_of(with_cluster(sound)), "");
  EXPECT_EQ(error_of(with_cluster("{}")), file + ": cluster c names no server");
  EXPECT_EQ(error_of(with_cluster("{server: ftp://a}")),
            file + ": cluster c.server: the URL is not one of http or https");
  EXPECT_THAT(error_of(with_cluster(R"({server: "https://a", proxy-url: "http://p"})")),
              testing::HasSubstr("proxy-url: calls through a proxy are not supported"));
  EXPECT_EQ(error_of(with_cluster(R"({server: "https://a", certificate-authority-data: "&&"})")),
            file + ": cluster c.certificate-authority-data is not base64");
  EXPECT_THAT(error_of(with_cluster(sound, "{client-key: k}")), testing::HasSubstr("together or not at all"));
  EXPECT_THAT(error_of(with_cluster(sound, "{auth-provider: {name: gcp}}")), testing::HasSubstr("use exec"));
  EXPECT_THAT(error_of(with_cluster(sound, "{exec: {apiVersion: v1, command: a}}")),
              testing::HasSubstr("exec.apiVersion must be"));
  EXPECT_EQ(error_of("clusters: 7"), file + ":1: `clusters` must be a list");
  EXPECT_EQ(error_of("\n- a"), file + ":2: is no kubeconfig");
  EXPECT_THAT(error_of(""), testing::HasSubstr("no current-context"));
  EXPECT_THAT(error_of("{a: b}\n---\n{c: d}"), testing::HasSubstr("more than one document"));
}

TEST_F(ConfigTest, NeverQuotesASecret) {
  const std::string sound = R"({server: "https://a"})";
  for (const std::string& text :
       {with_cluster(sound, "{token: \"s3cret s3cret\"}"), std::string("users: [{name: u, user: {token: s3cret: [}}]"),
        with_cluster(sound, "{token: {s3cret: 1}}"), with_cluster(sound, "{client-key-data: \"s3cret&\"}"),
        with_cluster(R"({server: "https://s3cret:s3cret@a"})"), std::string("s3cret\t\x01")}) {
    const std::string error = error_of(text);
    EXPECT_NE(error, "") << text;
    EXPECT_THAT(error, testing::Not(testing::HasSubstr("s3cret"))) << text;
  }
}

}  // namespace
}  // namespace edge::kube
