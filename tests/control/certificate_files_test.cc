// Certificates of listeners in files: renewals as certbot and others make them, files at fault, and files that may not
// be read.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "tests/control/world.h"

namespace edge::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CertificateFiles : public Parts {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(dir_ / "tls");
    make("one");
    make("two");
    dir_.put("config/base.yaml", base_config(backend_.port));
    dir_.put("config/routes.yaml", route_config("all", "/all"));
  }
  /// `NAME.crt`, signed by itself, and `NAME.key` in `tls`.
  void make(const std::string& name, const std::string& days = "30") {
    const Finished made =
        run_command({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                     "-days", days, "-keyout", dir_ / ("tls/" + name + ".key"), "-out", dir_ / ("tls/" + name + ".crt"),
                     "-subj", "/CN=" + name, "-addext", "subjectAltName=DNS:shop.example,DNS:other.example"});
    ASSERT_EQ(made.code, 0) << made.err;
  }
  void copy(const std::string& from, const std::string& to) { dir_.put("tls/" + to, dir_.get("tls/" + from)); }
  /// Writes over what is there, as a shell does.
  void rewrite(const std::string& from, const std::string& to) {
    ASSERT_EQ(run_command({"cp", dir_ / ("tls/" + from), dir_ / ("tls/" + to)}).code, 0);
  }
  std::string listener(const std::string& name, int port, const std::string& certificate, const std::string& key,
                       const std::string& more = {}) const {
    return "    - {name: " + name + ", port: " + std::to_string(port) + ", protocol: HTTPS" + more +
           ", tls: {certFile: " + certificate + ", keyFile: " + key + "}}\n";
  }
  void put_gateway(const std::string& listeners) {
    const std::string base = base_config(backend_.port);
    dir_.put("config/base.yaml",
             "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: gw}\nspec:\n  listeners:\n"
             "    - {name: http, port: 8080, protocol: HTTP}\n" +
                 listeners + base.substr(base.find("---\n")));
  }
  void start() {
    proxy_ = standalone({"--config", dir_ / "config", "--tls-files", dir_ / "tls"});
    ASSERT_NE(proxy_->wait_ready(), "") << proxy_->process.err_text();
    const auto line = proxy_->process.wait_err("listener https on ");
    ASSERT_TRUE(line) << proxy_->process.err_text();
    port_ = line->substr(line->rfind(':') + 1);
  }
  /// The status over TLS, or curl's error; `trusted`: the certificate that must be shown, empty: any.
  std::string get(const std::string& trusted, const std::string& host = "shop.example") const {
    std::vector<std::string> command = {
        "curl",      "-s", "-m",           "20",        "-o",
        "/dev/null", "-w", "%{http_code}", "--resolve", host + ":" + port_ + ":127.0.0.1"};
    if (trusted.empty()) {
      command.emplace_back("-k");
    } else {
      command.insert(command.end(), {"--cacert", dir_ / ("tls/" + trusted + ".crt")});
    }
    command.push_back("https://" + host + ":" + port_ + "/all");
    const Finished finished = run_command(command);
    return finished.code == 0 ? finished.out : "error " + std::to_string(finished.code);
  }
  /// Until `trusted` is shown. No handshake before it fails.
  bool becomes(const std::string& trusted) const {
    return eventually([&] {
      EXPECT_EQ(get({}), "200");
      return get(trusted) == "200";
    });
  }
  std::string log() const { return proxy_->process.err_text(); }
  /// Whether the log has it, as far as it was read or in lines to come.
  bool said(const std::string& text) {
    return log().find(text) != std::string::npos || proxy_->process.wait_err(text).has_value();
  }

  std::unique_ptr<ProxyProcess> proxy_;
  std::string port_;
};

TEST_F(CertificateFiles, ALinkThatIsSwappedIsTakenLive) {
  namespace fs = std::filesystem;
  for (const char* const name : {"one", "two"}) {
    fs::create_directories(dir_ / ("tls/archive-" + std::string(name)));
    copy(std::string(name) + ".crt", "archive-" + std::string(name) + "/full.pem");
    copy(std::string(name) + ".key", "archive-" + std::string(name) + "/key.pem");
  }
  fs::create_symlink("archive-one", dir_ / "tls/live");
  put_gateway(listener("https", 8443, dir_ / "tls/live/full.pem", dir_ / "tls/live/key.pem"));
  start();
  EXPECT_EQ(get("one"), "200") << log();
  // Written beside the traffic, by a thread of its own.
  ASSERT_TRUE(eventually([&] { return fs::exists(dir_ / "data/program.edgeprog"); }));
  const std::string program = dir_.get("data/program.edgeprog");
  fs::create_symlink("archive-two", dir_ / "tls/next");
  fs::rename(dir_ / "tls/next", dir_ / "tls/live");
  EXPECT_TRUE(becomes("two")) << log();
  EXPECT_TRUE(said("live/full.pem was replaced")) << log();
  // Keys travel beside programs and are in no line.
  EXPECT_EQ(dir_.get("data/program.edgeprog"), program);
  const std::string key = dir_.get("tls/one.key");
  const std::string secret = key.substr(key.find('\n') + 1, 40);
  EXPECT_THAT(program, Not(HasSubstr(secret)));
  EXPECT_THAT(log(), Not(HasSubstr(secret)));
}

