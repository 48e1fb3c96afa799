// Values of secrets, passwords and tokens are looked for wherever a proxy and its tools say anything: nowhere may one
// be.
#include <algorithm>
#include <chrono>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "base/text/base64.h"
#include "tests/cli/proxy_process.h"

namespace edge::test {
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
const std::string kSetCookie = "cookie-of-the-backend";

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

/// All that a standalone tells of what it did, at its most talkative.
class TellingStandalone : public Secrets {
 protected:
  void SetUp() override {
    std::string config = base_config(backend_.port);
    const std::string spec = "spec: {listeners";
    config.replace(config.find(spec), spec.size(),
                   "spec: {tracing: {enabled: true}, accessLog: {enabled: true}, listeners");
    dir_.put(
        "config/all.yaml",
        config + "---\n" + route_config("open", "/open") +
            "    filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: Set-Cookie, value: "
            "sid=" +
            kSetCookie + "}]}}]\n---\n" + route_config("password", "/password") + "---\n" +
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
    proxy_ = std::make_unique<ProxyProcess>(std::vector<std::string>{"edge-standalone", "--config", dir_ / "config",
                                                                     "--data-dir", dir_ / "data", "--access-log",
                                                                     dir_ / "access.log", "--log-level", "debug"});
    ASSERT_NE(proxy_->wait_ready(), "") << proxy_->process.err_text();
  }

  /// A value in every place where one is sent, and in places where none should be.
  void send_everything() {
    const std::vector<std::vector<std::string>> asks = {
        {"/open", "-u", "alice:" + kPassword},
        {"/open", "-H", "Authorization: Bearer " + kToken},
        {"/open", "-H", "Proxy-Authorization: Basic " + to_base64("alice:" + kPassword)},
        {"/open", "-H", "Cookie: session=" + kToken + "; theme=dark", "-H", "X-Api-Key: " + kPassword},
        {"/open?access_token=" + kToken + "&code=" + kCode + "&id_token=" + kToken + "&refresh_token=" + kCode},
        {"/open?password=" + kPassword + "&client_secret=" + kClientSecret + "&X-Amz-Signature=" + kCode},
        {"/open?a=1&%61ccess_token=" + kToken + "&API-KEY=" + kPassword},
        {"/open", "-e", "https://alice:" + kPassword + "@r.example/?state=" + kCode + "&token=" + kToken},
        {"/open", "--request-target", "http://alice:" + kPassword + "@shop.example/open?code=" + kCode},
        {"/open?code=" + kCode, "-H", "Authorization: Bearer " + kToken, "-H", "Bad Name: " + kPassword},
        {"/open", "--data", "password=" + kPassword},
        {"/nowhere?token=" + kToken, "-b", "session=" + kToken},
        {"/password", "-u", "alice:" + kPassword},
        {"/token", "-H", "Authorization: Bearer " + kToken},
        {"/login", "-b", "edge_session=" + kToken},
        {"/oauth2/callback?code=" + kCode + "&state=" + kToken},
    };
    for (const auto& ask : asks) {
      // What the backend echoes is its client's own.
      const std::string answer = curl(proxy_->port, ask[0], {ask.begin() + 1, ask.end()});
      EXPECT_THAT(answer, testing::Not(StartsWith("000"))) << ask[0];
    }
    requests_ = asks.size();
  }

  Finished edgectl(const std::string& words) const {
    return run_command(
        {"/bin/sh", "-c",
         "export KUBECONFIG='" + dir_ / "data/kubeconfig' HOME='" + dir_.path().string() + "'; exec edgectl " + words},
        {}, dir_.path());
  }
  std::string traces_flag() const {
    return " --trace-endpoint http://127.0.0.1:" + std::to_string(proxy_->traces_port);
  }

  /// `what`, which `wanted` must be in before the clock is up: much is told behind the request's back.
  void take(const std::string& what, const std::function<std::string()>& ask, const std::string& wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    std::string text = ask();
    while (text.find(wanted) == std::string::npos && std::chrono::steady_clock::now() < end) text = ask();
    EXPECT_THAT(text, HasSubstr(wanted)) << what;
    outputs_.emplace_back(what, std::move(text));
  }

  void expect_no_secret() const {
    const std::vector<std::string> values = {kHash,  kClientSecret, kSessionSecret, kPassword,
                                             kToken, kCode,         kSetCookie};
    for (const auto& [what, text] : outputs_) {
      for (const std::string& value : values) {
        // What a spec has literally is in the program, and in its dump for whoever is on the machine.
        if (value == kSetCookie && what == "/debug/program") continue;
        EXPECT_EQ(text.find(value), std::string::npos) << value << " in " << what;
        EXPECT_EQ(text.find(to_base64(value)), std::string::npos) << value << ", in base64, in " << what;
      }
      EXPECT_EQ(text.find(to_base64("alice:" + kPassword)), std::string::npos) << what;
    }
  }

  std::unique_ptr<ProxyProcess> proxy_;
  std::size_t requests_ = 0;
  std::vector<std::pair<std::string, std::string>> outputs_;
};

TEST_F(TellingStandalone, TellsNoSecretAnywhere) {
  send_everything();
  take("the access log", [&] { return dir_.get("access.log"); }, "/oauth2/callback");
  EXPECT_EQ(std::ranges::count(dir_.get("access.log"), '\n'), static_cast<std::ptrdiff_t>(requests_));
  for (const char* form : {"text", "json"}) {
    take("logs-access", [&] { return edgectl("logs-access -o " + std::string(form)).out; }, "/oauth2/callback");
  }
  const auto trace = [&](const std::string& words) { return edgectl("trace " + words + traces_flag()).out; };
  take("traces", [&] { return trace("search --tag http.status_code=404 -o json"); }, "traceID");
  take("traces", [&] { return trace("list --limit 100 -o json"); }, "GET login");
  const std::string list = outputs_.back().second;
  const std::string key = "\"traceID\": \"";
  for (std::size_t at = 0; (at = list.find(key, at)) != std::string::npos; at += key.size()) {
    const std::string id = list.substr(at + key.size(), 32);
    take("trace " + id, [&] { return trace("get " + id + " -o json"); }, "http.method");
  }
  // The store itself: SQLite keeps text as it is.
  take(
      "the trace store", [&] { return run_command({"/bin/sh", "-c", "cat '" + dir_ / "data'/*traces*"}).out; },
      "http.method");
  for (const char* words :
       {"logs agent", "logs controller", "status -o json", "top --once --interval 100ms", "cache stats -o json"}) {
    const Finished finished = edgectl(words);
    EXPECT_EQ(finished.code, 0) << words << ": " << finished.err;
    outputs_.emplace_back(words, finished.out + finished.err);
  }
  ASSERT_EQ(edgectl("debug bundle -o bundle.tar.gz").code, 0);
  take("the bundle", [&] { return run_command({"tar", "-xzOf", dir_ / "bundle.tar.gz"}).out; }, "<redacted>");
  take("/metrics", [&] { return curl(proxy_->metrics_port, "/metrics"); }, "edge_requests_total{");
  for (const char* path : {"/debug/program", "/debug/endpoints", "/debug/cache", "/debug/stats",
                           "/debug/logs?level=debug", "/debug/access-log"}) {
    take(path, [&] { return curl(proxy_->health_port, path); }, "200 ");
  }
  proxy_->process.send_signal(SIGTERM);
  proxy_->process.wait_exit();
  outputs_.emplace_back("stderr", proxy_->process.err_text());
  expect_no_secret();
}

}  // namespace
}  // namespace edge::test
