// Values of secrets, passwords and tokens are looked for wherever a proxy and its tools say anything: nowhere may one
// be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "tests/cli/proxy_process.h"

namespace edge::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kHash = "$2y$04$JKlZKIn5I/9kZaVeujhr7.u9mqXtY5JfTwVLU3aAtvm4/ZegTkDHe";
const std::string kClientSecret = "wonderland-client";
const std::string kSessionSecret = "0123456789abcdef0123456789abcdef";
const std::string kPassword = "guessed-by-mallory";
const std::string kToken = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJtYWxsb3J5In0.";
const std::string kCode = "code-of-mallory";

std::string policy(const std::string& name, const std::string& type, const std::string& settings) {
  return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: " + name +
         "}\nspec:\n  type: " + type + "\n  targetRef: {kind: ProxyRoute, name: " + name + "}\n  " + settings + "\n";
}

std::string secret(const std::string& name, const std::string& values) {
  return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\nstringData: {" + values + "}\n";
}

class Secrets : public testing::Test {
 protected:
  void SetUp() override {
    dir_.put("config.yaml",
             base_config(backend_.port) + "---\n" + route_config("password", "/password") + "---\n" +
                 route_config("token", "/token") + "---\n" + route_config("login", "/login") +
                 secret("users", "htpasswd: 'alice:" + kHash + "'") +
                 secret("client", "client-secret: " + kClientSecret + ", session-secret: " + kSessionSecret) +
                 policy("password", "BasicAuth", "basicAuth: {secretRef: {name: users}}") +
                 policy("token", "JWT",
                        "jwt: {issuer: 'https://id.example', jwksUri: 'http://127.0.0.1:1/keys', allowedAlgorithms: "
                        "[ES256]}") +
                 policy("login", "OIDC",
                        "oidc: {issuerURL: 'http://127.0.0.1:1', clientID: shop, clientSecretRef: {name: client}, "
                        "sessionSecretRef: {name: client}, redirectURL: /oauth2/callback}"));
    const Finished compiled =
        run_command({"edgectl", "compile", "-f", dir_ / "config.yaml", "-o", dir_ / "p.edgeprog", "--endpoints-out",
                     dir_ / "endpoints.json", "--secrets-out", dir_ / "secrets.json"});
    ASSERT_EQ(compiled.code, 0) << compiled.err;
    said_ += compiled.out + compiled.err;
  }

  TempDir dir_;
  Backend backend_{"one"};
  std::string said_;
};

TEST_F(Secrets, AreNowhereButInTheirFile) {
  ProxyProcess agent({"edge-agent", "--program", dir_ / "p.edgeprog", "--endpoints", dir_ / "endpoints.json",
                      "--secrets", dir_ / "secrets.json", "--allow-unsigned"});
  ASSERT_NE(agent.wait_ready(), "") << agent.process.err_text();
  // Who fails at each of them.
  said_ += curl(agent.port, "/password", {"-u", "alice:" + kPassword});
  EXPECT_THAT(said_, HasSubstr("401 "));
  const std::string token = curl(agent.port, "/token", {"-H", "Authorization: Bearer " + kToken});
  EXPECT_THAT(token, testing::AnyOf(StartsWith("401 "), StartsWith("503 ")));
  const std::string login = curl(agent.port, "/login", {"-H", "Cookie: edge_session=" + kToken});
  EXPECT_THAT(login, StartsWith("503 "));
  said_ += token + login + curl(agent.port, "/oauth2/callback?code=" + kCode + "&state=abc");
  ASSERT_TRUE(agent.process.wait_err("the provider's discovery document cannot be had"));

  said_ += curl(agent.metrics_port, "/metrics");
  EXPECT_THAT(said_, HasSubstr("edge_login_faults_total{reason=\"discovery\"} 1\n"));
  for (const char* path :
       {"/debug/program", "/debug/endpoints", "/debug/cache", "/debug/config", "/debug/stats", "/debug/logs"}) {
    const std::string answer = curl(agent.health_port, path);
    EXPECT_THAT(answer, StartsWith("200 ")) << path;
    said_ += answer;
  }
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"edgectl", "explain", "-f", dir_ / "config.yaml", "-H",
                                              "Authorization: Basic YTpi", "http://shop.example:8080/password"},
                                             {"edgectl", "routes", "dump", "-f", dir_ / "config.yaml"},
                                             {"edgectl", "validate", "-f", dir_ / "config.yaml"}}) {
    const Finished finished = run_command(command);
    EXPECT_NE(finished.code, 2) << command[1] << ": " << finished.err;
    said_ += finished.out + finished.err;
  }
  agent.process.send_signal(SIGTERM);
  agent.process.wait_exit();
  said_ += agent.process.err_text() + dir_.get("p.edgeprog") + dir_.get("endpoints.json");

  for (const std::string& value : {kHash, kClientSecret, kSessionSecret, kPassword, kToken, kCode}) {
    EXPECT_EQ(said_.find(value), std::string::npos) << value;
    EXPECT_EQ(said_.find(to_base64(value)), std::string::npos) << value << ", in base64";
  }
  EXPECT_EQ(said_.find(to_base64("alice:" + kPassword)), std::string::npos);
  // They were looked for in the right form.
  EXPECT_THAT(dir_.get("secrets.json"), HasSubstr(to_base64(kClientSecret)));
}

}  // namespace
}  // namespace edge::tests