TEST_F(CertificateFiles, APairWhoseHalvesDoNotMatchLeavesTheLastOne) {
  copy("one.crt", "site.crt");
  copy("one.key", "site.key");
  put_gateway(listener("https", 8443, dir_ / "tls/site.crt", dir_ / "tls/site.key"));
  start();
  EXPECT_EQ(get("one"), "200") << log();
  rewrite("two.crt", "site.crt");
  EXPECT_TRUE(said("the certificate that was read before stays in use")) << log();
  EXPECT_EQ(get("one"), "200") << log();
  rewrite("two.key", "site.key");
  EXPECT_TRUE(becomes("two")) << log();
  EXPECT_TRUE(said("site.crt can be used again")) << log();
}

TEST_F(CertificateFiles, APairAtFaultAtAStartClosesItsHostAlone) {
  copy("one.crt", "site.crt");
  copy("one.key", "site.key");
  put_gateway(listener("https", 8443, dir_ / "tls/site.crt", dir_ / "tls/site.key", ", hostnames: [shop.example]") +
              listener("other", 8443, dir_ / "tls/two.crt", dir_ / "tls/two.key", ", hostnames: [other.example]"));
  start();
  EXPECT_EQ(get("one"), "200") << log();
  proxy_->process.send_signal(SIGTERM);
  EXPECT_EQ(proxy_->process.wait_exit(), 0) << log();
  dir_.put("tls/site.key", "-----BEGIN PRIVATE KEY-----\nMIG");
  start();
  // What an agent kept of the run before serves until the controller has looked.
  EXPECT_TRUE(eventually([&] { return get({}) == "error 35"; })) << get({}) << log();
  EXPECT_EQ(get("two", "other.example"), "200") << log();
  EXPECT_TRUE(said(dir_ / "tls/site.crt with the key of " + (dir_ / "tls/site.key cannot be used"))) << log();
  Api api(dir_ / "data/kubeconfig");
  ASSERT_TRUE(api.says("ProxyGateway", "gw", "Ready", "False")) << api.get("ProxyGateway", "gw").dump();
  const Json ready = api.condition("ProxyGateway", "gw", "Ready");
  EXPECT_EQ(ready["reason"], "InvalidCertificateRef");
  EXPECT_THAT(ready["message"].get<std::string>(),
              AllOf(HasSubstr("listener https: "), HasSubstr("file " + (dir_ / "tls/site.crt"))));
  copy("one.key", "site.key");
  EXPECT_TRUE(eventually([&] { return get("one") == "200"; })) << log();
  EXPECT_TRUE(api.says("ProxyGateway", "gw", "Ready", "True")) << api.get("ProxyGateway", "gw").dump();
}

TEST_F(CertificateFiles, WhatLeadsOutOfTheDirectoriesIsNotRead) {
  namespace fs = std::filesystem;
  fs::create_directories(dir_ / "elsewhere");
  fs::rename(dir_ / "tls/two.key", dir_ / "elsewhere/two.key");
  fs::create_symlink(dir_ / "elsewhere/two.key", dir_ / "tls/two.key");
  put_gateway(listener("https", 8443, dir_ / "tls/one.crt", dir_ / "tls/one.key", ", hostnames: [shop.example]") +
              listener("other", 8443, dir_ / "tls/two.crt", dir_ / "tls/two.key", ", hostnames: [other.example]"));
  start();
  EXPECT_EQ(get("one"), "200") << log();
  EXPECT_EQ(get({}, "other.example"), "error 35") << log();
  EXPECT_TRUE(said("below no directory of --tls-files")) << log();

  const auto said_of = [&](const std::string& key) {
    put_gateway(listener("https", 8443, dir_ / "tls/one.crt", key));
    const Finished checked =
        run_command({"edge-standalone", "--check", "--config", dir_ / "config", "--tls-files", dir_ / "tls"});
    EXPECT_EQ(checked.code, 1) << checked.err;
    return checked.err;
  };
  EXPECT_THAT(said_of(dir_ / "elsewhere/two.key"), HasSubstr("is below no directory that `--tls-files` names"));
  EXPECT_THAT(said_of(dir_ / "tls/../elsewhere/two.key"), HasSubstr("error[EDGE0104]"));
  EXPECT_EQ(get("one"), "200") << log();
}

TEST_F(CertificateFiles, AreReadFromNowhereWithoutTheFlag) {
  put_gateway(listener("https", 8443, dir_ / "tls/one.crt", dir_ / "tls/one.key"));
  const Finished checked = run_command({"edge-standalone", "--check", "--config", dir_ / "config"});
  EXPECT_EQ(checked.code, 1);
  EXPECT_THAT(checked.err, HasSubstr("no files of certificates are read: `--tls-files` names no directory"));
}

TEST_F(CertificateFiles, OneThatIsNearItsEndIsTold) {
  make("short", "3");
  put_gateway(listener("https", 8443, dir_ / "tls/short.crt", dir_ / "tls/short.key"));
  start();
  EXPECT_TRUE(said("certificate of file " + (dir_ / "tls/short.crt expires in 2 days"))) << log();
  const auto said =
      run_command({"curl", "-s", "http://127.0.0.1:" + std::to_string(proxy_->metrics_port) + "/metrics"});
  EXPECT_THAT(said.out, HasSubstr("edge_certificate_expiry_timestamp_seconds{secret=\"" + (dir_ / "tls/short.crt\"}")));
}

TEST_F(CertificateFiles, AreReadByAnAgentWithoutAController) {
  put_gateway(listener("https", 8443, dir_ / "tls/site.crt", dir_ / "tls/site.key"));
  copy("one.crt", "site.crt");
  copy("one.key", "site.key");
  const Finished compiled = run_command({"edgectl", "compile", "-f", dir_ / "config", "-o", dir_ / "site.edgeprog",
                                         "--endpoints-out", dir_ / "endpoints.json"});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  proxy_ = std::make_unique<ProxyProcess>(std::vector<std::string>{"edge-agent", "--program", dir_ / "site.edgeprog",
                                                                   "--endpoints", dir_ / "endpoints.json",
                                                                   "--tls-files", dir_ / "tls", "--allow-unsigned"});
  ASSERT_NE(proxy_->wait_ready(), "") << log();
  const auto line = proxy_->process.wait_err("listener https on ");
  ASSERT_TRUE(line) << log();
  port_ = line->substr(line->rfind(':') + 1);
  EXPECT_EQ(get("one"), "200") << log();
  rewrite("two.crt", "site.crt");
  EXPECT_TRUE(said("stays in use")) << log();
  EXPECT_EQ(get("one"), "200") << log();
  rewrite("two.key", "site.key");
  EXPECT_TRUE(becomes("two")) << log();
}

TEST_F(CertificateFiles, AreWrittenBesideSecretsForAnAgentThatHasThemNot) {
  put_gateway(listener("https", 8443, dir_ / "tls/one.crt", dir_ / "tls/one.key"));
  const auto compile = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"edgectl",
                                      "compile",
                                      "-f",
                                      dir_ / "config",
                                      "-o",
                                      dir_ / "site.edgeprog",
                                      "--endpoints-out",
                                      dir_ / "endpoints.json",
                                      "--secrets-out",
                                      dir_ / "secrets.json"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  };
  const Finished without = compile({});
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_THAT(without.err, HasSubstr("certificates in files are not written without --tls-files"));
  EXPECT_THAT(dir_.get("secrets.json"), Not(HasSubstr("tls.key")));
  std::filesystem::create_directories(dir_ / "elsewhere");
  EXPECT_EQ(compile({"--tls-files", dir_ / "elsewhere"}).code, 1);
  EXPECT_EQ(compile({"--tls-files", dir_ / "nowhere"}).code, 1);
  const Finished compiled = compile({"--tls-files", dir_ / "tls"});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  std::filesystem::remove_all(dir_ / "tls/one.key");
  proxy_ = std::make_unique<ProxyProcess>(std::vector<std::string>{"edge-agent", "--program", dir_ / "site.edgeprog",
                                                                   "--endpoints", dir_ / "endpoints.json", "--secrets",
                                                                   dir_ / "secrets.json", "--allow-unsigned"});
  ASSERT_NE(proxy_->wait_ready(), "") << log();
  const auto line = proxy_->process.wait_err("listener https on ");
  ASSERT_TRUE(line) << log();
  port_ = line->substr(line->rfind(':') + 1);
  EXPECT_EQ(get("one"), "200") << log();
}

/// The machine of the controller has the files; its agents are given what is in them.
TEST_F(CertificateFiles, AreReadByAController) {
  copy("one.crt", "site.crt");
  copy("one.key", "site.key");
  auto server = serve_api();
  auto control = controller("controller", {"--tls-files", dir_ / "tls"});
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(route("all", "/all"));
  api.apply(own("ProxyGateway", "gw",
                {{"listeners",
                  {{{"name", "http"}, {"port", 8080}, {"protocol", "HTTP"}},
                   {{"name", "https"},
                    {"port", 8443},
                    {"protocol", "HTTPS"},
                    {"tls", {{"certFile", dir_ / "tls/site.crt"}, {"keyFile", dir_ / "tls/site.key"}}}}}}}));
  proxy_ = agent();
  const auto line = proxy_->process.wait_err("listener https on ");
  ASSERT_TRUE(line) << log() << control->err_text();
  port_ = line->substr(line->rfind(':') + 1);
  EXPECT_TRUE(eventually([&] { return get("one") == "200"; })) << log() << control->err_text();
  rewrite("two.crt", "site.crt");
  rewrite("two.key", "site.key");
  EXPECT_TRUE(eventually([&] { return get("two") == "200"; })) << log() << control->err_text();
  EXPECT_TRUE(control->wait_err("site.crt was replaced")) << control->err_text();
}

}  // namespace
}  // namespace edge::test
